import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startTicks } from '../../src/platform/process-identity.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { call, fleetHealth, rawCaller, startWorker, upgradeRequest } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

t.test(
  'R6 R7 R33 each call has a slot process of its own, and a full host answers busy at once',
  async (t) => {
    const main = await startWorker(tempFolder());
    const port = main.fleetPort ?? 0;
    const first = await call(port, '/ws/echo');
    const second = await call(port, '/ws/echo');
    t.not(first.pid, second.pid, 'two calls, two processes');
    t.not(first.pid, process.pid, 'and neither is main');
    const third = rawCaller(port, upgradeRequest('/ws/echo'));
    await until(() => third.closed());
    t.match(third.received(), /^HTTP\/1\.1 429 /);
    t.match(third.received(), /"error":"At capacity"/);
    t.match(third.received(), /"retry_after_seconds":5/);
    first.socket.end();
    await until(async () => (await fleetHealth(port)).fleet_available === 1);
    const fourth = await call(port, '/ws/echo');
    t.equal(fourth.pid, first.pid, 'a freed slot takes the next call');
    for (const caller of [second, fourth]) caller.socket.end();
    await main.stop();
  },
);

t.test('R30 a crashed slot costs its own call only, delivers an error result and is replaced', async (t) => {
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  const main = await startWorker(dataDir);
  const port = main.fleetPort ?? 0;
  const webhook = encodeURIComponent(receiver.url);
  const survivor = await call(port, `/ws/echo?webhook=${webhook}`);
  const victim = await call(port, `/ws/crash?webhook=${webhook}`);
  await until(() => victim.closed());
  await until(() => receiver.got.length === 1);
  const result = receiver.got[0]?.body;
  t.equal(result?.disconnected_by, 'error');
  t.match(result?.events, [{ event: 'slot_died' }]);
  t.match(result?.transcript, [{ text: 'hello' }]);
  t.ok(existsSync(join(dataDir, 'recordings', String(result?.recording_key))), 'its recording is kept');
  survivor.socket.write('still here');
  await until(() => survivor.received().includes('still here'));
  await until(async () => (await fleetHealth(port)).fleet_available === 1);
  survivor.socket.end();
  await until(() => receiver.got.length === 2);
  t.equal(receiver.got[1]?.body.disconnected_by, 'customer');
  t.strictSame(readdirSync(join(dataDir, 'spool')), [], 'nothing is left in the spool');
  await main.stop();
  await receiver.close();
});

t.test('RT-74 a hung slot is dumped, killed and salvaged, and its caller is cut off', async (t) => {
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  const main = await startWorker(dataDir);
  const port = main.fleetPort ?? 0;
  const caller = await call(port, `/ws/hang?webhook=${encodeURIComponent(receiver.url)}`);
  await until(() => caller.closed());
  await until(() => receiver.got.length === 1);
  t.match(receiver.got[0]?.body.events, [{ event: 'slot_hung' }]);
  t.equal(startTicks(caller.pid), null, 'the process is gone');
  const [report = ''] = readdirSync(join(dataDir, 'reports')).filter((name) => name.endsWith('.hung.json'));
  t.match(
    readFileSync(join(dataDir, 'reports', report), 'utf8'),
    /"spin .*stand-in-slot/,
    'its stack is kept',
  );
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
  await main.stop();
  await receiver.close();
});

t.test('RT-71 a slot that dies idle frees its place and is started again', async (t) => {
  const main = await startWorker(tempFolder(), { SLOTS: '1' });
  const pid = main.health()?.workers?.[0]?.pid ?? 0;
  process.kill(pid, 'SIGKILL');
  await until(() => {
    const worker = main.health()?.workers?.[0];
    return worker?.state === 'idle' && worker.pid !== pid;
  });
  t.equal(main.health()?.fleet_available, 1);
  await main.stop();
});

t.test(
  'RT-71 a caller that meets a dying slot is served, refused or cut off, and no lease is lost',
  async (t) => {
    const main = await startWorker(tempFolder());
    const port = main.fleetPort ?? 0;
    for (let round = 0; round < 4; round++) {
      const pids = (main.health()?.workers ?? [])
        .filter(({ state }) => state === 'idle')
        .map(({ pid }) => pid ?? 0);
      const callers = [1, 2].map(() => rawCaller(port, upgradeRequest('/ws/echo')));
      await new Promise((resolve) => setTimeout(resolve, round));
      for (const pid of pids.slice(0, 1)) process.kill(pid, 'SIGKILL');
      await until(() =>
        callers.every((caller) => caller.closed() || caller.received().includes('HTTP/1.1 ')),
      );
      for (const caller of callers) caller.socket.destroy();
      await until(async () => (await fleetHealth(port)).fleet_available === 2);
    }
    t.equal((await fleetHealth(port)).fleet_busy, 0);
    await main.stop();
  },
);

t.test('main stops by draining: 503 for new calls, live calls go on to their end', async (t) => {
  const main = await startWorker(tempFolder());
  const port = main.fleetPort ?? 0;
  const live = await call(port, '/ws/echo');
  let stopped = false;
  const stop = main.stop().then(() => {
    stopped = true;
  });
  const late = rawCaller(port, upgradeRequest('/ws/echo'));
  await until(() => late.closed());
  t.match(late.received(), /^HTTP\/1\.1 503 /);
  t.match(late.received(), /"error":"Draining"/);
  const health = await fleetHealth(port);
  t.equal(health.status, 'draining');
  t.equal(health.fleet_available, 0);
  live.socket.write('goodbye');
  await until(() => live.received().includes('goodbye'));
  t.notOk(stopped, 'main waits for the call');
  live.socket.end();
  await stop;
  t.equal(startTicks(live.pid), null, 'no slot is left behind');
});

t.test('a call outlives main: the next main counts it, shows it and takes its result', async (t) => {
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  const first = await startWorker(dataDir);
  const live = await call(first.fleetPort ?? 0, `/ws/echo?webhook=${encodeURIComponent(receiver.url)}`);
  await first.stop({ leaveCalls: true });
  live.socket.write('between two mains');
  await until(() => live.received().includes('between two mains'));

  const second = await startWorker(dataDir);
  const health = second.health();
  t.equal(health?.fleet_busy, 1, 'the orphan counts against SLOTS');
  t.equal(health?.fleet_available, 1, 'and only the other place has a fresh slot');
  t.match(
    health?.workers?.find((worker) => worker.state === 'orphan'),
    { id: `orphan-${live.pid}`, pid: live.pid, call_id: live.callId, bot_id: 'echo' },
  );
  live.socket.end();
  await until(() => receiver.got.length === 1);
  t.equal(receiver.got[0]?.body.disconnected_by, 'customer');
  await until(() => second.health()?.fleet_available === 2);
  await second.stop();
  await receiver.close();
});

t.test('RT-65 an orphan that is killed is salvaged by the next main', async (t) => {
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  const first = await startWorker(dataDir);
  const live = await call(first.fleetPort ?? 0, `/ws/echo?webhook=${encodeURIComponent(receiver.url)}`);
  await first.stop({ leaveCalls: true });
  const second = await startWorker(dataDir);
  process.kill(live.pid, 'SIGKILL');
  await until(() => receiver.got.length === 1);
  t.equal(receiver.got[0]?.body.disconnected_by, 'error');
  t.equal(receiver.got[0]?.body.call_duration_seconds, 0.1, 'the length of what was recorded or said');
  await second.stop();
  await receiver.close();
});
