import t from 'tap';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { createNumberStore } from '../../../src/control/telephony/number-store.ts';
import { createTrunkStore } from '../../../src/control/telephony/trunk-store.ts';
import { isoNow } from '../../../src/platform/clock.ts';
import { freshStore } from '../../harness/fresh-stores.ts';
import { CAUSE } from '../accounts/user-store-conformance.ts';
import { numberStoreConformance, testNumber } from './number-store-conformance.ts';
import { testTrunk, trunkStoreConformance } from './trunk-store-conformance.ts';

function stores() {
  const store = freshStore();
  const audit = createAuditLog(store, isoNow);
  return { audit, trunks: createTrunkStore(store, audit), numbers: createNumberStore(store, audit) };
}

t.test('the LMDB trunk store keeps the promises of a trunk store', (t) =>
  trunkStoreConformance(t, () => stores().trunks),
);

t.test('the LMDB number store keeps the promises of a number store', (t) =>
  numberStoreConformance(t, () => stores()),
);

t.test('every change of a trunk or number is in the audit log, a password only as a hash', async (t) => {
  const { audit, trunks, numbers } = stores();
  await trunks.insert(testTrunk('trk_a', { auth_username: 'u', auth_password: 'sealed-password' }), CAUSE);
  await trunks.insert(testTrunk('trk_b', { default_outbound: true }), CAUSE);
  await trunks.update('trk_a', (trunk) => ({ ...trunk, default_outbound: true }), CAUSE);
  await numbers.insert(testNumber('num_a', '100'), CAUSE);
  await numbers.remove('num_a', () => undefined, CAUSE);
  const { items } = await audit.list({ limit: 20 });
  t.same(
    items.map(({ target }) => target).reverse(),
    ['trunk:trk_a', 'trunk:trk_b', 'trunk:trk_b', 'trunk:trk_a', 'number:num_a', 'number:num_a'],
    'the trunk that lost the default is told of, too',
  );
  t.notMatch(JSON.stringify(items), /sealed-password/);
  t.equal((await audit.verify()).ok, true);
});
