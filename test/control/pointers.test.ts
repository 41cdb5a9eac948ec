import t, { type Test } from 'tap';
import { fetchConfig } from '../../src/slot/call/fetch-config.ts';
import { configHarness } from '../harness/config-harness.ts';
import { testBot } from '../harness/control.ts';
import { replyJson, serveLocally } from '../harness/local-server.ts';
import { readProjectFile } from '../harness/source-files.ts';

/** What a slot makes of this answer of its config endpoint. */
async function refusal(
  t: Test,
  answer: { status: number; json: object },
  host: { coreSecret?: string; isOwn?: boolean } = {},
) {
  const plane = await serveLocally((_, response) => replyJson(response, answer.status, answer.json));
  t.teardown(() => plane.close());
  const got = await fetchConfig({
    configUrl: `${plane.url}/config`,
    botId: 'clinic',
    callerId: '',
    streamId: '',
    connectedEvent: {},
    coreSecret: host.coreSecret ?? 'a secret of the host',
    ownOrigins: host.isOwn === false ? [] : [plane.url],
  });
  if (!('refusal' in got)) throw new Error('it is no refusal');
  t.notMatch(JSON.stringify(got), 'a secret of the host', 'the secret itself is in no sentence');
  return { ...got.refusal, origin: new URL(plane.url).host };
}

/** The manual leads from what is seen to its cause. */
const manual = (seen: string) =>
  readProjectFile('docs/operating.md')
    .split('\n')
    .find((line) => line.startsWith('|') && line.includes(seen)) ?? '';

t.test('R155 a 403 of the config endpoint points to the core secret', async (t) => {
  const forbidden = { status: 403, json: { code: 'forbidden' } };
  const differs = await refusal(t, forbidden);
  t.match(differs, { error: 'config_failed', code: 4500, advice: /CORE_SECRET .* differ/ });
  t.ok(differs.advice?.includes(differs.origin), 'and names where');
  t.match(await refusal(t, forbidden, { coreSecret: '' }), { advice: /has none; set CORE_SECRET/ });
  t.match(await refusal(t, forbidden, { isOwn: false }), { advice: /not sent: .*TRUSTED_ORIGINS/ });
  t.match((await refusal(t, { status: 500, json: {} })).advice, undefined);
  t.match(manual('answered 403'), /CORE_SECRET/);
});

t.test('R155 a 404 points to the bot id and to the address of the control plane', async (t) => {
  const unknown = await refusal(t, { status: 404, json: { detail: 'no such bot' } });
  t.match(unknown, { error: 'config_not_found', code: 4404, reason: 'no such bot' });
  t.match(unknown.advice, /id clinic .*CONFIG_URL/);
  t.ok(unknown.advice?.includes(unknown.origin));
  t.match(manual('4404'), /CONFIG_URL/);
});

t.test('R155 a stale prompt points to the cache key, and clearing that one is the cure', async (t) => {
  const harness = configHarness(t);
  await harness.call({ system_prompt: 'old' });
  await harness.bots.put(testBot({ system_prompt: 'new' }));
  t.equal((await harness.open('clinic')).system_prompt, 'old');
  t.match(manual('old prompt'), /cache clear bot:BOT/);
  t.ok(harness.cached.cache.invalidate('bot:clinic'), 'the key that the manual names');
  t.equal((await harness.open('clinic')).system_prompt, 'new');
});

t.test('R155 missing CRM data points to the pre-fetch, its flag and its time-out', async (t) => {
  const url = 'https://crm.example.com/';
  const entry = (error: string | null) => ({
    kind: 'prefetch' as const,
    at: '2026-03-02T06:30:00.000Z',
    url_host: 'crm.example.com',
    status: null,
    ms: 3_000,
    attempt: 1,
    error,
  });
  const harness = configHarness(t, {
    prefetch: async () => ({ data: {}, entry: entry('the CRM did not answer within 3000 ms') }),
  });
  const logOf = async (bot: object, event: object = {}) => {
    const { session_id: id } = await harness.call(bot, event);
    return (await harness.calls.get(id))?.integration_log;
  };
  const on = { crm_prefetch: { enabled: true, url } };
  t.same(await logOf({}), [], 'no line: the bot asks no CRM');
  t.match(await logOf(on, { _skip_prefetch: true }), [{ attempt: 0, error: /_skip_prefetch/ }]);
  t.match(await logOf(on), [{ attempt: 1, error: /did not answer within/ }]);
  for (const cause of ['crm_prefetch', '_skip_prefetch', 'integration_log']) {
    t.ok(manual('CRM data').includes(cause), cause);
  }
});

t.test('R85 what a dialler itself did wrong is told in the words of the control plane', async (t) => {
  const inUse = { code: 'session_in_use', detail: 'session run-1 is in use: a call with it is live' };
  t.match(await refusal(t, { status: 409, json: inUse }), {
    error: 'session_in_use',
    code: 4500,
    reason: inUse.detail,
  });
  const unfit = { code: 'validation_error', detail: '_campaign_session_id "a b" is no session id' };
  t.match(await refusal(t, { status: 422, json: unfit }), {
    error: 'validation_error',
    reason: unfit.detail,
  });
  t.match(await refusal(t, { status: 409, json: { code: 'conflict', detail: 'x' } }), {
    reason: 'the config endpoint answered 409',
  });
});
