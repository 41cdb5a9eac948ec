import t from 'tap';
import { loadScenario, ScenarioHouse, scenarioNames } from './scenario-house.ts';

/**
 * The conversations of test/scenarios over the real wires, several at a time on one appliance. SCENARIO names those
 * that are to be played alone, by a part of their names.
 */
t.setTimeout(280_000);
const wanted = process.env.SCENARIO;
const names = scenarioNames().filter((name) => !wanted || name.includes(wanted));
const house = await ScenarioHouse.start(t);

// All are begun at once; the house lets in as many as it has slots for.
const played = names.flatMap((name) =>
  loadScenario(name).wires.map((wire) => ({ name, wire, call: house.play(name, wire) })),
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

t.test('RT-76 no word of a caller or a bot stands in the log', async (t) => {
  t.notMatch(house.log, /seven three nine|forty-two rupees/i);
});
