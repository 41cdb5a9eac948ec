import type { Test } from 'tap';
import type { AgentCall } from '../../src/control/calls/agent-record.ts';
import type { ActiveCall } from '../../src/control/calls/call-record.ts';
import type { CallFilter, CallPage } from '../../src/control/calls/call-search.ts';
import type { CallRecordStore } from '../../src/control/calls/call-store.ts';
import type { DeletionReceipt } from '../../src/control/calls/erase-call.ts';
import { testResults } from '../harness/control.ts';

const NOON = '2026-03-01T12:00:00.000Z';

export function activeCall(sessionId: string, createdAt = NOON): ActiveCall {
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

export function at(minute: number): string {
  return new Date(Date.parse(NOON) + minute * 60_000).toISOString();
}

function idsOf(page: CallPage): string[] {
  return page.rows.map((row) => row.session_id);
}

function campaign(id: string): ActiveCall['campaign'] {
  return { campaign_id: id, campaign_call_id: 'ctc_1', attempt: 1, run_number: 1 };
}

function testReceipt(sessionId: string): DeletionReceipt {
  return {
    receipt_id: 'rcp_1',
    session_id: sessionId,
    deleted_at: at(2),
    deleted_by: { type: 'core', id: null },
    erased_fields: ['caller_id'],
    recording: 'none',
    exports_gone_by: at(2),
  };
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
    t.strictSame(JSON.parse((await calls.getJson('s1')) ?? ''), record);
    t.equal(await calls.getJson('none'), null);

    const reordered = Object.fromEntries(Object.entries(results).reverse()) as typeof results;
    t.match(await calls.complete(reordered, at(2)), { outcome: 'duplicate', same: true });
    const other = testResults('s1', { disconnected_by: 'error' });
    t.match(await calls.complete(other, at(3)), { outcome: 'duplicate', same: false });
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
    t.strictSame(idsOf(first), ['c', 'b2']);
    t.ok(first.next);
    const rest = await calls.list({ limit: 9, after: first.next as never });
    t.strictSame(
      rest.rows.map((call) => [call.session_id, call.status]),
      [
        ['b', 'active'],
        ['a', 'completed'],
      ],
    );
    t.equal(rest.next, null);
    t.strictSame(idsOf(await calls.list({ limit: 9, oldestFirst: true })), ['a', 'b', 'b2', 'c']);
    t.strictSame(await calls.count({}), { total: 4, capped: false });
  });

  await t.test('each filter finds its calls, alternatives add up, fields narrow each other', async (t) => {
    const calls = open();
    await calls.insertActive({ ...activeCall('a', at(1)), bot_id: 'b1', campaign: campaign('cmp_1') });
    await calls.insertActive({ ...activeCall('b', at(2)), bot_id: 'b2', call_direction: 'outbound' });
    await calls.insertActive({ ...activeCall('c', at(3)), bot_id: 'b1', caller_id: '+4420' });
    await calls.insertActive({ ...activeCall('d', at(4)), bot_id: 'b3' });
    await calls.complete(testResults('a', { call_duration_seconds: 5 }), at(9));
    const analysis = { disposition: 'Résolu' };
    await calls.complete(
      testResults('b', {
        call_duration_seconds: 65,
        call_direction: 'outbound',
        disconnected_by: 'error',
        post_call_analysis: analysis,
      }),
      at(9),
    );
    await calls.edit('a', { tags: ['vip', 'x'.repeat(64)] }, at(9), () => undefined);
    await calls.edit('d', { tags: ['vip'] }, at(9), () => undefined);
    const find = async (filter: CallFilter) => idsOf(await calls.list({ limit: 9, ...filter }));
    t.strictSame(await find({ anyOf: { bot_id: ['b1'] } }), ['c', 'a']);
    t.strictSame(await find({ anyOf: { bot_id: ['b1', 'b2', 'b2'] } }), ['c', 'b', 'a']);
    t.strictSame(await find({ anyOf: { bot_id: ['b1'], status: ['active'] } }), ['c']);
    t.strictSame(await find({ anyOf: { status: ['failed', 'completed'] } }), ['b', 'a']);
    t.strictSame(await find({ anyOf: { disconnected_by: ['error'] } }), ['b']);
    t.strictSame(await find({ anyOf: { disposition: ['Résolu'] } }), ['b']);
    t.strictSame(await find({ anyOf: { call_direction: ['outbound'] } }), ['b']);
    t.strictSame(await find({ anyOf: { caller_id: ['+4420'] } }), ['c']);
    t.strictSame(await find({ anyOf: { tag: ['vip'] } }), ['d', 'a']);
    t.strictSame(await find({ anyOf: { tag: ['x'.repeat(64)] } }), ['a']);
    t.strictSame(await find({ anyOf: { campaign_id: ['cmp_1'] } }), ['a']);
    t.strictSame(await find({ anyOf: { bot_id: ['b1'], tag: ['nothing'] } }), []);
    t.strictSame(await find({ minDuration: 5 }), ['b', 'a']);
    t.strictSame(await find({ minDuration: 5.1 }), ['b']);
    t.strictSame(await find({ maxDuration: 64.9 }), ['a']);
    t.strictSame(await find({ createdFrom: at(2) }), ['d', 'c', 'b']);
    t.strictSame(await find({ createdTo: at(3) }), ['b', 'a'], 'the end of a range is left out');
    t.strictSame(await find({ createdFrom: at(2), createdTo: at(4), anyOf: { bot_id: ['b1', 'b2'] } }), [
      'c',
      'b',
    ]);
    t.strictSame(await calls.count({ anyOf: { bot_id: ['b1'] } }), { total: 2, capped: false });
  });

  await t.test(
    'results of a foreign session reach the socket call of their stream, and repeats too',
    async (t) => {
      const calls = open();
      await calls.insertActive({ ...activeCall('own'), stream_id: 'stream-1', transport: 'websocket' });
      const foreign = testResults('foreign');
      t.equal((await calls.complete(foreign, at(1))).outcome, 'orphan', 'unless the sender may match');
      t.equal((await calls.complete(foreign, at(1), { matchStream: true })).outcome, 'completed');
      t.match(await calls.get('own'), { status: 'completed', session_id: 'own' });
      await calls.insertActive({ ...activeCall('next'), stream_id: 'stream-1', transport: 'websocket' });
      t.match(await calls.complete(foreign, at(2), { matchStream: true }), {
        outcome: 'duplicate',
        same: true,
      });
      t.match(await calls.get('next'), { status: 'active' }, 'a stream that is used again is another call');
      await calls.insertActive({ ...activeCall('room'), stream_id: 'stream-2', transport: 'rtc_sip' });
      const room = testResults('other', { stream_id: 'stream-2' });
      t.equal((await calls.complete(room, at(1), { matchStream: true })).outcome, 'orphan');
    },
  );

  await t.test(
    'a call without results is lost ten minutes after its time, and late results correct it',
    async (t) => {
      const calls = open();
      const never = () => false;
      await calls.insertActive({ ...activeCall('short'), max_call_duration_seconds: 60 });
      await calls.insertActive({ ...activeCall('long'), max_call_duration_seconds: 3_600 });
      await calls.insertActive({ ...activeCall('ended'), max_call_duration_seconds: 60 });
      await calls.complete(testResults('ended'), at(1));
      t.strictSame(await calls.markLost(at(10.9), 9, never), []);
      t.strictSame(
        await calls.markLost(at(11.1), 9, (id) => id === 'short'),
        [],
        'a live call is waited for',
      );
      t.strictSame(
        (await calls.markLost(at(22), 9, never)).map((record) => record.session_id),
        ['short'],
      );
      t.match(await calls.get('short'), { status: 'lost', disconnected_by: null, late_result: false });
      t.match(await calls.get('ended'), { status: 'completed' });
      t.equal((await calls.complete(testResults('short'), at(99))).outcome, 'completed');
      t.match(await calls.get('short'), { status: 'completed', late_result: true });
      t.strictSame(idsOf(await calls.list({ limit: 9, anyOf: { status: ['lost'] } })), []);
    },
  );

  await t.test('a call that the gate turned away stands as not connected', async (t) => {
    const calls = open();
    t.equal(await calls.insertRefused(activeCall('s'), 'outside_hours'), true);
    t.match(await calls.get('s'), { status: 'not_connected', disconnected_by: 'outside_hours' });
    t.strictSame(await calls.markLost(at(999), 9, () => false), []);
    t.equal(await calls.insertRefused(activeCall('s', at(5)), 'outside_hours'), true);
    const { rows } = await calls.list({ limit: 9 });
    t.strictSame(
      rows.map(({ created_at, status }) => [created_at, status]),
      [
        [at(5), 'not_connected'],
        [at(0), 'not_connected'],
      ],
      'each attempt keeps its record',
    );
    await calls.insertActive(activeCall('busy'));
    t.equal(await calls.insertRefused(activeCall('busy'), 'outside_hours'), false);
    t.match(await calls.get('busy'), { status: 'active' });
  });

  await t.test('R85 a session whose attempt came to nothing is opened again, once', async (t) => {
    const calls = open();
    await calls.insertRefused(activeCall('s'), 'outside_hours');
    const refused = await calls.get('s');
    const next = { ...activeCall('s', at(20)), max_call_duration_seconds: 60 };
    const version = refused?.version ?? 0;
    t.strictSame(await Promise.all([calls.reopen(next, version), calls.reopen(next, version)]), [
      true,
      false,
    ]);
    t.match(await calls.get('s'), {
      status: 'active',
      created_at: at(20),
      disconnected_by: null,
      reopened: 1,
    });
    const { rows } = await calls.list({ limit: 9 });
    t.strictSame(
      rows.map(({ status }) => status),
      ['active', 'not_connected'],
    );
    t.equal((await calls.complete(testResults('s'), at(22))).outcome, 'completed');
    t.equal(await calls.reopen(next, (await calls.get('s'))?.version ?? 0), false, 'it has its results');
    t.equal(await calls.reopen({ ...next, session_id: 'none' }, 1), false);
  });

  await t.test(
    'an attempt without results that gives its session away is lost, and its deadline with it',
    async (t) => {
      const calls = open();
      const call = (minute: number) => ({ ...activeCall('s', at(minute)), max_call_duration_seconds: 60 });
      await calls.insertActive(call(0));
      t.equal(await calls.hasOverdue(at(10.9)), false);
      t.equal(await calls.hasOverdue(at(11.1)), true);
      await calls.markLost(at(11.1), 9, () => true);
      t.equal(await calls.reopen(call(12), (await calls.get('s'))?.version ?? 0), true);
      t.strictSame(
        await calls.markLost(at(22), 9, () => false),
        [],
        'the deadline of the earlier call says nothing',
      );
      t.match(await calls.get('s'), { status: 'active' });
      const { rows } = await calls.list({ limit: 9 });
      t.strictSame(
        rows.map(({ status }) => status),
        ['active', 'lost'],
      );
      t.equal((await calls.markLost(at(24), 9, () => false)).length, 1);
    },
  );

  await t.test(
    'R45 a desk call has one record per parent call, and later writes blank nothing',
    async (t) => {
      const calls = open();
      const desk = (known: AgentCall['known']): AgentCall => ({
        parent_call_id: 'desk-1',
        created_at: NOON,
        bot_id: 'clinic',
        bot_name: 'Clinic',
        caller_id: '+911234567890',
        call_direction: 'inbound',
        timezone: 'UTC',
        known,
      });
      const first = await calls.upsertAgentCall(
        desk({ disconnected_by: 'agent', disposition: 'Sold', agent: { id: 'usr_1', name: 'Asha' } }),
        at(1),
      );
      t.match(first, {
        created: true,
        record: { call_type: 'agent', parent_call_id: 'desk-1', status: 'completed', disposition: 'Sold' },
      });
      const later = await calls.upsertAgentCall(
        desk({ disposition: null, recording_key: 'd.wav', tags: [], summary: '' }),
        at(2),
      );
      t.match(later, {
        created: false,
        record: {
          session_id: first.record.session_id,
          disposition: 'Sold',
          recording_key: 'd.wav',
          version: 2,
        },
      });
      const wins = await Promise.all(
        Array.from({ length: 20 }, () =>
          calls.upsertAgentCall({ ...desk({}), parent_call_id: 'desk 2/ü' }, at(3)),
        ),
      );
      t.equal(wins.filter(({ created }) => created).length, 1);
      t.strictSame((await calls.list({ limit: 9, anyOf: { agent_id: ['usr_1'] } })).rows.length, 1);
      t.equal((await calls.list({ limit: 9 })).rows.length, 2);
    },
  );

  await t.test('an edit is checked against the record that it changes', async (t) => {
    const calls = open();
    await calls.insertActive(activeCall('s'));
    const edited = await calls.edit('s', { disposition: 'Sold' }, at(1), () => undefined);
    t.match(edited, {
      before: { disposition: null, version: 1 },
      after: { disposition: 'Sold', version: 2 },
    });
    const refuse = () => {
      throw new Error('changed meanwhile');
    };
    await t.rejects(calls.edit('s', { disposition: 'Lost' }, at(1), refuse), /meanwhile/);
    t.match(await calls.get('s'), { disposition: 'Sold', version: 2 });
    t.equal(await calls.edit('none', { tags: [] }, at(1), () => undefined), null);
    await calls.complete(testResults('s', { post_call_analysis: { disposition: 'No' } }), at(2));
    t.match(await calls.get('s'), { disposition: 'Sold' }, 'what a person said stays');
  });

  await t.test('an erased call is found by nothing, and its receipt stays', async (t) => {
    const calls = open();
    const receipt = testReceipt('s');
    t.equal(await calls.erase('s', receipt), null);
    await calls.insertActive({ ...activeCall('s'), campaign: campaign('cmp_1') });
    await t.rejects(calls.erase('s', receipt), { code: 'conflict' });
    await calls.complete(testResults('s', { recording_key: 'a.wav' }), at(1));
    await calls.edit('s', { tags: ['vip'] }, at(1), () => undefined);
    t.strictSame(await calls.erase('s', receipt), receipt);
    t.strictSame(await calls.erase('s', { ...receipt, receipt_id: 'rcp_2' }), receipt);
    t.strictSame(await calls.receipt('s'), receipt);
    const record = await calls.get('s');
    t.match(record, { status: 'completed', deleted_at: at(2), call_duration_seconds: 12.5 });
    t.notMatch(JSON.stringify(record), /1234567890|Namaste|Pune|stream-|vip|a\.wav/);
    t.strictSame((await calls.list({ limit: 9 })).rows, []);
    for (const anyOf of [{ tag: ['vip'] }, { caller_id: ['+911234567890'] }, { campaign_id: ['cmp_1'] }]) {
      t.strictSame((await calls.list({ limit: 9, anyOf })).rows, []);
    }
    t.match(await calls.complete(testResults('s'), at(3)), { outcome: 'duplicate', deleted: true });
    await t.rejects(
      calls.edit('s', { tags: ['x'] }, at(3), () => undefined),
      { code: 'conflict' },
    );
  });

  await t.test('the integration log keeps its last fifty entries', async (t) => {
    const calls = open();
    await calls.insertActive(activeCall('s'));
    for (let i = 0; i < 55; i++) await calls.appendIntegration('s', { kind: 'push', attempt: i }, at(1));
    await calls.appendIntegration('unknown', { kind: 'push' }, at(1));
    const log = (await calls.get('s'))?.integration_log ?? [];
    t.equal(log.length, 50);
    t.match(log[0], { attempt: 5 });
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
