import t from 'tap';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { createCampaignStore } from '../../src/control/campaigns/campaign-store.ts';
import { postResults, runControl, testResults } from '../harness/control.ts';

const run = await runControl();
t.teardown(() => run.stop());

async function openCall(): Promise<string> {
  const config = await (await fetch(run.url('/api/v1/config/demo'))).json();
  return (config as { session_id: string }).session_id;
}

t.test('R94 the record of a call holds what was made of it after the call', async (t) => {
  const session = await openCall();
  const answer = await postResults(
    run,
    testResults(session, {
      post_call_analysis: { disposition: 'Paid', summary: 'Has paid.', sentiment: 'calm', extra: { a: 1 } },
      qc: { score: 4.5, flags: ['polite'], result: { score: 4.5, flags: ['polite'], greeting: true } },
      callback: {
        requested: true,
        at: '2026-03-03T12:30:00.000Z',
        timezone: 'Asia/Kolkata',
        job_id: null,
        reason: 'asked for it',
      },
    }),
  );
  t.equal(answer.status, 200);
  t.match(await createCallRecordStore(run.store).get(session), {
    status: 'completed',
    disposition: 'Paid',
    summary: 'Has paid.',
    sentiment: 'calm',
    post_call_analysis: { extra: { a: 1 } },
    qc: { score: 4.5, result: { greeting: true } },
    callback: { requested: true, at: '2026-03-03T12:30:00.000Z' },
    results_extra: {},
  });
});

t.test('results of a worker that knows of neither are taken as before', async (t) => {
  const session = await openCall();
  t.equal((await postResults(run, testResults(session))).status, 200);
  t.match(await createCallRecordStore(run.store).get(session), {
    qc: null,
    callback: null,
    post_call_analysis: {},
  });
});

t.test(
  'a wish to be called back is kept for the contact of the campaign, and a repeat changes nothing',
  async (t) => {
    const event = JSON.stringify({ _campaign_id: 'cmp_1', _campaign_call_id: 'ctc_1', _campaign_attempt: 1 });
    const url = run.url(`/api/v1/config/demo?connected_event=${encodeURIComponent(event)}`);
    const session = ((await (await fetch(url)).json()) as { session_id: string }).session_id;
    const results = testResults(session, {
      post_call_analysis: { summary: 'Wants a call.' },
      callback: {
        requested: true,
        at: '2026-03-03T12:30:00.000Z',
        timezone: 'Asia/Kolkata',
        job_id: null,
        reason: 'after lunch',
      },
    });
    for (const status of ['ok', 'duplicate']) {
      t.match(await (await postResults(run, results)).json(), { status });
      t.match(await createCampaignStore(run.store).callback('cmp_1', 'ctc_1'), {
        at: '2026-03-03T12:30:00.000Z',
        timezone: 'Asia/Kolkata',
        note: 'after lunch',
        previous_session_id: session,
        previous_summary: 'Wants a call.',
      });
    }
  },
);

t.test(
  'R79 a callback ends with the call that reached its contact, and not with one that did not',
  async (t) => {
    const campaigns = createCampaignStore(run.store);
    const open = async () => {
      const event = JSON.stringify({ _campaign_id: 'cmp_1', _campaign_call_id: 'ctc_2' });
      const answer = await fetch(run.url(`/api/v1/config/demo?connected_event=${encodeURIComponent(event)}`));
      return (await answer.json()) as { session_id: string; call_context: Record<string, unknown> };
    };
    const wish = {
      requested: true,
      at: '2026-03-03T12:30:00.000Z',
      timezone: 'UTC',
      job_id: null,
      reason: 'x',
    };
    const first = await open();
    await postResults(run, testResults(first.session_id, { raw_duration_seconds: 0, callback: wish }));
    const missed = await open();
    t.match(missed.call_context, { callback_at: wish.at, callback_note: 'x' });
    await postResults(run, testResults(missed.session_id, { disconnected_by: 'no_answer' }));
    const reached = await open();
    t.match(reached.call_context, { callback_at: wish.at }, 'nobody was reached, so it stands');
    const results = testResults(reached.session_id);
    await postResults(run, results);
    t.equal(await campaigns.callback('cmp_1', 'ctc_2'), null);
    t.notOk('callback_at' in (await open()).call_context);

    await campaigns.setCallback('cmp_1', 'ctc_2', {
      requested_at: '2999-01-01T00:00:00.000Z',
      at: null,
      timezone: null,
      note: 'later',
      previous_session_id: null,
      previous_summary: null,
    });
    t.match(await (await postResults(run, results)).json(), { status: 'duplicate' });
    t.match(await campaigns.callback('cmp_1', 'ctc_2'), { note: 'later' }, 'a younger wish is another one');
  },
);
