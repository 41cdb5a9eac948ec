import t from 'tap';
import { BOT_EXAMPLE } from '../../../src/control/bots/bot-views.ts';
import { botServer, NEW_BOT } from '../../harness/bots-harness.ts';
import { CORE_SECRET } from '../../harness/served-api.ts';

t.test('a bot is created with its defaults, and takes calls once it is published', async (t) => {
  const { ask, cached } = await botServer(t);
  const created = await ask('POST', '/bots', NEW_BOT);
  t.equal(created.status, 201);
  t.equal(created.headers.get('etag'), '"1"');
  t.match(created.json, {
    bot_id: 'clinic',
    timezone: 'UTC',
    max_call_duration_seconds: 3600,
    tools: [],
    version: 1,
    published_version: null,
    has_unpublished_changes: true,
    widget_api_key: null,
  });
  t.equal(await cached.get('clinic'), null);
  const published = await ask('POST', '/bots/clinic/publish');
  t.match(published, { status: 200, json: { bot: { published_version: 1 }, findings: [] } });
  t.match(await cached.get('clinic'), { opening_message: 'Namaste {{call.name}}.', version: 1 });
  t.match(await ask('POST', '/bots', NEW_BOT), { status: 409, json: { code: 'conflict' } });
  t.match(await ask('POST', '/bots', { ...NEW_BOT, bot_id: undefined }), {
    status: 201,
    json: { bot_id: /^bot_[0-9a-f]{12}$/ },
  });
  t.match(await ask('POST', '/bots', { ...NEW_BOT, bot_id: 'live', publish: true }), {
    status: 201,
    json: { published_version: 1 },
  });
});

t.test('the example of the API docs can be sent as it stands, published and called', async (t) => {
  const { ask, cached } = await botServer(t);
  t.match(await ask('POST', '/bots', { ...BOT_EXAMPLE, publish: true }), { status: 201 });
  t.match(await cached.get('collections'), { name: 'Collections' });
});

t.test('R176 an edit through the API is in the next call, without waiting for the cache', async (t) => {
  const { ask, cached } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  t.match(await cached.get('clinic'), { name: 'Clinic' });
  await ask('PATCH', '/bots/clinic', { name: 'Clinic at night' });
  t.match(await cached.get('clinic'), { name: 'Clinic' }, 'a draft is no edit of what calls get');
  await ask('POST', '/bots/clinic/publish');
  t.match(await cached.get('clinic'), { name: 'Clinic at night' });
  await ask('POST', '/bots/clinic/rotate-widget-key');
  t.match(await cached.get('clinic'), { widget_api_key: /^wk_/ });
  await ask('POST', '/bots/clinic/rollback', { version: 1 });
  t.match(await cached.get('clinic'), { name: 'Clinic', version: 3 });
  t.equal((await ask('DELETE', '/bots/clinic')).status, 204);
  t.equal(await cached.get('clinic'), null);
});

t.test('PUT replaces, PATCH changes what it names, and what GET gave may be sent back', async (t) => {
  const { ask } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, voicemail_message: 'Later.' });
  t.match(await ask('PATCH', '/bots/clinic', { timezone: 'Asia/Kolkata', voicemail_message: null }), {
    status: 200,
    json: { timezone: 'Asia/Kolkata', name: 'Clinic', voicemail_message: null, version: 2 },
  });
  const { json: whole } = await ask('GET', '/bots/clinic');
  const replaced = await ask('PUT', '/bots/clinic', { ...whole, name: 'New' });
  t.match(replaced, { status: 200, json: { name: 'New', timezone: 'Asia/Kolkata', version: 3 } });
  t.match(await ask('PUT', '/bots/clinic', { ...whole, bot_id: 'other' }), { status: 422 });
  t.match(await ask('PUT', '/bots/clinic', NEW_BOT), { status: 422 }, 'PUT takes no half bot');
  t.match(await ask('GET', '/bots/nobody'), { status: 404 });
});

