import t, { type Test } from 'tap';
import type { ActiveCall } from '../../../src/control/calls/call-record.ts';
import { openSession } from '../../../src/control/runtime-config/open-session.ts';
import { configHarness } from '../../harness/config-harness.ts';
import { testResults } from '../../harness/control.ts';
import { activeCall } from '../call-store-conformance.ts';

/** Three quarters of a minute after `from`, in which a call on a socket is long open. */
const LATER = '2026-03-02T06:30:45.000Z';
const HOURS = { enabled: true, start_time: '18:00', end_time: '20:00' };
const SESSION = { _campaign_session_id: 'run-1' };
const ROOM = { ...SESSION, room_name: 'call-1', transport: 'rtc_sip' };

interface Known {
  live: Set<string>;
  owed: Set<string>;
}

function sessionsHarness(t: Test) {
  const known: { hosts: Known | null } = { hosts: { live: new Set(), owed: new Set() } };
  const harness = configHarness(t, { sessions: () => known.hosts });
  const refusal = async (event: unknown) => {
    const error = await harness.open('clinic', event).catch((cause: unknown) => cause);
    return (error as { code?: string; message: string }).code === 'session_in_use'
      ? (error as Error).message
      : JSON.stringify(error);
  };
  return { ...harness, harness, known, refusal };
}

t.test(
  'R55 R85 after a refusal outside the hours the retry has the same session, and both a record',
  async (t) => {
    const { harness, records, clock } = sessionsHarness(t);
    await t.rejects(harness.call({ active_hours: HOURS }, SESSION), { code: 'outside_active_hours' });
    await t.rejects(harness.open('clinic', SESSION), { code: 'outside_active_hours' });
    clock.wallIso = '2026-03-02T12:31:00.000Z';
    t.equal((await harness.open('clinic', SESSION)).session_id, 'run-1');
    t.match(await records.get('run-1'), { status: 'active', disconnected_by: null });
    const { rows } = await records.list({ limit: 9 });
    t.same(
      rows.map(({ status }) => status),
      ['active', 'not_connected', 'not_connected'],
    );
    t.equal((await records.complete(testResults('run-1'), clock.wallIso)).outcome, 'completed');
  },
);

t.test('R85 while a call lives, a second one with its session is refused and told why', async (t) => {
  const { harness, known, clock, refusal } = sessionsHarness(t);
  await harness.call({}, SESSION);
  t.match(await refusal(SESSION), /^session run-1 is in use: .*just beginning/);
  clock.wallIso = LATER;
  known.hosts = { live: new Set(['run-1']), owed: new Set(['run-1']) };
  t.match(await refusal(SESSION), /is live/);
  known.hosts = { live: new Set(), owed: new Set(['run-1']) };
  t.match(await refusal(SESSION), /results .* on their way/);
  known.hosts = null;
  t.match(await refusal(SESSION), /does not answer/);
});

t.test('R85 a call that ended before it had a session gives the id to the next one', async (t) => {
  const { harness, records, clock } = sessionsHarness(t);
  await harness.call({}, SESSION);
  clock.wallIso = LATER;
  t.equal((await harness.open('clinic', SESSION)).session_id, 'run-1', 'no host has it');
  await harness.open('clinic', { ...ROOM, _campaign_session_id: 'run-2', call_id: 'a' });
  const next = await harness.open('clinic', { ...ROOM, _campaign_session_id: 'run-2', call_id: 'b' });
  t.equal(
    next.session_id,
    'run-2',
    'a host knows of a room call before the config does, so nothing is waited for',
  );
  t.match(await records.get('run-2'), { call_id: 'b', status: 'active' });
});

t.test('R85 a slot that asks again for the same room call gets the same session', async (t) => {
  const { harness, known } = sessionsHarness(t);
  const event = { ...ROOM, call_id: 'of-the-host' };
  await harness.call({}, event);
  known.hosts = { live: new Set(['run-1']), owed: new Set() };
  t.equal((await harness.open('clinic', event)).session_id, 'run-1');
});

t.test('R85 of two calls at once with one free session, one gets it', async (t) => {
  const { harness, records } = sessionsHarness(t);
  const settled = async (event: unknown) => {
    const outcomes = await Promise.allSettled([harness.open('clinic', event), harness.open('clinic', event)]);
    return outcomes.map((each) => (each.status === 'fulfilled' ? 'opened' : each.reason.code)).sort();
  };
  await t.rejects(harness.call({ active_hours: HOURS }, SESSION), { code: 'outside_active_hours' });
  await harness.call({});
  t.same(await settled(SESSION), ['opened', 'session_in_use'], 'after a refusal');
  t.same(await settled({ _campaign_session_id: 'fresh' }), ['opened', 'session_in_use']);
  t.match(await records.get('fresh'), { status: 'active' });
});

t.test('R85 a record that changed since it was judged is not taken over', async (t) => {
  const { records, parts } = sessionsHarness(t);
  const call: ActiveCall = { ...activeCall('run-1', '2026-03-02T06:00:00.000Z'), call_id: null };
  await records.insertActive(call);
  const sessions = {
    ask: async () => {
      await records.complete(testResults('run-1'), LATER);
      return { live: new Set<string>(), owed: new Set<string>() };
    },
  };
  await t.rejects(openSession({ ...parts, sessions }, { ...call, created_at: LATER }), {
    code: 'session_in_use',
    message: /just taken/,
  });
});
