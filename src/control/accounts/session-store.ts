import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';

/**
 * Who is logged in. Credentials are kept as hashes only. Each promise resolves when what it says is durable. Every
 * implementation passes `test/control/accounts/session-store-conformance.ts`.
 */
export interface SessionStore {
  /** Adds a session with its credentials. A user who has too many loses the oldest ones. */
  open(session: Session, credentials: readonly Credential[]): Promise<void>;
  /** The credential and its session; null where either is unknown or was closed. */
  find(hash: string): Promise<FoundCredential | null>;
  /** Replaces the session's own fields; false where it has been closed meanwhile. */
  update(sessionId: string, change: (session: Session) => Session): Promise<boolean>;
  /** Marks `usedHash` as used and adds its successors, once: of two at the same time one gets `used_before`. */
  rotate(usedHash: string, successors: readonly Credential[]): Promise<'rotated' | 'used_before' | 'closed'>;
  close(sessionId: string): Promise<void>;
  /** All of a user's, but the one to keep. */
  closeAllOf(userId: string, exceptId?: string): Promise<void>;
  /** Takes out what has expired, at most `limit` things, and says how many those were. */
  prune(nowMs: number, limit: number): Promise<number>;
}

export interface Session {
  id: string;
  user_id: string;
  kind: 'cookie' | 'token';
  /** {@link User.credential_epoch} at its opening; a session of an earlier epoch is over. */
  epoch: number;
  created_ms: number;
  last_seen_ms: number;
  expires_ms: number;
}

export interface Credential {
  /** {@link hashSecret} of what the client holds. */
  hash: string;
  session_id: string;
  use: 'cookie' | 'access' | 'refresh';
  expires_ms: number;
  /** A refresh token that has been exchanged; whoever shows it again has stolen it, or was stolen from. */
  used: boolean;
}

export interface FoundCredential {
  session: Session;
  credential: Credential;
}

export const MAX_SESSIONS_PER_USER = 50;

export function createSessionStore(store: KeyValueStore): SessionStore {
  return new LmdbSessions(store);
}

class LmdbSessions implements SessionStore {
  private readonly store: KeyValueStore;
  private readonly sessions: Table<Session>;
  private readonly credentials: Table<Credential>;
  /** `[user, created_ms, session]`. */
  private readonly byUser: Table<1>;
  /** `[expires_ms, 'session' | 'credential', id or hash]`. */
  private readonly byExpiry: Table<1>;

  constructor(store: KeyValueStore) {
    this.store = store;
    this.sessions = store.table('sessions');
    this.credentials = store.table('session-credentials');
    this.byUser = store.table('sessions-by-user');
    this.byExpiry = store.table('sessions-by-expiry');
  }

  async open(session: Session, credentials: readonly Credential[]): Promise<void> {
    await this.store.transaction((writes) => {
      const own = this.idsOf(session.user_id);
      for (const id of own.slice(0, Math.max(0, own.length - MAX_SESSIONS_PER_USER + 1))) {
        this.remove(writes, id);
      }
      writes.put(this.sessions, session.id, session);
      writes.put(this.byUser, [session.user_id, session.created_ms, session.id], 1);
      writes.put(this.byExpiry, [session.expires_ms, 'session', session.id], 1);
      for (const credential of credentials) this.put(writes, credential);
    });
  }

  async find(hash: string): Promise<FoundCredential | null> {
    const credential = this.credentials.get(hash);
    const session = credential && this.sessions.get(credential.session_id);
    return credential && session ? { session, credential } : null;
  }

  update(sessionId: string, change: (session: Session) => Session): Promise<boolean> {
    return this.store.transaction((writes) => {
      const session = writes.get(this.sessions, sessionId);
      if (session) writes.put(this.sessions, sessionId, change(session));
      return session !== undefined;
    });
  }

  rotate(usedHash: string, successors: readonly Credential[]): Promise<'rotated' | 'used_before' | 'closed'> {
    return this.store.transaction((writes) => {
      const credential = writes.get(this.credentials, usedHash);
      if (!credential || !writes.get(this.sessions, credential.session_id)) return 'closed';
      if (credential.used) return 'used_before';
      writes.put(this.credentials, usedHash, { ...credential, used: true });
      for (const successor of successors) this.put(writes, successor);
      return 'rotated';
    });
  }

  async close(sessionId: string): Promise<void> {
    await this.store.transaction((writes) => this.remove(writes, sessionId));
  }

  async closeAllOf(userId: string, exceptId?: string): Promise<void> {
    await this.store.transaction((writes) => {
      for (const id of this.idsOf(userId)) if (id !== exceptId) this.remove(writes, id);
    });
  }

  prune(nowMs: number, limit: number): Promise<number> {
    return this.store.transaction((writes) => {
      const due = this.byExpiry.keys({ limit, end: [nowMs] });
      for (const key of due) {
        const [, kind, id = ''] = key as readonly string[];
        if (kind === 'session') this.remove(writes, id);
        else writes.remove(this.credentials, id);
        writes.remove(this.byExpiry, key);
      }
      return due.length;
    });
  }

  private idsOf(userId: string): string[] {
    const range = { start: [userId], end: [userId, Number.MAX_SAFE_INTEGER] };
    return this.byUser.keys({ ...range, limit: 2 * MAX_SESSIONS_PER_USER }).map(lastPart);
  }

  private put(writes: Transaction, credential: Credential): void {
    writes.put(this.credentials, credential.hash, credential);
    writes.put(this.byExpiry, [credential.expires_ms, 'credential', credential.hash], 1);
  }

  /** Credentials without a session open nothing; they are taken out when they expire. */
  private remove(writes: Transaction, id: string): void {
    const session = writes.get(this.sessions, id);
    if (!session) return;
    writes.remove(this.sessions, id);
    writes.remove(this.byUser, [session.user_id, session.created_ms, id]);
    writes.remove(this.byExpiry, [session.expires_ms, 'session', id]);
  }
}

function lastPart(key: StoreKey): string {
  return Array.isArray(key) ? String(key.at(-1)) : String(key);
}
