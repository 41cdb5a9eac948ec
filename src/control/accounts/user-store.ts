import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import type { AuditCause, TransactionalAuditLog } from '../audit/audit-log.ts';
import type { CreatedPosition } from '../http/pagination.ts';
import { isActiveAdmin, lastAdmin, type User, userView } from './user.ts';

/**
 * The people of the installation. Each promise resolves when what it says is durable; a change and its audit entry are
 * one write. Every implementation passes `test/control/accounts/user-store-conformance.ts`.
 */
export interface UserStore {
  get(id: string): Promise<User | null>;
  /** `email` in its normal form. */
  byEmail(email: string): Promise<User | null>;
  /** In the order of their creation. */
  list(page: { limit: number; after?: CreatedPosition }): Promise<User[]>;
  /** Throws `conflict` where the address is taken. With `onlyAsFirstAdmin` also where an active admin exists. */
  insert(user: User, cause: AuditCause, options?: { onlyAsFirstAdmin?: boolean }): Promise<void>;
  /**
   * Replaces the user by what `change` makes of it; what `change` throws is thrown and nothing is written. With a cause
   * it is an edit: the version rises and the audit log tells of it. Throws `not_found`, and `conflict` for an edit that
   * would leave no active admin.
   */
  update(id: string, change: (user: User) => User, cause: AuditCause | null): Promise<User>;
  /** Throws `not_found`, and `conflict` for the last active admin. `check` may throw, too. */
  remove(id: string, check: (user: User) => void, cause: AuditCause): Promise<void>;
  hasActiveAdmin(): Promise<boolean>;
}

/** An installation for one machine; beyond it nobody may be added. */
export const MAX_USERS = 10_000;
const ACTIVE_ADMINS = 'active_admins';
const ALL = 'all';

export function createUserStore(store: KeyValueStore, audit: TransactionalAuditLog): UserStore {
  return new LmdbUsers(store, audit);
}

class LmdbUsers implements UserStore {
  private readonly store: KeyValueStore;
  private readonly audit: TransactionalAuditLog;
  private readonly users: Table<User>;
  private readonly idsByEmail: Table<string>;
  /** `[created_at, id]`. */
  private readonly byTime: Table<1>;
  /** Numbers that a transaction must know exactly: `active_admins` and `all`. */
  private readonly counts: Table<number>;

  constructor(store: KeyValueStore, audit: TransactionalAuditLog) {
    this.store = store;
    this.audit = audit;
    this.users = store.table('users');
    this.idsByEmail = store.table('users-by-email');
    this.byTime = store.table('users-by-time');
    this.counts = store.table('users-counts');
  }

  async get(id: string): Promise<User | null> {
    return this.users.get(id) ?? null;
  }

  async byEmail(email: string): Promise<User | null> {
    const id = this.idsByEmail.get(email);
    return id === undefined ? null : this.get(id);
  }

  async list(page: { limit: number; after?: CreatedPosition }): Promise<User[]> {
    const from = page.after ? { start: [page.after.created_at, page.after.id], exclusiveStart: true } : {};
    return this.byTime
      .keys({ limit: page.limit, ...from })
      .map((key) => this.users.get((key as readonly string[])[1] ?? ''))
      .filter((user) => user !== undefined);
  }

  async insert(user: User, cause: AuditCause, options: { onlyAsFirstAdmin?: boolean } = {}): Promise<void> {
    await this.store.transaction((writes) => {
      if (options.onlyAsFirstAdmin && this.count(writes, ACTIVE_ADMINS) > 0) {
        throw new AppError(
          'conflict',
          'this installation has an admin already; ask that person for an account',
        );
      }
      if (writes.get(this.idsByEmail, user.email) !== undefined) throw emailTaken();
      if (this.count(writes, ALL) >= MAX_USERS) {
        throw new AppError('conflict', `there are ${MAX_USERS} users already; remove some first`);
      }
      writes.put(this.users, user.id, user);
      writes.put(this.idsByEmail, user.email, user.id);
      writes.put(this.byTime, [user.created_at, user.id], 1);
      this.add(writes, ALL, 1);
      if (isActiveAdmin(user)) this.add(writes, ACTIVE_ADMINS, 1);
      this.audit.append(writes, { ...cause, target: targetOf(user), after: auditView(user) });
    });
  }

  async update(id: string, change: (user: User) => User, cause: AuditCause | null): Promise<User> {
    return this.store.transaction((writes) => {
      const before = writes.get(this.users, id);
      if (!before) throw noSuchUser();
      const changed = change(before);
      const after = cause === null ? changed : { ...changed, version: before.version + 1 };
      const difference = Number(isActiveAdmin(after)) - Number(isActiveAdmin(before));
      if (difference < 0 && this.count(writes, ACTIVE_ADMINS) <= 1) throw lastAdmin();
      if (difference !== 0) this.add(writes, ACTIVE_ADMINS, difference);
      if (after.email !== before.email) {
        if (writes.get(this.idsByEmail, after.email) !== undefined) throw emailTaken();
        writes.remove(this.idsByEmail, before.email);
        writes.put(this.idsByEmail, after.email, id);
      }
      writes.put(this.users, id, after);
      if (cause !== null) {
        this.audit.append(writes, {
          ...cause,
          target: targetOf(after),
          before: auditView(before),
          after: auditView(after),
        });
      }
      return after;
    });
  }

  async remove(id: string, check: (user: User) => void, cause: AuditCause): Promise<void> {
    await this.store.transaction((writes) => {
      const user = writes.get(this.users, id);
      if (!user) throw noSuchUser();
      check(user);
      if (isActiveAdmin(user)) {
        if (this.count(writes, ACTIVE_ADMINS) <= 1) throw lastAdmin();
        this.add(writes, ACTIVE_ADMINS, -1);
      }
      this.add(writes, ALL, -1);
      writes.remove(this.users, id);
      writes.remove(this.idsByEmail, user.email);
      writes.remove(this.byTime, [user.created_at, id]);
      this.audit.append(writes, { ...cause, target: targetOf(user), before: auditView(user) });
    });
  }

  async hasActiveAdmin(): Promise<boolean> {
    return (this.counts.get(ACTIVE_ADMINS) ?? 0) > 0;
  }

  private count(writes: Transaction, name: string): number {
    return writes.get(this.counts, name) ?? 0;
  }

  private add(writes: Transaction, name: string, difference: number): void {
    writes.put(this.counts, name, this.count(writes, name) + difference);
  }
}

/** What people see, and of the credentials that they changed. The log turns their text into hashes. */
function auditView(user: User): unknown {
  return {
    ...userView(user),
    password_hash: user.password_hash,
    totp_secret: user.totp?.secret ?? null,
    credential_epoch: user.credential_epoch,
  };
}

function targetOf(user: User): string {
  return `user:${user.id}`;
}

function emailTaken(): AppError {
  return new AppError('conflict', 'this email address belongs to another user');
}

export function noSuchUser(): AppError {
  return new AppError('not_found', 'there is no user with this id');
}
