import t from 'tap';
import { ERRORS } from '../../../src/contracts/error-catalogue.ts';
import { openCall } from '../../../src/control/runtime-config/resolve-config.ts';
import { configHarness } from '../../harness/config-harness.ts';
import { testBot } from '../../harness/control.ts';

/** The clock of the harness shows Monday 12:00 in Kolkata. */
const CALLER = '+911234567890';
const CLOSED = { enabled: true, start_time: '18:00', end_time: '20:00' };
const PREFETCH = { enabled: true, url: 'https://crm.example.com/' };

t.test('R146 R147 outside the hours nothing is asked, and the sentence begins as promised', async (t) => {
  let asked = 0;
  const harness = configHarness(t, {
    prefetch: async () => {
      asked++;
      throw new Error('asked');
    },
  });
  const refused = await harness
    .call({ active_hours: CLOSED, crm_prefetch: PREFETCH })
    .catch((error) => error);
  t.match(refused, { code: 'outside_active_hours', message: /^outside_active_hours: bot clinic .*12:00/ });
  t.equal(ERRORS[refused.code as keyof typeof ERRORS].status, 503);
  t.equal(refused.details.retryAfterSeconds, 6 * 3600, 'until 18:00');
  t.equal(asked, 0, 'the CRM was not asked');
});

t.test('R100 R146 a refused call leaves a not_connected record, with its campaign', async (t) => {
  const harness = configHarness(t);
  const event = { _campaign_session_id: 'run-1', _campaign_id: 'cmp_1', name: 'Asha' };
  await t.rejects(harness.call({ active_hours: CLOSED }, event, CALLER), { code: 'outside_active_hours' });
  t.match(await harness.calls.get('run-1'), {
    status: 'not_connected',
    disconnected_by: 'outside_hours',
    bot_id: 'clinic',
    caller_id: CALLER,
    campaign_id: 'cmp_1',
    connected_event: { name: 'Asha' },
  });
});

t.test('R146 within the hours the call goes on', async (t) => {
  const harness = configHarness(t);
  const open = { enabled: true, start_time: '12:00', end_time: '12:01' };
  t.match(await harness.call({ active_hours: open }), { bot_id: 'clinic' });
  harness.clock.wallIso = '2026-03-02T06:31:00.000Z';
  await t.rejects(harness.open('clinic'), { code: 'outside_active_hours' });
});

t.test('R147 a bot that does not exist, was never published or has no proper id is not found', async (t) => {
  const harness = configHarness(t);
  for (const id of ['nobody', '', '../demo', 'a'.repeat(65)])
    await t.rejects(harness.open(id), { code: 'not_found' });
  const { bot_id, created_at, updated_at, ...draft } = testBot();
  await harness.bots.create('draft-only', { content: draft }, { nowIso: created_at, by: null });
  await t.rejects(harness.open('draft-only'), { code: 'not_found' });
  t.strictSame((await harness.records.list({ limit: 9 })).rows, [], 'and no record is made');
});

t.test('R143 R144 without its query fields a call is opened all the same', async (t) => {
  const harness = configHarness(t);
  const served = await harness.call({}, '{broken');
  t.strictSame(served.call_context, {});
  t.match(await harness.calls.get(served.session_id), { connected_event: {} });
});

t.test('R145 R43 the active record holds what the call brought and what was found out', async (t) => {
  const entry = {
    kind: 'prefetch' as const,
    at: '2026-03-02T06:30:00.000Z',
    url_host: 'crm.example.com',
    status: 200,
    ms: 12,
    attempt: 1,
    error: null,
  };
  const harness = configHarness(t, { prefetch: async () => ({ data: { plan: 'gold' }, entry }) });
  const served = await harness.call(
    { crm_prefetch: PREFETCH, sip_header_config: { headers: [{ header: 'X-Branch' }] } },
    {
      city: 'Pune',
      to_number: '+9122',
      _skip_post_push: 'true',
      _campaign_id: 'cmp_1',
      _campaign_call_id: 'ctc_1',
      _campaign_attempt: 2,
      _campaign_run_number: 1,
      sip_candidate_headers: { 'x-branch': 'west' },
    },
    CALLER,
  );
  t.match(await harness.calls.get(served.session_id), {
    status: 'active',
    bot_id: 'clinic',
    stream_id: 'stream-1',
    caller_id: CALLER,
    to_number: '+9122',
    connected_event: { city: 'Pune', to_number: '+9122' },
    sip_context: { branch: 'west' },
    crm_data: { city: 'Pune', to_number: '+9122', plan: 'gold' },
    integration_log: [entry],
    skip_post_push: true,
    campaign_id: 'cmp_1',
    campaign_call_id: 'ctc_1',
    attempt: 2,
    run_number: 1,
  });
});

t.test('a slot that has gone away while the CRM was asked leaves no record of a call', async (t) => {
  const gone = new AbortController();
  const harness = configHarness(t, {
    prefetch: async () => {
      gone.abort();
      return {
        data: {},
        entry: {
          kind: 'prefetch',
          at: '',
          url_host: null,
          status: null,
          ms: 0,
          attempt: 1,
          error: 'aborted',
        },
      };
    },
  });
  await harness.bots.put(testBot({ crm_prefetch: PREFETCH }));
  const { signal } = gone;
  const request = { botId: 'clinic', callerId: '', streamId: '', connectedEvent: null, signal };
  await t.rejects(openCall(harness.parts, request), { code: 'bad_request' });
  t.strictSame((await harness.records.list({ limit: 9 })).rows, []);
});
