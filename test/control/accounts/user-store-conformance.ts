import type { Test } from 'tap';
import type { User } from '../../../src/control/accounts/user.ts';
import type { UserStore } from '../../../src/control/accounts/user-store.ts';
import type { AuditCause } from '../../../src/control/audit/audit-log.ts';

export const CAUSE: AuditCause = { actor: { type: 'core' }, action: 'test', requestId: null, ip: null };

export function testUser(id: string, change: Partial<User> = {}): User {
  return {
    id,
    email: `${id}@example.org`,
    name: id,
    role: 'admin',
    skills: [],
    disabled: false,
    password_hash: '$argon2id$x',
    password_reset_pending: false,
    credential_epoch: 1,
    totp: null,
    totp_pending: null,
    version: 1,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    last_login_at: null,
    ...change,
  };
}

/** What every implementation of {@link UserStore} promises. `open` gives an empty one. */
export async function userStoreConformance(t: Test, open: () => UserStore): Promise<void> {
  await t.test('a user comes back by id and by address', async (t) => {
    const users = open();
    t.equal(await users.get('usr_a'), null);
    t.equal(await users.byEmail('usr_a@example.org'), null);
    await users.insert(testUser('usr_a'), CAUSE);
    t.strictSame(await users.get('usr_a'), testUser('usr_a'));
    t.strictSame(await users.byEmail('usr_a@example.org'), testUser('usr_a'));
  });

  await t.test('of many with one address exactly one is added', async (t) => {
    const users = open();
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        users.insert(testUser(`usr_${i}`, { email: 'same@x.org' }), CAUSE),
      ),
    );
    t.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    t.equal((await users.list({ limit: 99 })).length, 1);
  });

  await t.test('of many first admins exactly one is added', async (t) => {
    const users = open();
    t.equal(await users.hasActiveAdmin(), false);
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        users.insert(testUser(`usr_${i}`), CAUSE, { onlyAsFirstAdmin: true }),
      ),
    );
    t.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    t.equal(await users.hasActiveAdmin(), true);
  });

  await t.test('changes at the same moment are made one after another', async (t) => {
    const users = open();
    await users.insert(testUser('usr_a'), CAUSE);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        users.update('usr_a', (user) => ({ ...user, skills: [...user.skills, String(i)] }), CAUSE),
      ),
    );
    const user = await users.get('usr_a');
    t.equal(user?.skills.length, 50);
    t.equal(user?.version, 51);
    await users.update('usr_a', (stored) => ({ ...stored, last_login_at: 'now' }), null);
    t.equal((await users.get('usr_a'))?.version, 51, 'logging in is no edit');
  });

  await t.test('a change that throws changes nothing', async (t) => {
    const users = open();
    await users.insert(testUser('usr_a'), CAUSE);
    await t.rejects(
      users.update(
        'usr_a',
        () => {
          throw new Error('no');
        },
        CAUSE,
      ),
      { message: 'no' },
    );
    await t.rejects(
      users.update('usr_b', (user) => user, CAUSE),
      { code: 'not_found' },
    );
    t.strictSame(await users.get('usr_a'), testUser('usr_a'));
  });

  await t.test('of admins who take each other out at once one stays', async (t) => {
    const users = open();
    const ids = Array.from({ length: 8 }, (_, i) => `usr_${i}`);
    for (const id of ids) await users.insert(testUser(id), CAUSE);
    const tries = await Promise.allSettled(
      ids.map((id, i) =>
        i % 2 === 0
          ? users.remove(id, () => undefined, CAUSE)
          : users.update(id, (user) => ({ ...user, disabled: true }), CAUSE),
      ),
    );
    t.equal(tries.filter(({ status }) => status === 'fulfilled').length, 7);
    t.equal(await users.hasActiveAdmin(), true);
  });

  await t.test('a removed user frees the address and the list', async (t) => {
    const users = open();
    await users.insert(testUser('usr_a'), CAUSE);
    await users.insert(testUser('usr_b'), CAUSE);
    await users.remove('usr_a', () => undefined, CAUSE);
    t.equal(await users.get('usr_a'), null);
    t.equal(await users.byEmail('usr_a@example.org'), null);
    await users.insert(testUser('usr_c', { email: 'usr_a@example.org' }), CAUSE);
    t.same(
      (await users.list({ limit: 9 })).map(({ id }) => id),
      ['usr_b', 'usr_c'],
    );
  });

  await t.test('the list goes on where it stopped', async (t) => {
    const users = open();
    for (const [i, id] of ['c', 'a', 'b', 'd'].entries()) {
      await users.insert(testUser(id, { created_at: `2026-03-0${1 + (i >> 1)}T00:00:00.000Z` }), CAUSE);
    }
    const first = await users.list({ limit: 2 });
    const last = first.at(-1);
    const rest = await users.list({ limit: 9, ...(last ? { after: last } : {}) });
    t.same(
      [...first, ...rest].map(({ id }) => id),
      ['a', 'c', 'b', 'd'],
    );
  });
}
