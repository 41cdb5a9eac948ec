import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { placeWhenFree } from '../harness/place-call.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const receiver = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '1' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
  await receiver.close();
});
plane.config = () => ({
  status: 200,
  body: plane.scriptedBot({ webhook_url: `http://127.0.0.1:${receiver.port}/results` }),
});

t.test(
  'R3 R31 R152 R173 the receiver is down for the whole call and after: the result arrives when it is back, once',
  async (t) => {
    await receiver.close();
    const call = await placeWhenFree({ url: `${appliance.callUrl}scripted` });
    await wait(500);
    await call.hangUp();
    const health = await appliance.until((health) => (health.outbox?.results_pending ?? 0) === 1);
    t.equal(health.fleet_available, 1, 'the slot is free meanwhile');
    await wait(3_000);
    t.equal((await appliance.health())?.outbox?.results_pending, 1, 'immediate retries are over, it waits');
    // A restart in between loses nothing either.
    await appliance.signalMain('SIGKILL');
    await receiver.listen();
    await appliance.launch();
    const [result] = await receiver.until(1);
    t.equal(result?.session_id, call.sessionId);
    await appliance.until((health) => health.outbox?.results_pending === 0);
    await wait(1_000);
    t.equal(receiver.results.length, 1);
  },
);

t.test('R152 a receiver that fails with 5xx is tried again at once, a few times', async (t) => {
  receiver.attempts = 0;
  receiver.results.length = 0;
  let firstAtMs = 0;
  receiver.receive = (attempt) => {
    firstAtMs ||= performance.now();
    return attempt <= 2 ? 503 : 200;
  };
  await (await placeWhenFree({ url: `${appliance.callUrl}scripted` })).hangUp();
  await receiver.until(1);
  t.equal(receiver.attempts, 3);
  t.ok(performance.now() - firstAtMs < 5_000, 'without waiting for the back-off');
});
