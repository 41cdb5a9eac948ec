import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { startReceiver } from './local-http.ts';

// A busy machine may need longer than the runner's usual limit for a file.
t.setTimeout(120_000);

/** Kill times per round in ms after the first call was answered; fixed, so that every run kills alike. */
const KILL_AFTER_MS = [5, 20, 45, 80, 120, 170];
/** More calls than a round has time for. */
const ENDLESS = 100_000;

const entry = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './fixtures/push-process.ts' : './fixtures/push-process.js',
    import.meta.url,
  ),
);

t.test('R153 the push of every call that was answered survives SIGKILL', { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-push-'));
  const receiver = await startReceiver((_request, response) => void setTimeout(() => response.end('{}'), 2));
  t.teardown(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const answered = new Set<string>();
  for (const [round, killAfterMs] of KILL_AFTER_MS.entries()) {
    const child = start(folder, receiver.port, round, ENDLESS, answered);
    await child.firstAnswer;
    await new Promise((resolve) => setTimeout(resolve, killAfterMs));
    child.process.kill('SIGKILL');
    await child.gone;
  }
  const before = receiver.seen.length;
  const last = start(folder, receiver.port, KILL_AFTER_MS.length, 0, answered);
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
    `${KILL_AFTER_MS.length} kills, ${answered.size} calls answered, ${before} pushes before the last start, ` +
      `${receiver.seen.length - before} after it, ${repeated} repeated`,
  );
  t.ok(answered.size > 30, 'the rounds did real work');
  t.ok(receiver.seen.length > before, 'the last start had something to go on with');
  t.same(lost, [], 'no push is missing');
  t.ok(repeated <= KILL_AFTER_MS.length * 8, 'only what was under way at a kill is repeated');
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
