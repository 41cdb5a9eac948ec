import t from 'tap';
import { Check } from 'typebox/value';
import { assembleResults, transferFields } from '../../src/contracts/assemble-results.ts';
import { ANSWERED_AT_ONCE, callDurations } from '../../src/contracts/call-durations.ts';
import type { CallEvent } from '../../src/contracts/call-events.ts';
import { CallResults } from '../../src/contracts/call-results.ts';
import type { JournalCall } from '../../src/contracts/spool.ts';

const call: JournalCall = {
  v: 1,
  kind: 'call',
  sessionId: 's',
  botId: 'b',
  streamId: 'st',
  callerId: '+1',
  fromNumber: null,
  direction: 'inbound',
  transport: 'websocket',
  webhookUrl: 'https://x.example/',
  recordingUrl: 'https://x.example/r',
  recordingKey: 'a/b.wav',
  maxCallSeconds: 60,
  startedAt: '2026-01-01T00:00:00.000Z',
};

function payload(events: CallEvent[], recorded = true) {
  return assembleResults({
    call,
    disconnectedBy: 'bot',
    lengths: callDurations(12.34567, ANSWERED_AT_ONCE, 1),
    transcript: [],
    events,
    usage: [],
    recorded,
    endDetail: {},
  });
}

const sent: CallEvent = {
  event: 'transfer_sent',
  ts: 4,
  transfer_number: '+2',
  transfer_target: 'sales',
  transfer_method: 'websocket_reverse_transfer',
  reason: 'asked for a person',
};
const failed: CallEvent = { event: 'transfer_failed', ts: 9, reason: 'busy' };

t.test('R91 an empty call has every field of the interface', async (t) => {
  t.ok(Check(CallResults, payload([])));
  t.equal(payload([]).call_duration_seconds, 12.346);
  t.equal(payload([]).billable_duration_seconds, 13);
  t.equal(payload([], false).recording_url, null, 'no recording, no address of one');
});

t.test('R114 R172 a transfer counts once it was sent, unless it failed later', async (t) => {
  t.equal(transferFields([]).was_transferred, false);
  t.equal(transferFields([sent]).was_transferred, true);
  t.equal(transferFields([sent, failed]).was_transferred, false);
  t.equal(
    transferFields([failed, { ...sent, ts: 12 }]).was_transferred,
    true,
    'a second try that succeeds counts',
  );
});

t.test('R115 R116 the fields of a transfer come from its event', async (t) => {
  t.match(transferFields([sent]), {
    transfer_destination: '+2',
    transfer_target: 'sales',
    transfer_reason: 'asked for a person',
    transfer_method: 'websocket_reverse_transfer',
    transfer_at: 4,
    transfer_failed_reason: null,
  });
  t.equal(transferFields([sent, failed]).transfer_failed_reason, 'busy');
});

t.test('R115 a failure keeps its reason beside a later transfer that succeeded', async (t) => {
  t.match(transferFields([failed, { ...sent, ts: 12 }]), {
    was_transferred: true,
    transfer_at: 12,
    transfer_failed_reason: 'busy',
  });
  const noReason: CallEvent = { event: 'transfer_failed', ts: 1 };
  t.equal(transferFields([noReason, { ...sent, ts: 12 }]).transfer_failed_reason, 'unknown');
});

t.test('R91 a call on a socket says which transport it came over', async (t) => {
  t.equal(payload([]).transport, 'websocket');
  t.notOk('room_name' in payload([]), 'and has nothing of a room');
});

t.test('R171 what is done after the hang-up makes no call longer', async (t) => {
  const told = { raw_duration_seconds: 9.5, billable_duration_seconds: 30 };
  t.match(payload([{ event: 'disconnected', ts: 8, ...told }, failed]), {
    call_duration_seconds: 8,
    ...told,
  });
});
