import t from 'tap';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { postResults, type RunningControl, runControl, testBot, testResults } from '../harness/control.ts';

const run = await runControl();
await createBotStore(run.store).put(testBot());
const calls = createCallRecordStore(run.store);
t.teardown(() => run.stop());

async function openSession(on: RunningControl = run, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(on.url('/api/v1/config/demo'), { headers });
  return ((await answer.json()) as { session_id: string }).session_id;
}

t.test('R44 R151 results complete the record before the 200, and a repeat is a duplicate', async (t) => {
  const session = await openSession();
  const first = await postResults(run, testResults(session));
  t.equal(first.status, 200);
  t.strictSame(await first.json(), { status: 'ok' });
  t.match(await calls.get(session), { status: 'completed', disconnected_by: 'customer' });
  const again = await postResults(run, testResults(session));
  t.equal(again.status, 200);
  t.strictSame(await again.json(), { status: 'duplicate' });
  const different = await postResults(run, testResults(session, { disconnected_by: 'error' }));
  t.strictSame(await different.json(), { status: 'duplicate' });
  t.match(await calls.get(session), { status: 'completed' }, 'the first results stay');
});

t.test(
  'what the results carry stands in the record, and nothing in them can pass for a field of it',
  async (t) => {
    const session = await openSession();
    const results = testResults(session, {
      recording_url: 'http://127.0.0.1/x.wav',
      recording_key: 'x.wav',
      was_transferred: true,
      transfer_destination: '+9122',
      events: [{ event: 'disconnected', ts: 12.5, by: 'customer', nested: { kept: true } }],
    });
    const foreign = { status: 'active', created_at: 'never', schema_version: 9, vendor: { kept: true } };
    await postResults(run, { ...results, ...foreign, bot_id: 'other' });
    const record = await calls.get(session);
    t.match(record, results);
    t.match(record, { status: 'completed', schema_version: 2, bot_id: 'demo', created_at: /^2/ });
    t.strictSame(record?.results_extra, foreign);
  },
);

t.test('results of an unknown session are acknowledged and kept as an orphan', async (t) => {
  const answer = await postResults(run, testResults('never-opened'));
  t.equal(answer.status, 200);
  t.strictSame(await answer.json(), { status: 'orphan' });
  t.match(await calls.listOrphans(1), [{ session_id: 'never-opened' }]);
});

t.test('a body that does not fit is refused with the place of every mistake', async (t) => {
  const { transcript: _, ...incomplete } = testResults('x');
  const answer = await postResults(run, {
    ...incomplete,
    call_duration_seconds: 'long',
    disconnected_by: 'nobody',
  });
  t.equal(answer.status, 422);
  const problem = (await answer.json()) as { code: string; errors: { pointer: string }[] };
  t.equal(problem.code, 'validation_error');
  const pointers = problem.errors.map((mistake) => mistake.pointer);
  t.ok(pointers.includes('/call_duration_seconds'));
  t.ok(pointers.includes('/disconnected_by'));
  t.notMatch(JSON.stringify(problem), /nobody|long/, 'values may be personal and are not repeated');

  for (const value of [null, [], 'text', 7, {}]) t.equal((await postResults(run, value)).status, 422);
});

t.test('a body that is no JSON, and one of another type, are told apart from a wrong one', async (t) => {
  const post = (body: string, type: string) =>
    fetch(run.url('/api/v1/call-results'), { method: 'POST', headers: { 'content-type': type }, body });
  t.equal((await post('{', 'application/json')).status, 400);
  t.equal((await post('', 'application/json')).status, 400);
  t.equal((await post('{}', 'text/plain')).status, 415);
  t.equal((await post('{}', 'application/vnd.x+json; charset=utf-8')).status, 422);
});

t.test('results over 8 MB are refused with 413 and the plane goes on', async (t) => {
  const session = await openSession();
  const text = 'x'.repeat(8 * 1_048_576);
  const answer = await postResults(
    run,
    testResults(session, { transcript: [{ speaker: 'bot', text, timestamp: 0 }] }),
  );
  t.equal(answer.status, 413);
  t.match(await calls.get(session), { status: 'active' });
  t.equal((await postResults(run, testResults(session))).status, 200);
});

t.test(
  'R151 unsigned results are taken for a session of this plane, and refused where STRICT_RESULTS is set',
  async (t) => {
    const secret = { CORE_SECRET: 'correct horse battery staple' };
    const signed = { 'x-core-secret': secret.CORE_SECRET };
    const relaxed = await runControl(secret);
    const strict = await runControl({ ...secret, STRICT_RESULTS: '1' });
    t.teardown(async () => {
      await relaxed.stop();
      await strict.stop();
    });
    const relaxedSession = await openSession(relaxed, signed);
    t.equal((await postResults(relaxed, testResults(relaxedSession))).status, 200);
    const strictSession = await openSession(strict, signed);
    t.equal((await postResults(strict, testResults(strictSession))).status, 403);
    t.match(await createCallRecordStore(strict.store).get(strictSession), { status: 'active' });
    t.equal((await postResults(strict, testResults(strictSession), signed)).status, 200);
  },
);

t.test('STRICT_RESULTS without a secret stops the start with a sentence', async (t) => {
  await t.rejects(runControl({ STRICT_RESULTS: '1' }), { code: 'bad_setting', message: /CORE_SECRET/ });
});
