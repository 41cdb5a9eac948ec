import t, { type Test } from 'tap';
import { testBot, testResults } from '../../harness/control.ts';
import { openScriptedHost } from '../../harness/fleet-port.ts';
import { FLEET_SECRET, type SettingsPlane, startPlane } from '../../harness/settings-harness.ts';

async function placedCall(t: Test) {
  const host = await openScriptedHost();
  t.teardown(() => host.close());
  const seeds = { sip_outbound_trunk_id: 'ST_trunk', sip_default_from: '+911140000000' };
  const plane = await startPlane({ seeds, fleetUrls: () => [host.url] });
  t.teardown(() => plane.stop());
  await plane.bots.put(testBot());
  const placed = await plane.call('POST', '/api/v1/calls', {
    body: { bot_id: 'clinic', to_number: '+911140001234' },
    headers: plane.as('dialler'),
  });
  const cancel = (who: string, callId = placed.json.call_id) =>
    plane.call('POST', `/api/v1/calls/${callId}/cancel`, { headers: plane.as(who) });
  return { host, plane, placed: placed.json, cancel };
}

t.test('a call that rings or talks is ended at the host that has it', async (t) => {
  const { host, cancel, placed } = await placedCall(t);
  const answer = await cancel('dialler');
  t.match(answer, { status: 200, json: { call_id: placed.call_id, session_id: placed.session_id } });
  t.same(host.hungUp, [placed.call_id]);
  t.equal(host.secrets.at(-1), FLEET_SECRET);
  t.equal((await cancel('admin')).status, 200, 'once more is no error');
  host.hangupAnswer = { status: 404, json: { error: 'Not found', code: 'not_found' } };
  t.equal((await cancel('supervisor')).status, 200, 'a call that the host no longer knows is over');
});

t.test('a key ends its own calls only, and others do not learn that they exist', async (t) => {
  const { host, cancel } = await placedCall(t);
  t.equal((await cancel('other-dialler')).status, 404);
  t.equal((await cancel('reader')).status, 403, 'reading calls is not ending them');
  t.equal((await cancel('agent')).status, 403);
  t.equal((await cancel('dialler', 'nosuch')).status, 404);
  t.same(host.hungUp, []);
});

t.test('a host that does not end the call is said so, and trying again is safe', async (t) => {
  const { host, cancel } = await placedCall(t);
  for (const status of [403, 500, 502]) {
    host.hangupAnswer = { status, json: {} };
    const answer = await cancel('dialler');
    t.match(answer, { status: 503, json: { code: 'no_fleet' } }, String(status));
    t.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  await host.close();
  t.match(await cancel('dialler'), { status: 503, json: { code: 'no_fleet' } });
});

t.test('a call whose results are there is not asked for any more', async (t) => {
  const { host, plane, placed, cancel } = await placedCall(t);
  await recordOf(plane, placed.session_id);
  const answer = await cancel('dialler');
  t.match(answer, { status: 200, json: { status: 'completed', disconnected_by: 'customer' } });
  t.same(host.hungUp, []);
});

async function recordOf(plane: SettingsPlane, sessionId: string): Promise<void> {
  const now = '2026-03-02T12:00:00.000Z';
  await plane.calls.insertActive({
    session_id: sessionId,
    bot_id: 'clinic',
    bot_name: 'Clinic',
    call_type: 'bot',
    stream_id: '',
    caller_id: '+911140001234',
    from_number: null,
    call_direction: 'outbound',
    timezone: 'UTC',
    created_at: now,
    connected_event: {},
    sip_context: {},
    crm_data: {},
    integration_log: [],
    campaign: null,
    skip_post_push: false,
  });
  await plane.calls.complete(testResults(sessionId), now);
}
