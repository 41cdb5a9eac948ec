import { AppError } from '../../platform/app-error.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { Authenticator } from '../http/authenticate.ts';
import { actorOf } from './login.ts';
import type { OperatorAccess } from './operator-access.ts';
import { isCsrfToken, type Sessions } from './sessions.ts';

/** The credentials of this installation, for the route table. */
export function createAuthenticator(parts: {
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
