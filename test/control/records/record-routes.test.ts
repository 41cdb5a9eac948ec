import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testResults } from '../../harness/control.ts';
import { runRecords } from '../../harness/records-harness.ts';
import { activeCall, at } from '../call-store-conformance.ts';

const run = await runRecords();
t.teardown(() => run.stop());

let minute = 0;
async function endedCall(
  id: string,
  change: Parameters<typeof testResults>[1] = {},
  call: Partial<ReturnType<typeof activeCall>> = {},
): Promise<string> {
  await run.calls.insertActive({ ...activeCall(id, at(minute++)), ...call });
  await run.calls.complete(testResults(id, change), at(minute));
  return id;
}

interface Page {
  items: Record<string, unknown>[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
  total_capped?: boolean;
}
const list = async (query: string, as = 'core'): Promise<Page> =>
  (await (await run.ask(as, `/call-records?${query}`)).json()) as Page;
const ids = (page: Page) => page.items.map((item) => item.session_id);

t.test('R43 R44 the list takes every filter of the interface, sorted and counted', async (t) => {
  await endedCall('f1', { disconnected_by: 'error' }, { bot_id: 'one' });
  await endedCall('f2', { call_direction: 'outbound', call_duration_seconds: 90 }, { bot_id: 'one' });
  await endedCall('f3', { caller_id: '+442071234567', post_call_analysis: { disposition: 'Sold' } });
  await run.ask('core', '/call-records/f3', { method: 'PATCH', body: JSON.stringify({ tags: ['vip'] }) });
  t.strictSame(ids(await list('bot_id=one')), ['f2', 'f1']);
  t.strictSame(ids(await list('bot_id=one&bot_id=clinic&sort=created_at')), ['f1', 'f2', 'f3']);
  t.strictSame(ids(await list('status=failed')), ['f1']);
  t.strictSame(ids(await list('disconnected_by=error&bot_id=one')), ['f1']);
  t.strictSame(ids(await list('direction=outbound')), ['f2']);
  t.strictSame(ids(await list('disposition=Sold')), ['f3']);
  t.strictSame(ids(await list('caller=%2B442071234567')), ['f3']);
  t.strictSame(ids(await list('tag=vip')), ['f3']);
  t.strictSame(ids(await list('min_duration=60&max_duration=100')), ['f2']);
  t.strictSame(ids(await list(`created_from=${at(1)}&created_to=${at(2)}`)), ['f2']);
  t.strictSame(ids(await list('created_from=2026-03-01T17:31:00%2B05:30')), ['f3', 'f2'], 'any time zone');
  t.match(await list('include_total=true&bot_id=one&limit=1'), {
    total: 2,
    total_capped: false,
    has_more: true,
  });
  t.strictSame((await list('fields=session_id,status&bot_id=one&limit=1')).items, [
    { session_id: 'f2', status: 'completed' },
  ]);
  for (const wrong of [
    'status=gone',
    'direction=up',
    'sort=status',
    'fields=transcript',
    'created_from=yesterday',
    'created_from=2026-02-30T00:00:00Z',
    'min_duration=-1',
    'limit=201',
    'include_total=yes',
    'cursor=W10',
    'cursor=Wzd9',
    'unknown=1',
    Array.from({ length: 11 }, (_, i) => `bot_id=${i}`).join('&'),
  ]) {
    const answer = await run.ask('core', `/call-records?${wrong}`);
    t.equal(answer.status, 422, wrong);
    t.match(await answer.json(), { code: 'validation_error' });
  }
});

t.test('pages go on while calls arrive, without a gap and without a call shown twice', async (t) => {
  for (let i = 0; i < 9; i++) await endedCall(`p${i}`, {}, { bot_id: 'paged' });
  const seen: unknown[] = [];
  let cursor = '';
  do {
    const page = await list(`bot_id=paged&limit=4${cursor}`);
    seen.push(...ids(page));
    await endedCall(`late${seen.length}`, {}, { bot_id: 'paged' });
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  t.strictSame(seen, ['p8', 'p7', 'p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0']);
});

t.test('each role sees what it may', async (t) => {
  const session = await endedCall(
    'roles',
    { transcript: [{ speaker: 'customer', text: 'call me on 98765 43210', timestamp: 1 }] },
    { connected_event: { phone: '09876543210', id: '98765432101' } },
  );
  for (const as of ['admin', 'supervisor', 'reader', 'core']) {
    t.match(await (await run.ask(as, `/call-records/${session}`)).json(), { caller_id: '+911234567890' }, as);
  }
  const masked = await (await run.ask('analyst', `/call-records/${session}`)).text();
  t.notMatch(masked, /1234567890|98765|9876543210/);
  t.match(JSON.parse(masked), { caller_id: '*********7890', session_id: session, created_at: /^2026/ });
  t.notMatch(JSON.stringify(await list('bot_id=clinic', 'analyst')), /911234567/);
  t.equal((await run.ask('analyst', '/call-records?caller=%2B911234567890')).status, 403);
  t.notMatch(await (await run.ask('analyst', `/call-records/${session}/transcript.txt`)).text(), /43210 *$/);
  t.equal((await run.ask('analyst', `/call-records/${session}/recording`)).status, 403);
  t.equal((await run.ask('dialler', `/call-records/${session}`)).status, 403, 'a key needs the scope');
  t.equal((await run.ask('nobody', `/call-records/${session}`)).status, 403);
  t.equal((await run.ask('agent-1', `/call-records/${session}`)).status, 404, 'agents see their own calls');
  t.strictSame((await list('limit=5', 'agent-1')).items, []);
  for (const as of ['analyst', 'reader']) {
    const edit = await run.ask(as, `/call-records/${session}`, { method: 'PATCH', body: '{"tags":[]}' });
    t.equal(edit.status, 403, as);
  }
  t.equal((await run.ask('supervisor', `/call-records/${session}`, { method: 'DELETE' })).status, 403);
});

t.test('agents read and change their own desk calls, and find no others', async (t) => {
  const call = (parent: string, agent: string) => ({
    ...activeCall(parent),
    parent_call_id: parent,
    known: { disconnected_by: 'agent' as const, agent: { id: agent, name: agent } },
  });
  const { record } = await run.calls.upsertAgentCall(call('desk-1', 'agent-1'), at(0));
  const other = await run.calls.upsertAgentCall(call('desk-2', 'agent-2'), at(0));
  t.strictSame(ids(await list('', 'agent-1')), [record.session_id]);
  t.strictSame(ids(await list('bot_id=clinic&include_total=true', 'agent-2')), [other.record.session_id]);
  const path = `/call-records/${encodeURIComponent(record.session_id)}`;
  const body = '{"disposition":"Callback"}';
  t.equal((await run.ask('agent-1', path)).status, 200);
  t.equal((await run.ask('agent-1', path, { method: 'PATCH', body })).status, 200);
  t.equal((await run.ask('agent-2', path)).status, 404);
  t.equal((await run.ask('agent-2', path, { method: 'PATCH', body })).status, 404);
});

t.test('tags and disposition are changed by version', async (t) => {
  const session = await endedCall('edited');
  const path = `/call-records/${session}`;
  const etag = (await run.ask('supervisor', path)).headers.get('etag') ?? '';
  const patch = (body: object, headers = {}) =>
    run.ask('supervisor', path, { method: 'PATCH', body: JSON.stringify(body), headers });
  const first = await patch({ tags: ['refund'], disposition: 'Resolved' }, { 'if-match': etag });
  t.equal(first.status, 200);
  t.not(first.headers.get('etag'), etag);
  t.match(await first.json(), { tags: ['refund'], disposition: 'Resolved' });
  const stale = await patch({ tags: [] }, { 'if-match': etag });
  t.equal(stale.status, 412);
  t.match(await stale.json(), { code: 'version_mismatch' });
  t.match(await (await patch({ disposition: null })).json(), { tags: ['refund'], disposition: null });
  for (const wrong of [
    {},
    { tags: 'x' },
    { tags: ['a', 'a'] },
    { tags: [''] },
    { status: 'lost' },
    { disposition: '' },
  ]) {
    t.equal((await patch(wrong)).status, 422, JSON.stringify(wrong));
  }
  t.equal(
    (await run.ask('admin', '/call-records/none', { method: 'PATCH', body: '{"tags":[]}' })).status,
    404,
  );
});

t.test('a transcript is served as text, WebVTT and data', async (t) => {
  const session = await endedCall('spoken', {
    transcript: [
      { speaker: 'bot', text: 'Namaste', timestamp: 0.4 },
      { speaker: 'customer', text: 'one\n\n<b> & two --> three', timestamp: 62.25 },
    ],
    call_duration_seconds: 63,
  });
  const get = (ending: string) => run.ask('reader', `/call-records/${session}/transcript.${ending}`);
  const txt = await get('txt');
  t.equal(txt.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.equal(await txt.text(), '[0:00] Bot: Namaste\n[1:02] Customer: one <b> & two --> three\n');
  const vtt = await get('vtt');
  t.equal(vtt.headers.get('content-type'), 'text/vtt; charset=utf-8');
  t.equal(
    await vtt.text(),
    [
      'WEBVTT\n',
      '1\n00:00:00.400 --> 00:00:01.400\n<v Bot>Namaste\n',
      '2\n00:01:02.250 --> 00:01:03.000\n<v Customer>one &lt;b&gt; &amp; two --&gt; three\n',
    ].join('\n'),
  );
  t.match(await (await get('json')).json(), { session_id: session, entries: [{ speaker: 'bot' }, {}] });
  await run.calls.insertActive(activeCall('silent'));
  t.equal((await run.ask('reader', '/call-records/silent/transcript.txt')).status, 404);
});

t.test(
  'a deletion takes the person out of the record, removes the recording and leaves a receipt',
  async (t) => {
    const file = join(run.recordingsFolder, '2026', 'gone.wav');
    mkdirSync(join(run.recordingsFolder, '2026'), { recursive: true });
    writeFileSync(file, 'RIFF');
    const session = await endedCall('gone', {
      recording_key: '2026/gone.wav',
      post_call_analysis: { summary: 'Asha asked for a refund' },
      events: [{ event: 'dtmf', ts: 1, digits: '4711' }],
      vendor: { note: 'Asha' },
    } as object);
    const path = `/call-records/${session}`;
    const deleted = await run.ask('admin', path, { method: 'DELETE' });
    t.equal(deleted.status, 200);
    const receipt = (await deleted.json()) as { receipt_id: string };
    t.match(receipt, {
      session_id: session,
      recording: 'removed',
      deleted_by: { type: 'user', id: 'admin' },
    });
    t.equal(existsSync(file), false);
    const left = await (await run.ask('admin', path)).text();
    t.notMatch(left, /Asha|4711|1234567890|Namaste|Pune|gone\.wav/);
    t.match(JSON.parse(left), { status: 'completed', deleted_at: String, call_duration_seconds: 12.5 });
    t.equal((await run.ask('admin', `${path}/recording`)).status, 404);
    t.equal((await run.ask('admin', `${path}/transcript.txt`)).status, 404);
    t.strictSame(ids(await list('limit=200')).includes(session), false);
    t.match(
      await (await run.ask('admin', path, { method: 'DELETE' })).json(),
      receipt,
      'a repeat changes nothing',
    );
    t.match(await (await run.ask('supervisor', `${path}/deletion-receipt`)).json(), receipt);
    t.equal((await run.ask('admin', '/call-records/f1/deletion-receipt')).status, 404);
    writeFileSync(file, 'RIFF');
    writeFileSync(file, 'RIFF');
    const late = await run.ask('core', '/call-results', {
      method: 'POST',
      body: JSON.stringify(testResults(session, { recording_key: '2026/gone.wav' })),
    });
    t.strictSame(await late.json(), { status: 'duplicate' });
    t.notOk(existsSync(file), 'a recording that comes late goes too');
    t.notMatch(JSON.stringify(await run.calls.get(session)), /Namaste/, 'late results do not bring it back');
  },
);

t.test(
  'a deletion waits for the end of the call, and spares a recording that another call names',
  async (t) => {
    await run.calls.insertActive(activeCall('open'));
    const refused = await run.ask('admin', '/call-records/open', { method: 'DELETE' });
    t.equal(refused.status, 409);
    t.match(await refused.json(), { code: 'conflict' });
    t.equal((await run.ask('admin', '/call-records/none', { method: 'DELETE' })).status, 404);
    const file = join(run.recordingsFolder, 'shared.wav');
    writeFileSync(file, 'RIFF');
    await endedCall('own', { recording_key: 'shared.wav' });
    await endedCall('borrowed', { recording_key: 'shared.wav' });
    const first = await run.ask('admin', '/call-records/borrowed', { method: 'DELETE' });
    t.match(await first.json(), { recording: 'kept_for_another_call' });
    t.ok(existsSync(file));
    const second = await run.ask('admin', '/call-records/own', { method: 'DELETE' });
    t.match(await second.json(), { recording: 'removed' });
    t.notOk(existsSync(file));
  },
);

t.test('who looks into a record, plays it, changes or deletes it is in the audit log', async (t) => {
  const before = (await run.audit.list({ limit: 100 })).items.length;
  const session = await endedCall('watched');
  await run.ask('analyst', `/call-records/${session}`);
  await run.ask('reader', `/call-records/${session}/transcript.vtt`);
  await run.ask('core', `/call-records/${session}`);
  await run.ask('admin', `/call-records/${session}`, { method: 'PATCH', body: '{"tags":["x"]}' });
  await run.ask('admin', `/call-records/${session}`, { method: 'DELETE' });
  const { items } = await run.audit.list({ limit: 100 });
  t.strictSame(
    items.slice(0, items.length - before).map(({ actor, action }) => `${actor.id} ${action}`),
    [
      'admin call_record.delete',
      'admin call_record.update',
      'key_reader call_record.transcript',
      'analyst call_record.view',
    ],
    'the core reads for its own work',
  );
});

t.test(
  'signed results of a foreign session reach the socket call of their stream, unsigned ones do not',
  async (t) => {
    await run.calls.insertActive({
      ...activeCall('socket'),
      stream_id: 'their-stream',
      transport: 'websocket',
    });
    const body = JSON.stringify(testResults('their-session', { stream_id: 'their-stream' }));
    const post = (as: string) => run.ask(as, '/call-results', { method: 'POST', body });
    t.strictSame(await (await post('nobody')).json(), { status: 'orphan' });
    t.strictSame(await (await post('core')).json(), { status: 'ok' });
    t.strictSame(await (await post('core')).json(), { status: 'duplicate' });
    t.match(await run.calls.get('socket'), { status: 'completed' });
  },
);

t.test('the bot’s rules file a call by how it went, before the analysis and behind a person', async (t) => {
  const deliver = async (id: string, seconds: number) => {
    const analysis = { post_call_analysis: { disposition: 'Analysed' } };
    const results = testResults(id, { call_duration_seconds: seconds, ...analysis });
    await run.ask('core', '/call-results', { method: 'POST', body: JSON.stringify(results) });
    return run.calls.get(id);
  };
  for (const id of ['r1', 'r2', 'r3']) await run.calls.insertActive({ ...activeCall(id), bot_id: 'ruled' });
  await run.calls.edit('r3', { disposition: 'Said by hand' }, at(1), () => undefined);
  t.match(await deliver('r1', 5), { disposition: 'Dropped early', auto_disposition: 'Dropped early' });
  t.match(await deliver('r2', 50), { disposition: 'Analysed', auto_disposition: null });
  t.match(await deliver('r3', 5), { disposition: 'Said by hand', auto_disposition: 'Dropped early' });
});

t.test('nothing of the above failed on the server side', async (t) => {
  t.strictSame(run.failures, []);
});
