import t from 'tap';
import { newRecord } from '../../../src/control/calls/call-record.ts';
import { maskNumbers } from '../../../src/control/calls/mask-record.ts';
import { activeCall } from '../call-store-conformance.ts';

t.test('telephone numbers are masked wherever they stand, and nothing else is touched', async (t) => {
  const record = {
    ...newRecord({ ...activeCall('2026-0001-0002-0003'), to_number: '+442071234567' }),
    recording_key: '2026/03/01/1234567890.wav',
    call_duration_seconds: 1_234_567,
    transcript: [
      { speaker: 'customer', text: 'it is +91 98765 43210, or 020-7123-4567', timestamp: 1.5 },
      { speaker: 'bot', text: 'room 12, at 10:30, for 4500 rupees', timestamp: 2 },
    ],
    connected_event: {
      alt_id: '9876543210',
      nested: [{ phone: 9_876_543_210 }],
      '9876543210': 'own',
      count: 12,
    },
    post_call_analysis: { summary: 'call back on (987) 654-3210' },
    summary: 'call back on 9876543210',
  };
  const masked = maskNumbers(record);
  t.notMatch(JSON.stringify({ ...masked, recording_key: '' }), /43210|4321|654-3210|7123/);
  t.match(masked, {
    session_id: '2026-0001-0002-0003',
    caller_id: '*********7890',
    to_number: '*********4567',
    created_at: record.created_at,
    recording_key: record.recording_key,
    call_duration_seconds: 1_234_567,
    connected_event: { count: 12 },
  });
  t.equal(masked.transcript[1]?.text, 'room 12, at 10:30, for 4500 rupees');
  t.equal(record.caller_id, '+911234567890', 'the record itself stays');
});

t.test('what is nested deeper than any record is left out, not shown', async (t) => {
  let deep: unknown = '+911234567890';
  for (let i = 0; i < 100; i++) deep = [deep];
  t.notMatch(JSON.stringify(maskNumbers({ connected_event: deep })), /1234567890/);
});
