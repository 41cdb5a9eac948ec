import { join } from 'node:path';
import { isoNow } from '../../platform/clock.ts';
import { openKeyValueStore } from '../../platform/key-value-store.ts';
import { causeOf } from '../audit/audit-entry.ts';
import { type AuditLog, createAuditLog } from '../audit/audit-log.ts';
import type { CreatedPosition } from '../http/pagination.ts';
import { changeUser, createUser, type ManageUsersParts, type NewUser, resetUser } from './manage-users.ts';
import { createOneTimeTokens } from './one-time-tokens.ts';
import { OPERATOR } from './operator-access.ts';
import { createPasswords } from './passwords.ts';
import { createSessionStore } from './session-store.ts';
import { createSessions } from './sessions.ts';
import { type UserView, userView } from './user.ts';
import { createUserStore } from './user-store.ts';

/** What the command line does with users where no plane runs: the same functions as behind the routes. */
export interface OfflineAccounts {
  list(page: { limit: number; after?: CreatedPosition }): Promise<UserView[]>;
  create(wanted: NewUser): Promise<{ user: UserView; passwordToken: string | null }>;
  reset(id: string): Promise<{ user: UserView; passwordToken: string | null }>;
  setDisabled(id: string, disabled: boolean): Promise<UserView>;
  verifyAudit: AuditLog['verify'];
  close(): Promise<void>;
}

/** Opens the store of `dataDir` itself. Throws `store_unavailable` while a plane has it. */
export function openOfflineAccounts(dataDir: string): OfflineAccounts {
  const store = openKeyValueStore(join(dataDir, 'store'));
  const audit = createAuditLog(store, isoNow);
  const users = createUserStore(store, audit);
  const nowMs = Date.now;
  const parts: ManageUsersParts = {
    users,
    sessions: createSessions({
      store: createSessionStore(store),
      users,
      nowMs,
      // Nobody shows refresh tokens here.
      onReuse: async () => undefined,
    }),
    tokens: createOneTimeTokens(store, nowMs),
    passwords: createPasswords(),
    nowMs,
  };
  const cause = (action: string) => causeOf(OPERATOR, action, { requestId: null, ip: null });
  return {
    list: async (page) => (await users.list(page)).map(userView),
    async create(wanted) {
      const { user, passwordToken } = await createUser(parts, wanted, cause('user.create'));
      return { user: userView(user), passwordToken };
    },
    async reset(id) {
      const { user, passwordToken } = await resetUser(parts, id, cause('user.reset'));
      return { user: userView(user), passwordToken };
    },
    setDisabled: async (id, disabled) =>
      userView(await changeUser(parts, id, { disabled }, () => undefined, cause('user.update'))),
    verifyAudit: (options) => audit.verify(options),
    close: () => store.close(),
  };
}
