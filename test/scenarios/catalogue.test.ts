import t from 'tap';
import { loadScenario, ScenarioHarness, scenarioNames } from '../harness/scenario-harness.ts';

/**
 * The conversations of test/scenarios over the real wires, several at a time on one appliance. SCENARIO names those
 * that are to be played alone, by a part of their names.
 */
t.setTimeout(280_000);
const wanted = process.env.SCENARIO;
const names = scenarioNames().filter((name) => !wanted || name.includes(wanted));
const harness = await ScenarioHarness.start(t);

// All are begun at once; the harness lets in as many as it has slots for.
const played = names.flatMap((name) =>
  loadScenario(name).wires.map((wire) => ({ name, wire, call: harness.play(name, wire) })),
);
for (const { call } of played) call.catch(() => undefined);

for (const { name, wire, call } of played) {
  await t.test(`RT-76 ${name} (${wire})`, async (t) => {
    const { scenario, checks, text } = await call;
    t.comment(scenario.title);
    for (const { what, ok, found } of checks) t.ok(ok === true, `${what} (${found})`.slice(0, 700));
    if (checks.some((check) => check.ok !== true)) t.comment(text);
  });
}

t.test('RT-76 after all calls no watcher spins in a slot', async (t) => {
  const share = await harness.idleCpuShare(3_000);
  t.ok(share < 0.6, `all idle slots together take ${(share * 100).toFixed(1)} % of a core`);
});

t.test('RT-76 the log is one JSON object a line, in any script, and holds no word of a caller', async (t) => {
  // What greets the person who started it is no JSON and begins otherwise.
  const lines = harness.log.split('\n').filter((line) => line.startsWith('{'));
  for (const line of lines) {
    if (!isJson(line)) t.fail(`this line is no JSON: ${line.slice(0, 200)}`);
  }
  t.comment(`${lines.length} lines were read`);
  t.notMatch(harness.log, /seven three nine|मेरा ऑर्डर|cancel this order/i);
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
