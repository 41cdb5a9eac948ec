import type { Test } from 'tap';
import type { ActiveCall } from '../../src/control/calls/call-record.ts';
import type { CallRecordStore } from '../../src/control/calls/call-store.ts';
import { testResults } from './running-control.ts';

const NOON = '2026-03-01T12:00:00.000Z';

function activeCall(sessionId: string, createdAt = NOON): ActiveCall {
  return {
    session_id: sessionId,
    bot_id: 'clinic',
    bot_name: 'Clinic',
    call_type: 'bot',
    stream_id: 'stream-0',
    caller_id: '+911234567890',
    from_number: null,
    call_direction: 'inbound',
    timezone: 'UTC',
    created_at: createdAt,
    connected_event: { city: 'Pune' },
    sip_context: {},
    crm_data: { city: 'Pune' },
    integration_log: [],
    campaign: null,
    skip_post_push: false,
  };
}

function at(minute: number): string {
  return new Date(Date.parse(NOON) + minute * 60_000).toISOString();
}

/** What every implementation of {@link CallRecordStore} promises. `open` gives an empty one. */
export async function callStoreConformance(t: Test, open: () => CallRecordStore): Promise<void> {
  await t.test('a call is active from its insertion, and a second insertion changes nothing', async (t) => {
    const calls = open();
    t.equal(await calls.get('s1'), null);
    t.equal(await calls.insertActive(activeCall('s1')), true);
    t.equal(await calls.insertActive({ ...activeCall('s1'), caller_id: 'other' }), false);
    t.match(await calls.get('s1'), { status: 'active', caller_id: '+911234567890', transcript: null });
  });

  await t.test('of many insertions of one session at once exactly one wins', async (t) => {
    const calls = open();
    const won = await Promise.all(Array.from({ length: 50 }, () => calls.insertActive(activeCall('s1'))));
    t.equal(won.filter(Boolean).length, 1);
  });

  await t.test('R44 results complete the record of their session, once', async (t) => {
    const calls = open();
    await calls.insertActive(activeCall('s1'));
    const results = testResults('s1', { recording_key: 'a/b.wav' });
    t.equal((await calls.complete(results, at(1))).outcome, 'completed');
    const record = await calls.get('s1');
    t.match(record, {
      status: 'completed',
      disconnected_by: 'customer',
      ended_at: at(1),
      call_duration_seconds: 12.5,
      recording_key: 'a/b.wav',
      connected_event: { city: 'Pune' },
    });
    t.strictSame(record?.transcript, results.transcript);

    const reordered = Object.fromEntries(Object.entries(results).reverse()) as typeof results;
    t.strictSame(await calls.complete(reordered, at(2)), { outcome: 'duplicate', same: true });
    const other = testResults('s1', { disconnected_by: 'error' });
    t.strictSame(await calls.complete(other, at(3)), { outcome: 'duplicate', same: false });
    t.strictSame(await calls.get('s1'), record);
  });

  await t.test('of many deliveries of one result at once exactly one completes the call', async (t) => {
    const calls = open();
    await calls.insertActive(activeCall('s1'));
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => calls.complete(testResults('s1'), at(1))),
    );
    t.equal(outcomes.filter(({ outcome }) => outcome === 'completed').length, 1);
    t.equal(outcomes.filter(({ outcome }) => outcome === 'duplicate').length, 49);
  });

  await t.test('the list is newest first, bounded, and goes on where it stopped', async (t) => {
    const calls = open();
    for (const [minute, id] of [
      [3, 'c'],
      [1, 'a'],
      [2, 'b'],
      [2, 'b2'],
    ] as const) {
      await calls.insertActive(activeCall(id, at(minute)));
    }
    await calls.complete(testResults('a'), at(9));
    const first = await calls.list({ limit: 2 });
    t.strictSame(
      first.map((call) => call.session_id),
      ['c', 'b2'],
    );
    const rest = await calls.list({ limit: 9, after: { created_at: at(2), session_id: 'b2' } });
    t.strictSame(
      rest.map((call) => [call.session_id, call.status]),
      [
        ['b', 'active'],
        ['a', 'completed'],
      ],
    );
    t.strictSame(await calls.list({ limit: 9, after: { created_at: at(1), session_id: 'a' } }), []);
  });

  await t.test('results of an unknown session are kept as an orphan, one per session', async (t) => {
    const calls = open();
    t.strictSame(await calls.complete(testResults('x'), at(1)), { outcome: 'orphan' });
    t.strictSame(await calls.complete(testResults('x'), at(2)), { outcome: 'orphan' });
    t.match(await calls.listOrphans(9), [{ session_id: 'x', received_at: at(2) }]);
    t.equal(await calls.get('x'), null);
  });

  await t.test('orphans are bounded in number, age and size', async (t) => {
    const calls = open();
    for (let i = 0; i < 505; i++) await calls.complete(testResults(`x${i}`), at(i));
    const kept = await calls.listOrphans(1_000);
    t.equal(kept.length, 500);
    t.equal(kept.at(-1)?.session_id, 'x5');

    const wordy = testResults('wordy', {
      transcript: [{ speaker: 'customer', text: 'word '.repeat(20_000), timestamp: 1 }],
    });
    await calls.complete(wordy, at(60 * 24 * 8));
    const later = await calls.listOrphans(1_000);
    t.equal(later.length, 1, 'the others are older than seven days');
    t.match(later[0], { session_id: 'wordy', results: null });
  });
}
