import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { wavHeader } from '../../src/platform/wav.ts';
import { postResults, runControl, testResults } from '../harness/control.ts';

let minute = 0;
const run = await runControl({}, () => new Date(Date.UTC(2026, 2, 1, 12, minute++)).toISOString());
t.teardown(() => run.stop());

async function endedCall(change: Parameters<typeof testResults>[1] = {}): Promise<string> {
  const answer = await fetch(run.url('/api/v1/config/demo'));
  const { session_id } = (await answer.json()) as { session_id: string };
  await postResults(run, testResults(session_id, change));
  return session_id;
}

const recording = Buffer.concat([
  wavHeader({ sampleRate: 8000, channels: 2 }, 400_000),
  Buffer.from(Uint8Array.from({ length: 400_000 }, (_, i) => (i * 31) & 255)),
]);

t.test('a record is read by its session, and an unknown session is a 404', async (t) => {
  const session = await endedCall();
  const answer = await fetch(run.url(`/api/v1/call-records/${session}`));
  t.equal(answer.status, 200);
  t.match(await answer.json(), {
    session_id: session,
    status: 'completed',
    stream_id: 'stream-1',
  });
  t.equal((await fetch(run.url('/api/v1/call-records/unknown'))).status, 404);
  t.equal((await fetch(run.url(`/api/v1/call-records/${'x'.repeat(5_000)}`))).status, 404);
});

t.test('the list is newest first and pages through all records without a gap', async (t) => {
  const sessions: string[] = [];
  for (let i = 0; i < 7; i++) sessions.unshift(await endedCall());
  const seen: string[] = [];
  let cursor = '';
  do {
    const answer = await fetch(run.url(`/api/v1/call-records?limit=3${cursor}`));
    const page = (await answer.json()) as {
      items: { session_id: string; transcript?: unknown }[];
      next_cursor: string | null;
      has_more: boolean;
    };
    t.ok(page.items.length <= 3);
    t.equal(page.has_more, page.next_cursor !== null);
    for (const item of page.items) t.equal(item.transcript, undefined, 'a list carries no transcripts');
    seen.push(...page.items.map((item) => item.session_id));
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  t.strictSame(seen.slice(0, 7), sessions);
  t.equal(new Set(seen).size, seen.length);
});

t.test('a wrong limit or cursor is refused with a sentence', async (t) => {
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'limit=-1', 'limit=', 'cursor=abc', 'cursor=']) {
    const answer = await fetch(run.url(`/api/v1/call-records?${query}`));
    t.equal(answer.status, 422, query);
    t.match(await answer.json(), { code: 'validation_error', errors: [{ loc: ['query', String] }] });
  }
});

t.test('R93 a recording is served as WAV, whole and in ranges', async (t) => {
  const key = '2026/03/call.wav';
  mkdirSync(dirname(join(run.recordingsFolder, key)), { recursive: true });
  writeFileSync(join(run.recordingsFolder, key), recording);
  const session = await endedCall({ recording_key: key });
  const path = run.url(`/api/v1/call-records/${session}/recording`);
  const whole = await fetch(path);
  t.equal(whole.status, 200);
  t.equal(whole.headers.get('content-type'), 'audio/wav');
  t.equal(whole.headers.get('accept-ranges'), 'bytes');
  t.ok(Buffer.from(await whole.arrayBuffer()).equals(recording));

  const size = recording.length;
  for (const [range, from, to] of [
    ['bytes=0-43', 0, 43],
    ['bytes=44-', 44, size - 1],
    ['bytes=-100', size - 100, size - 1],
    ['bytes=399999-99999999', 399_999, size - 1],
  ] as const) {
    const part = await fetch(path, { headers: { range } });
    t.equal(part.status, 206, range);
    t.equal(part.headers.get('content-range'), `bytes ${from}-${to}/${size}`);
    t.ok(Buffer.from(await part.arrayBuffer()).equals(recording.subarray(from, to + 1)));
  }
  for (const range of ['bytes=5-4', 'bytes=a-b', 'items=0-1', 'bytes=0-1,4-5', 'bytes=-']) {
    const all = await fetch(path, { headers: { range } });
    t.equal(all.status, 200, range);
    t.equal((await all.arrayBuffer()).byteLength, size);
  }
  const beyond = await fetch(path, { headers: { range: `bytes=${size}-` } });
  t.equal(beyond.status, 416);
  t.equal(beyond.headers.get('content-range'), `bytes */${size}`);
  const head = await fetch(path, { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), String(size));
});

t.test('a recording key that leads out of the folder, or to nothing, is no recording', async (t) => {
  writeFileSync(join(run.recordingsFolder, '..', 'outside.wav'), 'secret');
  for (const key of [
    '../outside.wav',
    '/etc/passwd',
    'a/../../outside.wav',
    '..',
    '.',
    '',
    'x\0.wav',
    'gone.wav',
    '..\\outside.wav',
  ]) {
    const session = await endedCall({ recording_key: key });
    const answer = await fetch(run.url(`/api/v1/call-records/${session}/recording`));
    t.equal(answer.status, 404, JSON.stringify(key));
    t.notMatch(await answer.text(), /secret|root:/);
  }
  const none = await endedCall();
  t.equal((await fetch(run.url(`/api/v1/call-records/${none}/recording`))).status, 404);
});

t.test('a link inside the recordings folder does not lead out of it', async (t) => {
  symlinkSync('/etc', join(run.recordingsFolder, 'link'));
  const session = await endedCall({ recording_key: 'link/passwd' });
  t.equal((await fetch(run.url(`/api/v1/call-records/${session}/recording`))).status, 404);
});

t.test('records and recordings need the secret where one is configured', async (t) => {
  const guarded = await runControl({ CORE_SECRET: 'correct horse battery staple' });
  t.teardown(() => guarded.stop());
  for (const path of ['/api/v1/call-records', '/api/v1/call-records/x', '/api/v1/call-records/x/recording']) {
    t.equal((await fetch(guarded.url(path))).status, 403, path);
    const known = await fetch(guarded.url(path), {
      headers: { 'x-core-secret': 'correct horse battery staple' },
    });
    t.not(known.status, 403, path);
  }
});

t.test('health says that the process is up, readiness that the store takes writes', async (t) => {
  const own = await runControl({ CORE_SECRET: 'correct horse battery staple' });
  t.match(await (await fetch(own.url('/healthz'))).json(), { status: 'ok' });
  t.match(await (await fetch(own.url('/readyz'))).json(), { status: 'ready' });
  await own.store.close();
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const unready = await fetch(own.url('/readyz'));
  t.equal(unready.status, 503);
  t.match(await unready.json(), { code: 'store_unavailable' });
  t.equal((await fetch(own.url('/healthz'))).status, 200);
  t.equal(
    (
      await fetch(own.url('/api/v1/config/demo'), {
        headers: { 'x-core-secret': 'correct horse battery staple' },
      })
    ).status,
    503,
  );
  await own.stop();
});
