import type { Test } from 'tap';
import {
  type Credential,
  MAX_SESSIONS_PER_USER,
  type Session,
  type SessionStore,
} from '../../../src/control/accounts/session-store.ts';

function session(id: string, change: Partial<Session> = {}): Session {
  return {
    id,
    user_id: 'usr_a',
    kind: 'token',
    epoch: 1,
    created_ms: 1_000,
    last_seen_ms: 1_000,
    expires_ms: 9_000,
    ...change,
  };
}

function credential(hash: string, sessionId: string, change: Partial<Credential> = {}): Credential {
  return { hash, session_id: sessionId, use: 'refresh', expires_ms: 9_000, used: false, ...change };
}

/** What every implementation of {@link SessionStore} promises. `open` gives an empty one. */
export async function sessionStoreConformance(t: Test, open: () => SessionStore): Promise<void> {
  await t.test('a credential leads to its session until that is closed', async (t) => {
    const store = open();
    await store.open(session('s1'), [credential('h1', 's1'), credential('h2', 's1', { use: 'access' })]);
    t.match(await store.find('h2'), { session: { id: 's1' }, credential: { use: 'access' } });
    t.equal(await store.find('h3'), null);
    t.equal(await store.update('s1', (stored) => ({ ...stored, last_seen_ms: 5 })), true);
    t.equal((await store.find('h1'))?.session.last_seen_ms, 5);
    await store.close('s1');
    await store.close('s1');
    t.equal(await store.find('h1'), null);
    t.equal(await store.update('s1', (stored) => stored), false);
  });

  await t.test('of many rotations of one credential exactly one succeeds', async (t) => {
    const store = open();
    await store.open(session('s1'), [credential('old', 's1')]);
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => store.rotate('old', [credential(`new${i}`, 's1')])),
    );
    t.equal(outcomes.filter((outcome) => outcome === 'rotated').length, 1);
    t.equal(outcomes.filter((outcome) => outcome === 'used_before').length, 29);
    t.equal(await store.rotate('unknown', []), 'closed');
    await store.close('s1');
    t.equal(await store.rotate('old', []), 'closed');
  });

  await t.test('all sessions of one user end together, but the one to keep', async (t) => {
    const store = open();
    for (const id of ['s1', 's2', 's3']) await store.open(session(id), [credential(`of ${id}`, id)]);
    await store.open(session('other', { user_id: 'usr_b' }), [credential('of other', 'other')]);
    await store.closeAllOf('usr_a', 's2');
    t.equal(await store.find('of s1'), null);
    t.ok(await store.find('of s2'));
    t.equal(await store.find('of s3'), null);
    t.ok(await store.find('of other'), 'of somebody else');
    await store.closeAllOf('usr_a');
    t.equal(await store.find('of s2'), null);
  });

  await t.test('who has too many sessions loses the oldest', async (t) => {
    const store = open();
    for (let i = 0; i <= MAX_SESSIONS_PER_USER; i++) {
      await store.open(session(`s${i}`, { created_ms: i }), [credential(`h${i}`, `s${i}`)]);
    }
    t.equal(await store.find('h0'), null);
    t.ok(await store.find('h1'));
    t.ok(await store.find(`h${MAX_SESSIONS_PER_USER}`));
  });

  await t.test('what has expired is taken out, a bounded number at a time', async (t) => {
    const store = open();
    for (let i = 0; i < 10; i++) {
      await store.open(session(`s${i}`, { expires_ms: 100 + i }), [
        credential(`h${i}`, `s${i}`, { expires_ms: 100 + i }),
      ]);
    }
    t.equal(await store.prune(100, 99), 0, 'not before its time');
    t.equal(await store.prune(105, 4), 4);
    t.equal(await store.prune(105, 99), 6);
    t.equal(await store.find('h4'), null);
    t.ok(await store.find('h5'));
    t.equal(await store.prune(105, 99), 0);
  });
}
