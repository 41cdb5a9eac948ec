import type { Test } from 'tap';
import {
  KEPT_MS,
  type OutboundCall,
  type OutboundStore,
} from '../../../src/control/outbound/outbound-store.ts';

const NOON = Date.parse('2026-03-02T12:00:00.000Z');
const callAt = (callId: string, ms: number): OutboundCall => ({
  call_id: callId,
  session_id: `session-${callId}`,
  room_name: 'room',
  bot_id: 'clinic',
  fleet_url: 'https://fleet.example.org',
  created_at: new Date(ms).toISOString(),
  created_by: 'key_1',
});

/** What every implementation of {@link OutboundStore} promises. `open` gives an empty one. */
export async function outboundStoreConformance(t: Test, open: () => OutboundStore): Promise<void> {
  await t.test('a call is found by its id, and no other id finds anything', async (t) => {
    const calls = open();
    await calls.add(callAt('one', NOON));
    t.same(await calls.get('one'), callAt('one', NOON));
    t.equal(await calls.get('two'), null);
  });

  await t.test('calls go after seven days, so that the table does not grow for ever', async (t) => {
    const calls = open();
    for (let day = 0; day < 3; day++) await calls.add(callAt(`old-${day}`, NOON + day));
    await calls.add(callAt('standing', NOON + 1_000));
    await calls.add(callAt('new', NOON + KEPT_MS + 100));
    t.same(await Promise.all([0, 1, 2].map((day) => calls.get(`old-${day}`))), [null, null, null]);
    t.ok(await calls.get('standing'));
    t.ok(await calls.get('new'));
  });

  await t.test(
    'an id that comes again is the later call, and the age of the first does not take it away',
    async (t) => {
      const calls = open();
      await calls.add(callAt('again', NOON));
      await calls.add(callAt('again', NOON + KEPT_MS));
      await calls.add(callAt('next', NOON + KEPT_MS + 10));
      t.match(await calls.get('again'), { created_at: new Date(NOON + KEPT_MS).toISOString() });
    },
  );
}