t.test('If-Match keeps two editors from overwriting each other', async (t) => {
  const { ask, bots } = await botServer(t);
  const { headers } = await ask('POST', '/bots', NEW_BOT);
  const tag = { 'if-match': headers.get('etag') ?? '' };
  t.equal((await ask('PATCH', '/bots/clinic', { name: 'First' }, tag)).status, 200);
  for (const [method, path, body] of [
    ['PATCH', '/bots/clinic', { name: 'Second' }],
    ['PUT', '/bots/clinic', (await ask('GET', '/bots/clinic')).json],
    ['DELETE', '/bots/clinic', undefined],
    ['POST', '/bots/clinic/publish', {}],
    ['POST', '/bots/clinic/rollback', { version: 1 }],
    ['POST', '/bots/clinic/rotate-widget-key', undefined],
  ] as const) {
    t.match(await ask(method, path, body, tag), { status: 412, json: { code: 'version_mismatch' } }, path);
  }
  t.match(await bots.find('clinic'), { revision: 2, draft: { name: 'First' }, published_version: null });
});

t.test('versions are kept as they were; a rollback makes a new one', async (t) => {
  const { ask } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  await ask('PATCH', '/bots/clinic', { name: 'Two' });
  await ask('PATCH', '/bots/clinic', { name: 'Three' });
  t.match(await ask('POST', '/bots/clinic/publish', { version: 2 }), {
    json: { bot: { published_version: 2 } },
  });
  t.match(await ask('POST', '/bots/clinic/rollback', { version: 1 }), {
    json: { version: 4, published_version: 4, name: 'Clinic', has_unpublished_changes: false },
  });
  const first = await ask('GET', '/bots/clinic/versions?limit=3');
  t.match(first.json, {
    items: [
      { version: 4, published: true, note: 'rollback to version 1', saved_by: 'admin' },
      { version: 3, published: false },
      { version: 2 },
    ],
    has_more: true,
  });
  const rest = await ask('GET', `/bots/clinic/versions?cursor=${first.json.next_cursor}`);
  t.match(rest.json, { items: [{ version: 1 }], has_more: false, next_cursor: null });
  t.match(await ask('GET', '/bots/clinic/versions/3'), { json: { content: { name: 'Three' } } });
  t.match(await ask('GET', '/bots/clinic/versions/9'), { status: 404 });
  t.match(await ask('POST', '/bots/clinic/rollback', { version: 9 }), { status: 404 });
  t.match(await ask('GET', '/bots/clinic/versions?cursor=bm9wZQ'), { status: 422 });
});

t.test('a bot with errors is saved but not published, and the answer says why', async (t) => {
  const { ask, bots } = await botServer(t);
  const broken = { ...NEW_BOT, opening_message: 'Hello {{name}}', timezone: 'Mars/Olympus' };
  t.equal((await ask('POST', '/bots', broken)).status, 201);
  const found = await ask('POST', '/bots/clinic/validate');
  t.match(found.json, {
    publishable: false,
    findings: [
      { severity: 'error', code: 'broken_template', pointer: '/opening_message' },
      { severity: 'warning', code: 'timezone' },
    ],
  });
  const refused = await ask('POST', '/bots/clinic/publish');
  t.match(refused, {
    status: 422,
    json: { code: 'validation_error', errors: [{ pointer: '/opening_message' }] },
  });
  t.match(await ask('POST', '/bots', { ...broken, bot_id: 'b', publish: true }), { status: 422 });
  t.equal(await bots.find('b'), null, 'nothing was written');
  t.equal(await bots.get('clinic'), null);
});

t.test('a key of a provider is refused wherever it stands', async (t) => {
  const { ask, bots } = await botServer(t);
  const llm = { provider: 'scripted', rules: [] };
  for (const [change, pointer] of [
    [{ llm: { ...llm, api_key: 'sk-1' } }, '/llm/api_key'],
    [{ llm: { ...llm, fallbacks: [{ provider: 'x', api_key: 'sk-1' }] } }, '/llm/fallbacks/0/api_key'],
  ] as const) {
    const refused = await ask('POST', '/bots', { ...NEW_BOT, ...change });
    t.match(refused, { status: 422, json: { errors: [{ pointer }] } });
  }
  t.equal(await bots.isEmpty(), true);
});

