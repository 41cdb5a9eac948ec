import t from 'tap';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { finalStatus } from '../../src/control/calls/call-record.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { freshStore } from '../harness/fresh-stores.ts';
import { botStoreConformance } from './bot-store-conformance.ts';
import { callStoreConformance } from './call-store-conformance.ts';

t.test('the LMDB bot store keeps the promises of a bot store', (t) =>
  botStoreConformance(t, () => createBotStore(freshStore())),
);

t.test('the LMDB call store keeps the promises of a call store', (t) =>
  callStoreConformance(t, () => createCallRecordStore(freshStore())),
);

t.test('the status of an ended call follows who ended it', async (t) => {
  const spoken = [{ speaker: 'bot', text: 'please call back', timestamp: 1 }];
  const unheard = [{ speaker: 'bot', text: 'please call back', timestamp: 1, heard: 'none' as const }];
  const status = (
    disconnected_by: Parameters<typeof finalStatus>[0]['disconnected_by'],
    transcript = spoken,
  ) => finalStatus({ disconnected_by, transcript });
  for (const by of ['bot', 'customer', 'RNR', 'timeout', 'transfer_to_agent', 'no_agent'] as const) {
    t.equal(status(by), 'completed', by);
  }
  for (const by of ['no_answer', 'rejected', 'outside_hours'] as const)
    t.equal(status(by), 'not_connected', by);
  t.equal(status('error'), 'failed');
  t.equal(status('voicemail'), 'completed', 'a message was left');
  t.equal(status('voicemail', []), 'not_connected');
  t.equal(status('voicemail', unheard), 'not_connected');
  const telephone = { disconnected_by: 'customer' as const, transcript: [], transport: 'rtc_sip' };
  t.equal(finalStatus({ ...telephone, answered_at: null }), 'not_connected', 'hung up while it rang');
  t.equal(
    finalStatus({ ...telephone, disconnected_by: 'bot', answered_at: null }),
    'not_connected',
    'cancelled by an operator while it rang',
  );
  t.equal(finalStatus({ ...telephone, answered_at: '2026-11-20T10:00:00.000Z' }), 'completed');
});
