import t from 'tap';
import { createCrmSecrets, MAX_SECRETS_PER_BOT } from '../../../src/control/crm/crm-secrets.ts';
import { type DeliverySending, DeliveryStore } from '../../../src/control/webhooks/delivery-store.ts';
import { createEndpointStore, newEndpoint } from '../../../src/control/webhooks/endpoint-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { freshStore } from '../../harness/fresh-stores.ts';
import { testBox } from '../../harness/webhooks-harness.ts';
import { deliveryStoreConformance } from './delivery-store-conformance.ts';
import { endpointStoreConformance } from './endpoint-store-conformance.ts';

t.test('the LMDB queue keeps the promises of a queue of messages', (t) =>
  deliveryStoreConformance(t, () => {
    let attempt: DeliverySending['attempt'] = () => Promise.reject(new Error('nothing is sent here'));
    const logger = createLogger({ level: 'silent', role: 'test' });
    const store = new DeliveryStore(freshStore(), { logger, attempt: (row, signal) => attempt(row, signal) });
    return Object.assign(store, {
      sends(next: typeof attempt) {
        attempt = next;
      },
    });
  }),
);

t.test('the LMDB endpoint store keeps the promises of an endpoint store', (t) =>
  endpointStoreConformance(t, () => createEndpointStore(freshStore())),
);

t.test('receivers are there again after a start', async (t) => {
  const store = freshStore();
  await createEndpointStore(store).put(newEndpoint({ id: 'whk_1' }, 'sealed', 0), 0);
  t.equal(createEndpointStore(store).get('whk_1')?.version, 1);
});

t.test('CRM secrets are of one bot, bounded, sealed and removable', async (t) => {
  const store = freshStore();
  const secrets = createCrmSecrets(store, testBox, () => '2026-03-01T08:00:00.000Z');
  await secrets.set('a', 'token', 'swordfish');
  await secrets.set('a', 'token', 'swordfish2');
  await secrets.set('a-b', 'token', 'other');
  t.same(await secrets.valuesOf('a'), { token: 'swordfish2' });
  t.same(await secrets.list('a'), [{ name: 'token', updated_at: '2026-03-01T08:00:00.000Z' }]);
  t.notMatch(JSON.stringify(store.table('crm-secrets').range({ limit: 9 })), /swordfish/);
  for (let i = 1; i < MAX_SECRETS_PER_BOT; i++) await secrets.set('a', `s${i}`, 'x');
  await t.rejects(secrets.set('a', 'one_more', 'x'), { code: 'conflict' });
  await secrets.set('a', 's1', 'changed');
  t.equal(await secrets.remove('a', 's1'), true);
  t.equal(await secrets.remove('a', 's1'), false);
  await secrets.removeAll('a');
  t.same(await secrets.list('a'), []);
  t.same(await secrets.valuesOf('a-b'), { token: 'other' }, 'another bot keeps its own');
});