t.test('a bot goes into a file and comes back, under its own id or another', async (t) => {
  const { ask } = await botServer(t);
  await ask('POST', '/bots', NEW_BOT);
  await ask('POST', '/bots/clinic/rotate-widget-key');
  const file = await ask('GET', '/bots/clinic/export');
  t.equal(file.headers.get('content-disposition'), 'attachment; filename="clinic.bot.json"');
  t.notMatch(JSON.stringify(file.json), /wk_/, 'no key in the file');
  t.match(await ask('POST', '/bots/import', file.json), { status: 409 });
  t.match(await ask('POST', '/bots/import?bot_id=second', file.json), {
    status: 201,
    json: { bot_id: 'second', name: 'Clinic', published_version: null, widget_api_key: null },
  });
  file.json.bot.name = 'Changed';
  t.match(await ask('POST', '/bots/import?replace=true', file.json), {
    status: 200,
    json: { bot_id: 'clinic', name: 'Changed', version: 2 },
  });
  t.match(await ask('POST', '/bots/import?replace=true&bot_id=nobody', file.json), { status: 404 });
  t.match(await ask('POST', '/bots/import', { ...file.json, format_version: 2 }), { status: 422 });
});

t.test('a duplicate has the draft, and neither key nor calls', async (t) => {
  const { ask } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  await ask('POST', '/bots/clinic/rotate-widget-key');
  t.match(await ask('POST', '/bots/clinic/duplicate', { bot_id: 'copy' }), {
    status: 201,
    json: { bot_id: 'copy', name: 'Clinic (copy)', widget_api_key: null, published_version: null },
  });
  t.match(await ask('POST', '/bots/clinic/duplicate'), { status: 201, json: { bot_id: /^bot_/ } });
  t.match(await ask('POST', '/bots/clinic/duplicate', { bot_id: 'copy' }), { status: 409 });
});

t.test('the list goes on where the page before ended', async (t) => {
  const { ask } = await botServer(t);
  for (const id of ['b', 'a', 'c']) await ask('POST', '/bots', { ...NEW_BOT, bot_id: id });
  const first = await ask('GET', '/bots?limit=2');
  t.match(first.json, {
    items: [{ bot_id: 'a' }, { bot_id: 'b', has_unpublished_changes: true }],
    has_more: true,
  });
  const rest = await ask('GET', `/bots?limit=2&cursor=${first.json.next_cursor}`);
  t.match(rest.json, { items: [{ bot_id: 'c' }], has_more: false });
  t.match(await ask('GET', '/bots?cursor=e30'), { status: 422 });
});

t.test('a call ticket opens one call, to its own bot, within a minute', async (t) => {
  const { ask, tickets, clock } = await botServer(t);
  t.match(await ask('POST', '/bots/clinic/call-ticket'), { status: 404 });
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  const issue = async () => (await ask('POST', '/bots/clinic/call-ticket')).json;
  const first = await issue();
  t.match(first, { url: `wss://calls.example.com/ws/clinic?ticket=${first.ticket}` });
  t.equal(first.expires_at, '2026-03-02T06:31:00.000Z');
  t.equal(tickets.consume(first.ticket, 'clinic'), true);
  t.equal(tickets.consume(first.ticket, 'clinic'), false, 'once only');
  const other = await issue();
  t.equal(tickets.consume(other.ticket, 'demo'), false);
  t.equal(tickets.consume(other.ticket, 'clinic'), false, 'a wrong try voids it');
  const late = await issue();
  clock.wallMs += 60_000;
  t.equal(tickets.consume(late.ticket, 'clinic'), false);
  t.equal(tickets.consume('', 'clinic'), false);
  const key = { 'x-api-key': 'calls:write' };
  t.equal((await ask('POST', '/bots/clinic/call-ticket', undefined, key)).status, 201);
  const wrong = { 'x-api-key': 'records:read' };
  t.equal((await ask('POST', '/bots/clinic/call-ticket', undefined, wrong)).status, 403);
});

t.test('R66 a core worker tells which cache entry it made', async (t) => {
  const { ask, livePromptCaches } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  const core = { 'x-core-secret': CORE_SECRET };
  const entry = {
    static_version: 'v1',
    cache_name: 'cachedContents/1',
    expires_at: '2026-03-02T09:00:00+02:00',
  };
  const put = (body: unknown) => ask('PUT', '/bots/clinic/live-prompt-cache', body, core);
  t.equal((await put(entry)).status, 204);
  t.match(await livePromptCaches.usable('clinic', 'v1', '2026-03-02T06:59:59.000Z'), {
    expires_at: '2026-03-02T07:00:00.000Z',
  });
  t.equal((await put({ ...entry, expires_at: undefined })).status, 422);
  t.equal((await put({ ...entry, expires_at: '2026-99-99T00:00:00Z' })).status, 422);
  t.equal((await put({ static_version: 'v1', cache_name: null })).status, 204);
  t.equal(await livePromptCaches.usable('clinic', 'v1', '2026-03-02T06:59:59.000Z'), null);
  t.equal((await ask('PUT', '/bots/clinic/live-prompt-cache', entry)).status, 403, 'not for people');
});

