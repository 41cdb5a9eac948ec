import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { startTicks } from '../../src/platform/process-identity.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { call, fixture, idleOutbox, rawCaller, startWorker, upgradeRequest } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const ROUNDS = 15;
const SEED = 20_261_120;

interface RunningMain {
  child: ChildProcess;
  port: number;
  exited: Promise<number | null>;
}

function spawnMain(dataDir: string, env: Record<string, string> = {}): ChildProcess & { errors(): string } {
  const child = spawn(process.execPath, [fixture('main-under-test')], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      ROLE: 'worker',
      SLOTS: '3',
      DATA_DIR: dataDir,
      FLEET_LISTEN: '127.0.0.1:0',
      CONTROL_LISTEN: '127.0.0.1:0',
      CONFIG_URL: 'http://127.0.0.1:1/config',
      LOG_LEVEL: 'silent',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr?.on('data', (bytes) => {
    errors += String(bytes);
  });
  return Object.assign(child, { errors: () => errors });
}

async function runningMain(dataDir: string, env: Record<string, string> = {}): Promise<RunningMain> {
  const child = spawnMain(dataDir, env);
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  let said = '';
  child.stdout?.on('data', (bytes) => {
    said += String(bytes);
  });
  await until(() => said.includes('/health/fleet') || child.exitCode !== null);
  const port = Number(/127\.0\.0\.1:(\d+)\/health\/fleet/.exec(said)?.[1]);
  if (!port) throw new Error(`main did not start: ${child.errors()}`);
  return { child, port, exited };
}

/** A small linear congruential generator: the rounds must be the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

t.test(
  'R3 R31 R173 RT-75 results survive SIGKILL of main at any moment, each call owes exactly one',
  async (t) => {
    const dataDir = tempFolder();
    const receiver = await startResultsReceiver();
    const random = seeded(SEED);
    const path = `/ws/echo?webhook=${encodeURIComponent(receiver.url)}`;
    const owed = new Set<string>();
    const lingering: { socket: { end(): void } }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const main = await runningMain(dataDir);
      for (const early of lingering.splice(0)) early.socket.end();
      // The first slot is ready when main answers; the others may be taken by orphans or still start.
      const callers = [];
      for (let i = 0; i < 2; i++) {
        const caller = rawCaller(main.port, upgradeRequest(path));
        await until(() => caller.closed() || /call \S+ secret/.test(caller.received()));
        const callId = /call (\S+) secret/.exec(caller.received())?.[1];
        if (!callId) continue;
        owed.add(`session-${callId}`);
        callers.push(caller);
      }
      // One caller hangs up before the kill, so that its intake or delivery is cut somewhere; one talks on over it.
      callers[0]?.socket.end();
      await new Promise((resolve) => setTimeout(resolve, random() * 60));
      main.child.kill('SIGKILL');
      await main.exited;
      lingering.push(...callers.slice(1));
    }
    const last = await startWorker(dataDir, { SLOTS: '3' }).catch((error: unknown) => error);
    if (last instanceof Error) throw last;
    for (const caller of lingering) caller.socket.end();
    const main = last as Awaited<ReturnType<typeof startWorker>>;
    const seen = () => new Set(receiver.got.map(({ body }) => String(body.session_id)));
    await until(() => seen().size >= owed.size);
    await until(() => main.health()?.outbox?.results_pending === 0 && main.health()?.fleet_available === 3);
    t.ok(owed.size > ROUNDS, `${owed.size} calls over ${ROUNDS} kills`);
    t.strictSame([...seen()].sort(), [...owed].sort(), 'every call has its result, and no other exists');
    const again = receiver.got.length - owed.size;
    t.comment(`${again} deliveries were repeated after a kill between the receiver's answer and its note`);
    t.ok(again <= ROUNDS, 'no more repeats than kills');
    for (const { body } of receiver.got) {
      if (!existsSync(join(dataDir, 'recordings', String(body.recording_key))))
        t.fail(`no ${body.recording_key}`);
      if (body.disconnected_by !== 'customer') t.fail('a call was not ended by its caller', body);
    }
    t.strictSame(readdirSync(join(dataDir, 'spool')), [], 'the spool is empty');
    await main.stop();
    await receiver.close();
  },
);

t.test('R3 a main killed while it removed the last of a folder leaves no result behind', async (t) => {
  for (const left of [[], ['result.json']]) {
    const dataDir = tempFolder();
    const receiver = await startResultsReceiver();
    const folder = join(dataDir, 'spool', 'call-1');
    mkdirSync(folder, { recursive: true });
    for (const name of left) writeFileSync(join(folder, name), '{}');
    mkdirSync(join(dataDir, 'store'));
    const store = openKeyValueStore(join(dataDir, 'store'));
    const row = { callId: 'call-1', sessionId: 's-1', webhookUrl: receiver.url, createdAtMs: Date.now() };
    await idleOutbox(store).add(
      { ...row, attempts: 0, nextAttemptAtMs: Date.now(), lastError: null },
      JSON.stringify({ session_id: 's-1' }),
    );
    await store.close();
    const main = await startWorker(dataDir);
    await until(() => receiver.got.length === 1);
    t.strictSame(readdirSync(join(dataDir, 'spool')), []);
    await main.stop();
    await receiver.close();
  }
});

t.test('SIGTERM drains and exits 0 when the last call has ended', async (t) => {
  const main = await runningMain(tempFolder());
  const live = await call(main.port, '/ws/echo');
  main.child.kill('SIGTERM');
  // The signal takes its moment; until then a slot may still take the call.
  const refused = async () => {
    const late = rawCaller(main.port, upgradeRequest('/ws/echo'));
    await until(() => late.closed() || late.received().includes(' 101 '));
    late.socket.end();
    return late.received().includes(' 503 ');
  };
  await until(refused);
  live.socket.write('still talking');
  await until(() => live.received().includes('still talking'));
  live.socket.end();
  t.equal(await main.exited, 0);
});

t.test('a second signal leaves at once, and the call talks on', async (t) => {
  const dataDir = tempFolder();
  const main = await runningMain(dataDir);
  const live = await call(main.port, '/ws/echo');
  main.child.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(main.child.exitCode, null, 'the first one waits for the call');
  main.child.kill('SIGTERM');
  t.equal(await main.exited, 0);
  live.socket.write('without main');
  await until(() => live.received().includes('without main'));
  live.socket.end();
  await until(() => startTicks(live.pid) === null);
  t.ok(existsSync(join(dataDir, 'spool', live.callId, 'result.json')), 'its result waits for the next start');
});

t.test('a wrong setting is one sentence and exit 78', async (t) => {
  const dataDir = tempFolder();
  for (const [env, names] of [
    [{ SLOTS: 'many' }, /^trunkline: SLOTS: .+\n$/],
    [{ CONFIG_URL: '' }, /^trunkline: CONFIG_URL: .+\n$/],
    [{ DATA_DIR: '/dev/null/data' }, /^trunkline: DATA_DIR: .+\n$/],
  ] as const) {
    const child = spawnMain(dataDir, env);
    const [code] = await once(child, 'exit');
    t.equal(code, 78);
    t.match(child.errors(), names);
  }
});

t.test('a port in use is a sentence, and nothing is left running', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const child = spawnMain(tempFolder(), { FLEET_LISTEN: `127.0.0.1:${port}` });
  const [code] = await once(child, 'exit');
  t.equal(code, 78);
  t.match(child.errors(), /^trunkline: FLEET_LISTEN: .+ cannot be opened/);
  taken.close();
});

t.test('two mains on one data folder: the second is refused, the first goes on', async (t) => {
  const dataDir = tempFolder();
  const first = await runningMain(dataDir);
  const second = spawnMain(dataDir);
  const [code] = await once(second, 'exit');
  t.equal(code, 1, 'a service manager may try again: the other may be just leaving');
  t.match(second.errors(), /^trunkline: .+\n$/);
  const live = await call(first.port, '/ws/echo');
  live.socket.end();
  first.child.kill('SIGTERM');
  t.equal(await first.exited, 0);
});

t.test('what callers said is readable by the owner of the process only', async (t) => {
  const dataDir = join(tempFolder(), 'data');
  const main = await startWorker(dataDir);
  for (const name of ['', 'store', 'spool', 'recordings', 'reports']) {
    t.equal(statSync(join(dataDir, name)).mode & 0o777, 0o700, name || 'DATA_DIR');
  }
  await main.stop();
});
