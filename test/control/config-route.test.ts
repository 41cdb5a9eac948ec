import t from 'tap';
import { Compile } from 'typebox/compile';
import { RuntimeConfig } from '../../src/contracts/runtime-config.ts';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { postResults, type RunningControl, runControl, testBot, testResults } from '../harness/control.ts';

const NOW = '2026-03-01T20:15:30.000Z';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const schema = Compile(RuntimeConfig);

const run = await runControl({}, () => NOW);
await createBotStore(run.store).put(testBot());
const calls = createCallRecordStore(run.store);
t.teardown(() => run.stop());

async function config(event: unknown, query: Record<string, string> = {}, on: RunningControl = run) {
  const search = new URLSearchParams({
    ...query,
    ...(event === undefined
      ? {}
      : { connected_event: typeof event === 'string' ? event : JSON.stringify(event) }),
  });
  const answer = await fetch(on.url(`/api/v1/config/clinic?${search}`));
  return (await answer.json()) as RuntimeConfig & { call_context: Record<string, unknown> };
}

t.test('R56 R59 R75 R76 R179 a config answers with every field, in the shape of the contract', async (t) => {
  const served = await config({ name: 'Asha' });
  t.ok(schema.Check(served), JSON.stringify(schema.Errors(served)));
  t.strictSame(
    Object.keys(RuntimeConfig.properties).filter((name) => !(name in served)),
    [],
    'no field is missing',
  );
  t.match(served, {
    bot_id: 'clinic',
    webhook_url: run.url('/api/v1/call-results'),
    opening_message: 'Namaste Asha, this is the clinic.',
    min_words_interruption: 1,
    re_engagement: { enabled: false },
    stt: { provider: 'scripted' },
    max_call_duration_seconds: 600,
    timezone: 'Asia/Kolkata',
  });
});

t.test('R57 R58 R77 the prompt is served whole and split where its first variable stands', async (t) => {
  const served = await config({ name: 'Asha' });
  t.equal(
    served.system_prompt,
    'You answer for a clinic.\nBe brief.\nThe caller is Asha, today is 2026-03-02.',
    'the date is the one in the time zone of the bot',
  );
  t.match(served.prompt_parts, {
    mode: 'direct',
    cache_enabled: false,
    static_system_prompt: 'You answer for a clinic.\nBe brief.\n',
    dynamic_runtime_prompt: 'The caller is Asha, today is 2026-03-02.',
    static_version: /^[0-9a-f]{16}$/,
    cache_key: null,
    cache_retention: null,
  });
  const other = await config({ name: 'Ravi' });
  t.equal(other.prompt_parts?.static_version, served.prompt_parts?.static_version);
});

t.test('R43 R55 R145 the active record is in the store when the answer arrives', async (t) => {
  const served = await config(
    { name: 'Asha', city: 'Pune', call_direction: 'outbound', from_number: '+9122' },
    { caller_id: '+911234567890', stream_id: 'stream-7' },
  );
  t.match(served.session_id, UUID);
  t.match(await calls.get(served.session_id), {
    status: 'active',
    session_id: served.session_id,
    bot_id: 'clinic',
    caller_id: '+911234567890',
    stream_id: 'stream-7',
    from_number: '+9122',
    call_direction: 'outbound',
    connected_event: { name: 'Asha', city: 'Pune' },
    crm_data: { name: 'Asha', city: 'Pune' },
    integration_log: [],
    sip_context: {},
    campaign: null,
    transcript: null,
  });
});

t.test('R143 R144 missing and malformed query fields fall back to their defaults', async (t) => {
  for (const event of [undefined, '', '{', '[1]', 'null', '"x"', '7']) {
    const served = await config(event);
    t.strictSame(served.call_context, {}, String(event));
    t.match(await calls.get(served.session_id), { caller_id: '', stream_id: '', connected_event: {} });
  }
});

t.test('R55 R85 R87 R90 reserved flags steer the call and reach neither prompt nor context', async (t) => {
  const served = await config({
    _campaign_session_id: 'campaign-0001',
    _skip_prefetch: true,
    _skip_post_push: true,
    _mock_crm: { city_code: 'Mock', balance: 12 },
    _campaign_id: 'cmp_1',
    _campaign_call_id: 'cc_1',
    _campaign_attempt: 2,
    _campaign_run_number: '3',
    sip_candidate_headers: { 'X-Secret': 'no' },
    city: 'Pune',
    _private: 'kept',
  });
  t.equal(served.session_id, 'campaign-0001');
  t.strictSame(served.call_context, { city: 'Pune', _private: 'kept' });
  t.strictSame(served.crm_context, { city: 'Pune', _private: 'kept', city_code: 'Mock', balance: 12 });
  t.match(await calls.get('campaign-0001'), {
    campaign_id: 'cmp_1',
    campaign_call_id: 'cc_1',
    attempt: 2,
    run_number: 3,
    skip_post_push: true,
    connected_event: { city: 'Pune', _private: 'kept' },
  });
});