t.test('admins change bots, supervisors and analysts read them, agents do neither', async (t) => {
  const { ask } = await botServer(t);
  await ask('POST', '/bots', NEW_BOT);
  for (const [role, reads, writes] of [
    ['admin', 200, 200],
    ['supervisor', 200, 403],
    ['analyst', 200, 403],
    ['agent', 403, 403],
  ] as const) {
    const as = { authorization: `Bearer ${role}` };
    t.equal((await ask('GET', '/bots/clinic', undefined, as)).status, reads, role);
    t.equal((await ask('PATCH', '/bots/clinic', { name: role }, as)).status, writes, role);
  }
});

t.test('R177 an admin or the core clears a cache entry by its name', async (t) => {
  const { ask, cached, bots } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  const first = await cached.get('clinic');
  if (first) await bots.put({ ...first, name: 'Changed behind the back' });
  t.match(await cached.get('clinic'), { name: 'Clinic' });
  t.match(await ask('DELETE', '/caches/bot:clinic'), {
    status: 200,
    json: { key: 'bot:clinic', cleared: true },
  });
  t.match(await cached.get('clinic'), { name: 'Changed behind the back' });
  const core = { 'x-core-secret': CORE_SECRET };
  t.match(await ask('DELETE', '/caches/system:settings', undefined, core), { json: { cleared: false } });
  t.match(await ask('DELETE', '/caches/nonsense'), { status: 404 });
  const supervisor = { authorization: 'Bearer supervisor' };
  t.equal((await ask('DELETE', '/caches/bot:clinic', undefined, supervisor)).status, 403);
});

t.test('every change is in the audit log, with what it changed', async (t) => {
  const { ask, audit } = await botServer(t);
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  await ask('PATCH', '/bots/clinic', { name: 'Two' });
  await ask('POST', '/bots/clinic/rotate-widget-key');
  await ask('DELETE', '/bots/clinic');
  const { items } = await audit.list({ limit: 9 });
  t.strictSame(
    items.map((entry) => entry.action),
    ['bot.delete', 'bot.rotate_widget_key', 'bot.update', 'bot.create'],
  );
  t.match(items[2], {
    target: 'bot:clinic',
    actor: { id: 'admin' },
    before: { name: 'Clinic', version: 1 },
    after: { name: 'Two', version: 2 },
  });
  t.notMatch(items[2], { after: { opening_message: String } }, 'only what differs');
  t.notMatch(JSON.stringify(items[1]), /wk_/, 'keys are hashed');
  t.match(await audit.verify(), { ok: true });
});

t.test('a POST with an Idempotency-Key is done once', async (t) => {
  const { ask } = await botServer(t);
  const key = { 'idempotency-key': '7b1d3f5e-6a55-4c0b-9d3e-111111111111' };
  const body = { ...NEW_BOT, bot_id: undefined };
  const first = await ask('POST', '/bots', body, key);
  const again = await ask('POST', '/bots', body, key);
  t.equal(again.json.bot_id, first.json.bot_id);
  t.equal((await ask('GET', '/bots')).json.items.length, 1);
});

t.test('what does not fit the schema is refused with its place, and nothing is written', async (t) => {
  const { ask, bots } = await botServer(t);
  for (const [change, pointer] of [
    [{ name: 7 }, '/name'],
    [{ unknown_field: 1 }, '/unknown_field'],
    [{ max_call_duration_seconds: 0 }, '/max_call_duration_seconds'],
    [{ active_hours: { enabled: true, start_time: '9:00', end_time: '18:00' } }, '/active_hours'],
    [{ tools: [{ type: 'built_in', name: 'dance' }] }, '/tools/0'],
    [{ bot_id: 'a b' }, '/bot_id'],
    [{ transfer_numbers: { desk: 'call me' } }, '/transfer_numbers'],
  ] as const) {
    const refused = await ask('POST', '/bots', { ...NEW_BOT, ...change });
    t.equal(refused.status, 422, pointer);
    t.ok(
      refused.json.errors.some((error: { pointer: string }) => error.pointer.startsWith(pointer)),
      JSON.stringify(refused.json.errors),
    );
  }
  t.equal(await bots.isEmpty(), true);
});
