import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { startReceiver } from '../../harness/receiver.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

// A busy machine may need longer than the runner's usual limit for a file.
t.setTimeout(280_000);

/** Kill times per round in ms after the first call was answered; fixed, so that every run kills alike. */
const KILL_AFTER_MS = [5, 20, 45, 80, 120, 170];
/** A busy machine answers few calls in one round: there are more of them, and longer ones, until so many calls were answered. */
const ENOUGH = 30;
const MAX_ROUNDS = 40;
const killAfterMs = (round: number) =>
  (KILL_AFTER_MS[round % KILL_AFTER_MS.length] ?? 0) * (1 + Math.floor(round / KILL_AFTER_MS.length));
/** More calls than a round has time for. */
const ENDLESS = 100_000;

const entry = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './fixtures/push-process.ts' : './fixtures/push-process.js',
    import.meta.url,
  ),
);

t.test('R153 the push of every call that was answered survives SIGKILL', { timeout: 280_000 }, async (t) => {
  const folder = tempFolder();
  const receiver = await startReceiver((_request, response) => void setTimeout(() => response.end('{}'), 2));
  t.teardown(async () => {
    await receiver.close();
  });
  const answered = new Set<string>();
  let rounds = 0;
  for (; rounds < KILL_AFTER_MS.length || (answered.size <= ENOUGH && rounds < MAX_ROUNDS); rounds++) {
    const child = start(folder, receiver.port, rounds, ENDLESS, answered);
    await child.firstAnswer;
    await new Promise((resolve) => setTimeout(resolve, killAfterMs(rounds)));
    child.process.kill('SIGKILL');
    await child.gone;
  }
  const before = receiver.seen.length;
  const last = start(folder, receiver.port, rounds, 0, answered);
  await last.idle;
  last.process.kill('SIGKILL');
  await last.gone;

  const times = new Map<string, number>();
  const ids = new Map<string, Set<unknown>>();
  for (const { body, headers } of receiver.seen) {
    const { id } = JSON.parse(body) as { id: string };
    times.set(id, (times.get(id) ?? 0) + 1);
    ids.set(id, (ids.get(id) ?? new Set()).add(headers['webhook-id']));
  }
  const lost = [...answered].filter((session) => !times.has(session));
  const repeated = [...times.values()].filter((count) => count > 1).length;
  t.comment(
    `${rounds} kills, ${answered.size} calls answered, ${before} pushes before the last start, ` +
      `${receiver.seen.length - before} after it, ${repeated} repeated`,
  );
  t.ok(answered.size > ENOUGH, 'the rounds did real work');
  t.ok(receiver.seen.length > before, 'the last start had something to go on with');
  t.same(lost, [], 'no push is missing');
  t.ok(repeated <= rounds * 8, 'only what was under way at a kill is repeated');
  t.ok(
    [...ids.values()].every((set) => set.size === 1),
    'a repeat carries the id of the first',
  );
});

function start(folder: string, port: number, round: number, calls: number, answered: Set<string>) {
  const child: ChildProcess = spawn(
    process.execPath,
    [entry, folder, String(port), String(round), String(calls)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let answer: () => void = () => undefined;
  let rest: () => void = () => undefined;
  const firstAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const idle = new Promise<void>((resolve) => {
    rest = resolve;
  });
  if (child.stdout) {
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'idle') rest();
      else answered.add(line);
      answer();
    });
  }
  return { process: child, firstAnswer, idle, gone };
}
