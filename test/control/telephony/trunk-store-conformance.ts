import type { Test } from 'tap';
import { MAX_TRUNKS, type Trunk } from '../../../src/control/telephony/trunk.ts';
import type { TrunkStore } from '../../../src/control/telephony/trunk-store.ts';
import { CAUSE } from '../accounts/user-store-conformance.ts';

export function testTrunk(id: string, change: Partial<Trunk> = {}): Trunk {
  return {
    id,
    name: id,
    direction: 'both',
    enabled: true,
    address: '127.0.0.1:5070',
    transport: 'udp',
    auth_username: null,
    auth_password: null,
    allowed_addresses: [],
    numbers: ['+911140000000'],
    destinations: [],
    default_outbound: false,
    version: 1,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    ...change,
  };
}

/** What every implementation of {@link TrunkStore} promises. `open` gives an empty one. */
export async function trunkStoreConformance(t: Test, open: () => TrunkStore): Promise<void> {
  await t.test('a trunk comes back as it was put, and the list is newest first', async (t) => {
    const trunks = open();
    t.equal(await trunks.get('trk_a'), null);
    await trunks.insert(testTrunk('trk_a'), CAUSE);
    await trunks.insert(testTrunk('trk_b', { created_at: '2026-03-02T12:00:00.000Z' }), CAUSE);
    t.strictSame(await trunks.get('trk_a'), testTrunk('trk_a'));
    t.same(
      (await trunks.all()).map(({ id }) => id),
      ['trk_b', 'trk_a'],
    );
  });

  await t.test('R157 at most one trunk is the default, and only an enabled one that dials', async (t) => {
    const trunks = open();
    t.equal(await trunks.defaultOutbound(), null);
    await trunks.insert(testTrunk('trk_a', { default_outbound: true }), CAUSE);
    t.equal((await trunks.defaultOutbound())?.id, 'trk_a');
    await trunks.insert(testTrunk('trk_b', { default_outbound: true }), CAUSE);
    t.equal((await trunks.defaultOutbound())?.id, 'trk_b');
    t.match(
      await trunks.get('trk_a'),
      { default_outbound: false, version: 2 },
      'it was taken from the first',
    );
    await trunks.update('trk_a', (trunk) => ({ ...trunk, default_outbound: true }), CAUSE);
    t.equal((await trunks.defaultOutbound())?.id, 'trk_a');
    t.match(await trunks.get('trk_b'), { default_outbound: false });
    await trunks.update('trk_a', (trunk) => ({ ...trunk, enabled: false }), CAUSE);
    t.equal(await trunks.defaultOutbound(), null, 'a disabled trunk dials nothing');
    await trunks.update('trk_a', (trunk) => ({ ...trunk, enabled: true, direction: 'inbound' }), CAUSE);
    t.equal(await trunks.defaultOutbound(), null);
  });

  await t.test('of defaults that are given at one moment the last one stands', async (t) => {
    const trunks = open();
    for (const id of ['trk_a', 'trk_b', 'trk_c']) await trunks.insert(testTrunk(id), CAUSE);
    await Promise.all(
      ['trk_a', 'trk_b', 'trk_c'].map((id) =>
        trunks.update(id, (trunk) => ({ ...trunk, default_outbound: true }), CAUSE),
      ),
    );
    t.equal((await trunks.all()).filter((trunk) => trunk.default_outbound).length, 1);
  });

  await t.test('a change that throws changes nothing, and each change counts', async (t) => {
    const trunks = open();
    await trunks.insert(testTrunk('trk_a'), CAUSE);
    const refuse = () => {
      throw new Error('no');
    };
    await t.rejects(trunks.update('trk_a', refuse, CAUSE), { message: 'no' });
    await t.rejects(trunks.remove('trk_a', refuse, CAUSE), { message: 'no' });
    await Promise.all(
      ['x', 'y'].map((letter) =>
        trunks.update('trk_a', (trunk) => ({ ...trunk, name: trunk.name + letter }), CAUSE),
      ),
    );
    t.match(await trunks.get('trk_a'), { name: 'trk_axy', version: 3 });
    await t.rejects(
      trunks.update('trk_z', (trunk) => trunk, CAUSE),
      { code: 'not_found' },
    );
    await t.rejects(
      trunks.remove('trk_z', () => undefined, CAUSE),
      { code: 'not_found' },
    );
    await trunks.remove('trk_a', () => undefined, CAUSE);
    t.equal(await trunks.get('trk_a'), null);
  });

  await t.test('there are only so many trunks', async (t) => {
    const trunks = open();
    for (let i = 0; i < MAX_TRUNKS; i++) await trunks.insert(testTrunk(`trk_${i}`), CAUSE);
    await t.rejects(trunks.insert(testTrunk('trk_more'), CAUSE), { code: 'conflict' });
    t.equal((await trunks.all()).length, MAX_TRUNKS);
  });
}
