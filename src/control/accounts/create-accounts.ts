import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import { apiKeyRoutes } from '../api-keys/api-key-routes.ts';
import { createApiKeyStore } from '../api-keys/api-key-store.ts';
import { type ApiKeys, createApiKeys } from '../api-keys/api-keys.ts';
import type { TransactionalAuditLog } from '../audit/audit-log.ts';
import type { Authenticator } from '../http/authenticate.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import type { Accounts } from './accounts.ts';
import { authRoutes } from './auth-routes.ts';
import { actorOf } from './login.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { mintSetupToken } from './manage-users.ts';
import { createOneTimeTokens } from './one-time-tokens.ts';
import { createOperatorAccess, type OperatorAccess } from './operator-access.ts';
import { createPasswords } from './passwords.ts';
import { createSessionStore } from './session-store.ts';
import { createSessions, isCsrfToken, type Sessions } from './sessions.ts';
import { totpRoutes } from './totp-routes.ts';
import { userRoutes } from './user-routes.ts';
import { createUserStore } from './user-store.ts';

export interface AccountsParts {
  store: KeyValueStore;
  audit: TransactionalAuditLog;
  logger: Logger;
  secretBox: SecretBox;
  /** Where the file for the command line is written. */
  dataDir: string;
  /** The address of the console; known in full only once the plane listens. */
  baseUrl: () => string;
  nowIso: () => string;
}

/** Puts the parts together. Nothing is read or written before {@link Accounts.open}. */
export function createAccounts(parts: AccountsParts): Accounts {
  const { store, audit, logger, secretBox, baseUrl } = parts;
  const nowMs = () => Date.parse(parts.nowIso());
  const users = createUserStore(store, audit);
  const sessions = createSessions({
    store: createSessionStore(store),
    users,
    nowMs,
    async onReuse(session) {
      logger.warn(
        { user_id: session.user_id },
        'a refresh token was used twice; its session has been ended, for the thief and for the owner',
      );
      await audit.record({
        actor: { type: 'public' },
        action: 'auth.refresh_reused',
        target: `user:${session.user_id}`,
        requestId: null,
        ip: null,
      });
    },
  });
  const apiKeyStore = createApiKeyStore(store, audit);
  const apiKeys = createApiKeys(apiKeyStore, nowMs);
  const operator = createOperatorAccess(parts.dataDir);
  const tokens = createOneTimeTokens(store, nowMs);
  const accounts: Accounts = {
    users,
    sessions,
    tokens,
    audit,
    logger,
    secretBox,
    nowMs,
    baseUrl,
    passwords: createPasswords(),
    throttle: createLoginThrottle(nowMs),
    authenticator: createAuthenticator({ sessions, apiKeys, operator }),
    routes: [],
    // Behind the hash, so that the token is sent to no server and stands in no log on the way.
    passwordUrl: (token) => `${baseUrl()}/choose-password#token=${token}`,
    async open(listeningUrl) {
      await operator.publish(listeningUrl);
      const token = await mintSetupToken({ users, tokens });
      return { setupUrl: token === null ? null : `${baseUrl()}/setup#token=${token}` };
    },
  };
  accounts.routes.push(
    ...authRoutes(accounts),
    ...totpRoutes(accounts),
    ...userRoutes(accounts),
    ...apiKeyRoutes({ store: apiKeyStore, apiKeys }),
  );
  return accounts;
}

/** The credentials of this installation, for the route table. */
function createAuthenticator(parts: {
  sessions: Sessions;
  apiKeys: ApiKeys;
  operator: OperatorAccess;
}): Authenticator {
  return {
    async session(cookie, csrf, isMutation) {
      const found = await parts.sessions.byCookie(cookie);
      if (found === null) return null;
      if (isMutation && !isCsrfToken(csrf, cookie)) {
        throw new AppError(
          'forbidden',
          'the header X-CSRF-Token is missing or wrong; send the csrf_token of the login, or of /api/v1/auth/me',
        );
      }
      return actorOf(found.user, found.session.id);
    },
    async bearer(token) {
      const operator = parts.operator.actor(token);
      if (operator !== null) return operator;
      const found = await parts.sessions.byAccessToken(token);
      return found === null ? null : actorOf(found.user, found.session.id);
    },
    apiKey: (key) => parts.apiKeys.authenticate(key),
  };
}
