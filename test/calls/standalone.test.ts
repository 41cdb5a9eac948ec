import t from 'tap';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { placeWhenFree } from '../harness/place-call.ts';

const SECRET = 'a-secret-of-the-host-0123456789abcdef';
t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({
  ...plane.env,
  CORE_SECRET: SECRET,
  TRUSTED_ORIGINS: `http://127.0.0.1:${plane.port}`,
});
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});
const url = `${appliance.callUrl}some-bot`;

/** How the slot closes a call whose config gets this answer. */
async function refused(status: number, body: unknown, delayMs = 0) {
  // The slot of the call before may still be on its way back.
  await appliance.until((health) => health.fleet_available === 2);
  plane.config = () => ({ status, body, delayMs });
  try {
    await (await placeWhenFree({ url })).hangUp();
    return { status: 0, body: 'accepted' };
  } catch (error) {
    return error as { status: number; body: string };
  }
}

t.test(
  'R148 the config endpoint is asked for the bot, with the secret only because its origin is ours',
  async (t) => {
    plane.config = () => ({ status: 200, body: plane.scriptedBot({}) });
    const call = await placeWhenFree({
      url,
      connected: { caller_id: '+15550100', stream_id: 's-1', plan: 'gold' },
    });
    const asked = plane.requests.at(-1);
    t.equal(asked?.botId, 'some-bot');
    t.equal(asked?.secret, SECRET);
    t.equal(asked?.query.get('caller_id'), '+15550100');
    t.match(JSON.parse(asked?.query.get('connected_event') ?? ''), { plan: 'gold', event: 'connected' });
    await call.until(() => call.botIsSpeaking, 60_000);
    await call.hangUp();
    const [result] = await plane.until(1);
    const answer = await fetch(result?.recording_url ?? '');
    t.equal(answer.status, 200, 'R93 the host gives its recording out itself');
    t.ok((await answer.arrayBuffer()).byteLength > 1_000);
    t.equal(plane.resultHeaders.at(-1)?.['x-core-secret'], SECRET, 'a trusted receiver gets it as well');
  },
);

t.test('R150 404, 503 and anything else refuse the call with the matching close code', async (t) => {
  const results = plane.results.length;
  t.match(await refused(404, { detail: 'no such bot' }), { status: 4404, body: /no such bot/ });
  t.match(await refused(503, { detail: 'outside_active_hours: closed on Sunday' }), {
    status: 4503,
    body: /outside_active_hours/,
  });
  t.match(await refused(503, { code: 'store_unavailable', detail: 'the disk is full' }), { status: 4500 });
  t.match(await refused(500, 'oops'), { status: 4500, body: /answered 500/ });
  t.match(await refused(302, ''), { status: 4500, body: /answered 302/ });
  t.match(await refused(200, '<html>'), { status: 4500, body: /not JSON/ });
  t.match(await refused(200, { session_id: 'x' }), { status: 4500, body: /webhook_url/ });
  t.match(await refused(200, `"${'x'.repeat(1_200_000)}"`), { status: 4500, body: /larger than/ });
  t.equal(plane.results.length, results, 'a refused call has no result');
  const { refused_calls: counted } = await appliance.until(() => true);
  t.match(counted, { config_not_found: 1, outside_active_hours: 1 }, 'and is counted by its cause');
});

t.test('R150 a config endpoint that is slow or unreachable refuses the call in bounded time', async (t) => {
  await appliance.until((health) => health.fleet_available === 2);
  const startedAtMs = performance.now();
  t.match(await refused(200, plane.scriptedBot({}), 15_000), { status: 4500, body: /no answer within/ });
  t.ok(performance.now() - startedAtMs < 15_000, 'before it would have answered');
  await plane.close();
  t.match(await refused(200, {}), { status: 4500, body: /cannot be used/ });
  await plane.listen();
  await appliance.until((health) => health.fleet_available === 2);
});

t.test('the secret never goes to a receiver that is not ours', async (t) => {
  const stranger = await ForeignPlane.start();
  t.teardown(() => stranger.close());
  plane.config = () => ({
    status: 200,
    body: plane.scriptedBot({ webhook_url: `http://127.0.0.1:${stranger.port}/results` }),
  });
  await (await placeWhenFree({ url })).hangUp();
  await stranger.until(1);
  t.equal(stranger.resultHeaders[0]?.['x-core-secret'], undefined);
});
