import { join } from 'node:path';
import t from 'tap';
import { createOneTimeTokens, ONE_TIME_LIFE_MS } from '../../../src/control/accounts/one-time-tokens.ts';
import { createSessionStore } from '../../../src/control/accounts/session-store.ts';
import { createUserStore } from '../../../src/control/accounts/user-store.ts';
import { createApiKeyStore } from '../../../src/control/api-keys/api-key-store.ts';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { isoNow } from '../../../src/platform/clock.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { apiKeyStoreConformance } from './api-key-store-conformance.ts';
import { sessionStoreConformance } from './session-store-conformance.ts';
import { userStoreConformance } from './user-store-conformance.ts';

const folder = tempFolder();
const opened: KeyValueStore[] = [];
const fresh = () => {
  const store = openKeyValueStore(join(folder, String(opened.length)));
  opened.push(store);
  return store;
};
t.teardown(async () => {
  for (const store of opened) await store.close();
});

t.test('the LMDB user store keeps the promises of a user store', (t) =>
  userStoreConformance(t, () => {
    const store = fresh();
    return createUserStore(store, createAuditLog(store, isoNow));
  }),
);

t.test('the LMDB session store keeps the promises of a session store', (t) =>
  sessionStoreConformance(t, () => createSessionStore(fresh())),
);

t.test('the LMDB key store keeps the promises of a key store', (t) =>
  apiKeyStoreConformance(t, () => {
    const store = fresh();
    return createApiKeyStore(store, createAuditLog(store, isoNow));
  }),
);

t.test('a one-time token is taken once, within its day, and replaced by the next', async (t) => {
  let nowMs = 1_000_000;
  const tokens = createOneTimeTokens(fresh(), () => nowMs);
  const first = await tokens.mint('setup');
  const second = await tokens.mint('setup');
  const other = await tokens.mint('password:usr_a');
  t.equal(await tokens.peek(first), null, 'replaced');
  t.equal(await tokens.peek(second), 'setup');
  t.equal(await tokens.peek(other), 'password:usr_a');
  const taken = await Promise.allSettled(Array.from({ length: 10 }, () => tokens.take(second)));
  t.equal(taken.filter(({ status }) => status === 'fulfilled').length, 1);
  t.equal(await tokens.peek(second), null);
  nowMs += ONE_TIME_LIFE_MS;
  await t.rejects(tokens.take(other), { code: 'unauthorized' });
  const last = await tokens.mint('setup');
  await tokens.revoke('setup');
  t.equal(await tokens.peek(last), null);
});