t.test('R55 R85 a campaign session that is taken is refused, with what has it', async (t) => {
  const event = { _campaign_session_id: 'campaign-0002' };
  t.equal((await config(event)).session_id, 'campaign-0002');
  const refusal = { status: 409, code: 'session_in_use' };
  t.match(await config(event), { ...refusal, detail: /campaign-0002 is in use: .*just beginning/ });
  await postResults(run, testResults('campaign-0002'));
  t.match(await config(event), { ...refusal, detail: /campaign-0002 is in use: .*has its results/ });
  t.match(await calls.get('campaign-0002'), { status: 'completed' });
});

t.test('R85 an id that can be no session is refused by its name', async (t) => {
  for (const id of ['', 'run 7', 'a/b', 'é', 'x'.repeat(201), 7, { id: 1 }, 'agent:desk-1']) {
    const shown = JSON.stringify(id).slice(0, 60);
    const answer = await config({ _campaign_session_id: id });
    t.match(answer, { status: 422, code: 'validation_error' }, shown);
    t.ok(String((answer as unknown as { detail: string }).detail).includes(shown), shown);
  }
  t.match((await config({ _campaign_session_id: null })).session_id, UUID, 'null names none');
});

t.test('an unknown bot answers 404 with a problem and its request id', async (t) => {
  for (const id of ['nobody', 'a'.repeat(65), '%2e%2e', 'demo%00']) {
    const answer = await fetch(run.url(`/api/v1/config/${id}`), {
      headers: { 'x-request-id': 'my-request-1' },
    });
    t.equal(answer.status, 404, id);
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
    t.equal(answer.headers.get('x-request-id'), 'my-request-1');
    t.match(await answer.json(), {
      status: 404,
      code: 'not_found',
      request_id: 'my-request-1',
      detail: String,
    });
  }
});

t.test('with a secret configured, the config needs exactly that secret', async (t) => {
  const guarded = await runControl({ CORE_SECRET: 'correct horse battery staple' });
  t.teardown(() => guarded.stop());
  const ask = (headers: Record<string, string>) => fetch(guarded.url('/api/v1/config/demo'), { headers });
  for (const secret of ['', 'wrong', 'correct horse battery stapl', 'correct horse battery staple2']) {
    const answer = await ask(secret === '' ? {} : { 'x-core-secret': secret });
    t.equal(answer.status, 403);
    t.match(await answer.json(), { code: 'forbidden' });
  }
  t.strictSame(
    (await createCallRecordStore(guarded.store).list({ limit: 9 })).rows,
    [],
    'no record was made',
  );
  t.equal((await ask({ 'x-core-secret': 'correct horse battery staple' })).status, 200);
});

t.test('without a secret, what comes through a proxy or under a foreign host name is refused', async (t) => {
  const forwarded = await fetch(run.url('/api/v1/config/clinic'), {
    headers: { 'x-forwarded-for': '10.1.1.1' },
  });
  t.equal(forwarded.status, 403);
  t.match(await forwarded.json(), { detail: /CORE_SECRET/ });
  const { status } = await rawGet(
    run.control.port,
    'GET /api/v1/config/clinic HTTP/1.1\r\nHost: evil.example\r\n',
  );
  t.equal(status, 403);
  const local = await rawGet(run.control.port, 'GET /api/v1/config/clinic HTTP/1.1\r\nHost: localhost:1\r\n');
  t.equal(local.status, 200);
});

t.test('R38 an unknown time zone of a bot means UTC', async (t) => {
  await createBotStore(run.store).put(testBot({ bot_id: 'lost', timezone: 'Mars/Olympus' }));
  const answer = await fetch(run.url('/api/v1/config/lost'));
  t.match(await answer.json(), { timezone: 'UTC', system_prompt: /today is 2026-03-01/ });
});

t.test('a config takes a connected message of many custom fields', async (t) => {
  const event = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field_${i}`, 'v'.repeat(100)]));
  const served = await config(event);
  t.strictSame(served.call_context, event);
});

t.test('an empty store gets the bot demo, which can be called at once', async (t) => {
  const answer = await fetch(run.url('/api/v1/config/demo'));
  t.equal(answer.status, 200);
  const served = await answer.json();
  t.ok(schema.Check(served), JSON.stringify(schema.Errors(served)));
});

async function rawGet(port: number, head: string): Promise<{ status: number }> {
  const { connect } = await import('node:net');
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}\r\n`));
    socket.on('data', (data) => {
      resolve({ status: Number(data.toString('latin1').split(' ')[1]) });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}
