import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startTicks } from '../../src/platform/process-identity.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { MEDIA_ENV, post } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { call, startWorker } from '../harness/worker.ts';

const SHORT = { overrunGraceMs: 200, hangupToKillMs: 400 };

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

t.test(
  'RT-24 a call over its maximum is hung up by main, and a slot that ignores that is killed',
  async (t) => {
    const dataDir = tempFolder();
    const receiver = await startResultsReceiver();
    const main = await startWorker(dataDir, {}, SHORT);
    const webhook = encodeURIComponent(receiver.url);
    const polite = await call(main.fleetPort ?? 0, `/ws/echo?max=1&webhook=${webhook}`);
    const deaf = await call(main.fleetPort ?? 0, `/ws/deaf?max=1&webhook=${webhook}`);
    await until(() => polite.closed() && deaf.closed());
    await until(() => receiver.got.length === 2);
    const resultOf = (callId: string) =>
      receiver.got.find(({ body }) => body.session_id === `session-${callId}`)?.body;
    t.equal(resultOf(polite.callId)?.disconnected_by, 'customer', 'the slot ended its call itself');
    t.not(startTicks(polite.pid), null, 'and lives on');
    t.match(resultOf(deaf.callId), {
      disconnected_by: 'timeout',
      end_detail: { cause: 'max_duration' },
      events: [{ event: 'slot_hung' }],
    });
    t.equal(startTicks(deaf.pid), null);
    await main.stop();
    await receiver.close();
  },
);

t.test('RT-24 the maximum holds for a call of an earlier main too', async (t) => {
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  const first = await startWorker(dataDir);
  const live = await call(first.fleetPort ?? 0, `/ws/echo?max=1&webhook=${encodeURIComponent(receiver.url)}`);
  await first.stop({ leaveCalls: true });
  const second = await startWorker(dataDir, {}, SHORT);
  await until(() => live.closed());
  await until(() => receiver.got.length === 1);
  t.equal(receiver.got[0]?.body.disconnected_by, 'customer', 'it was asked to hang up, and did');
  await until(() => startTicks(live.pid) === null);
  await second.stop();
  await receiver.close();
});

t.test('RT-74 a hung call of an earlier main is found by its silence, killed and salvaged', async (t) => {
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  const first = await startWorker(dataDir);
  const live = await call(first.fleetPort ?? 0, `/ws/echo?webhook=${encodeURIComponent(receiver.url)}`);
  await first.stop({ leaveCalls: true });
  process.kill(live.pid, 'SIGSTOP');
  const second = await startWorker(dataDir);
  t.equal(second.health()?.fleet_busy, 1);
  await until(() => receiver.got.length === 1);
  t.match(receiver.got[0]?.body.events, [{ event: 'slot_hung' }]);
  await until(() => live.closed());
  await until(() => second.health()?.fleet_available === 2);
  t.equal(readdirSync(join(dataDir, 'reports')).length, 1, 'what the kernel knew of it is kept');
  await second.stop();
  await receiver.close();
});

t.test('RT-73 a slot is renewed after its share of calls, between two of them', async (t) => {
  const main = await startWorker(tempFolder(), { SLOTS: '1' }, { recycleAfterCalls: 2 });
  const port = main.fleetPort ?? 0;
  const pids: number[] = [];
  for (let i = 0; i < 4; i++) {
    const caller = await call(port, '/ws/echo');
    pids.push(caller.pid);
    caller.socket.end();
    await until(() => caller.closed());
    await until(() => main.health()?.fleet_available === 1);
  }
  t.equal(pids[0], pids[1]);
  t.equal(pids[2], pids[3]);
  t.not(pids[1], pids[2]);
  await main.stop();
});

t.test('a call that never got a session owes nobody a result and leaves nothing behind', async (t) => {
  const dataDir = tempFolder();
  const main = await startWorker(dataDir, { SLOTS: '1' });
  const caller = await call(main.fleetPort ?? 0, '/ws/silent');
  caller.socket.end();
  await until(() => main.health()?.fleet_available === 1);
  await until(() => readdirSync(join(dataDir, 'spool')).length === 0);
  t.equal(main.health()?.outbox?.results_pending, 0);
  await main.stop();
});

t.test('RT-73 calls through rooms wear a slot down sooner', async (t) => {
  const main = await startWorker(tempFolder(), { ...MEDIA_ENV, SLOTS: '1' }, { recycleAfterRoomCalls: 2 });
  t.teardown(() => main.stop());
  const port = main.fleetPort ?? 0;
  const pids: (number | null)[] = [];
  for (let call = 1; call <= 3; call++) {
    await until(() => main.health()?.fleet_available === 1);
    pids.push(main.health()?.workers?.[0]?.pid ?? null);
    const { json } = await post(port, '/rtc/dialout', { bot_id: 'clinic', to_number: '+911150000001' });
    await post(port, `/calls/${json.call_id}/hangup`, {});
    await until(() => !main.health()?.workers?.some(({ call_id: id }) => id === json.call_id));
  }
  const [first, second, third] = pids;
  t.equal(second, first, 'the second call goes to the same process');
  t.not(third, second, 'the third to a new one');
});
