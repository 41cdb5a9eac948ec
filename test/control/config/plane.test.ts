import t from 'tap';
import { createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { NEW_BOT } from '../../harness/bots-harness.ts';
import { planeUnderTest } from '../../harness/plane-harness.ts';
import { callJson } from '../../harness/served-api.ts';

const plane = await planeUnderTest();
t.teardown(() => plane.stop());
const admin = plane.credentials.get('bearer admin') ?? {};
const core = plane.credentials.get('core') ?? {};

const api = (method: string, path: string, body?: unknown, headers = admin) =>
  callJson(method, plane.url(`/api/v1${path}`), { body, headers });

const config = (botId: string) => api('GET', `/config/${botId}`, undefined, core);

t.test(
  'calls get what was published: a draft does not reach them, publishing reaches the next one',
  async (t) => {
    t.match(await api('POST', '/bots', { ...NEW_BOT, opening_message: 'one' }), { status: 201 });
    t.match(await config('clinic'), { status: 404 }, 'never published');
    await api('POST', '/bots/clinic/publish');
    t.match(await config('clinic'), { status: 200, json: { opening_message: 'one' } });
    await api('PATCH', '/bots/clinic', { opening_message: 'two' });
    t.match(await config('clinic'), { json: { opening_message: 'one' } });
    await api('POST', '/bots/clinic/publish');
    t.match(await config('clinic'), { json: { opening_message: 'two' } });
    await api('POST', '/bots/clinic/rollback', { version: 1 });
    t.match(await config('clinic'), { json: { opening_message: 'one' } });
  },
);

t.test('R176 R177 a change behind the API is not seen until the cache is cleared', async (t) => {
  const store = createBotStore(plane.store);
  const bot = await store.get('clinic');
  if (!bot) throw new Error('the bot is there');
  await store.put({ ...bot, opening_message: 'three' });
  t.match(await config('clinic'), { json: { opening_message: 'one' } });
  t.match(await api('DELETE', '/caches/bot:clinic'), { json: { cleared: true } });
  t.match(await config('clinic'), { json: { opening_message: 'three' } });
});

t.test(
  'R147 outside its hours the answer is 503, with the promised detail and when to come again',
  async (t) => {
    const day = new Date(Date.now() + 2 * 86_400_000).toLocaleString('en-US', {
      weekday: 'long',
      timeZone: 'UTC',
    });
    const hours = { enabled: true, days: [day.toLowerCase()], start_time: '00:00', end_time: '24:00' };
    await api('POST', '/bots', { ...NEW_BOT, bot_id: 'closed', active_hours: hours, publish: true });
    const refused = await config('closed');
    t.match(refused, {
      status: 503,
      json: { code: 'outside_active_hours', detail: /^outside_active_hours:/ },
    });
    const wait = Number(refused.headers.get('retry-after'));
    t.ok(wait > 86_000 && wait <= 2 * 86_400, `${wait} s`);
    const records = await api('GET', '/call-records?bot_id=closed');
    t.match(records.json.items, [{ status: 'not_connected', disconnected_by: 'outside_hours' }]);
  },
);

t.test('R61 a key that an admin sets is in the next config, and in no bot', async (t) => {
  await api('PATCH', '/settings', { secrets: { openai_api_key: 'sk-of-the-settings' } });
  const store = createBotStore(plane.store);
  const bot = await store.get('clinic');
  if (!bot) throw new Error('the bot is there');
  await store.put({ ...bot, bot_id: 'cloud', llm: { provider: 'openai', model: 'm' } });
  t.match(await config('cloud'), { json: { llm: { provider: 'openai', api_key: 'sk-of-the-settings' } } });
  t.notMatch(JSON.stringify((await api('GET', '/bots/cloud')).json), /sk-of/);
  t.notMatch(JSON.stringify((await api('GET', '/bots/cloud/export')).json), /sk-of/);
});

t.test('every answer was one that its route declares', async (t) => {
  t.strictSame(plane.mismatches, []);
});
