import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { causeOf } from '../audit/audit-entry.ts';
import { type AnyRoute, route } from '../http/route.ts';
import type { Accounts } from './accounts.ts';
import { ANY_USER, requireUser } from './auth-routes.ts';
import { confirmPassword } from './login.ts';
import { MAX_PASSWORD_CHARS } from './passwords.ts';
import { confirmSecondFactor, disableSecondFactor, enrolSecondFactor } from './second-factor.ts';
import { totpUri } from './totp.ts';
import { UserView, userView } from './user.ts';

const PREFIX = `${API_PREFIX}/auth/totp`;
const TAG = 'auth';
/** What authenticator apps show above the code. */
const ISSUER = 'Trunkline';
const Password = Type.String({ minLength: 1, maxLength: 4 * MAX_PASSWORD_CHARS });

/** `/api/v1/auth/totp`: the second factor of the one who is logged in (RFC 6238). */
export function totpRoutes(accounts: Accounts): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: `${PREFIX}/enrol`,
      operationId: 'enrolSecondFactor',
      summary: 'Get a secret for an authenticator app; nothing changes until it is confirmed',
      tag: TAG,
      auth: ANY_USER,
      body: {
        schema: Type.Object({ password: Password }, { additionalProperties: false }),
        example: { password: 'a long sentence of yours' },
      },
      responses: {
        200: {
          description: 'The secret, to type or as the text of a QR code; it is not shown again',
          schema: Type.Object({ secret: Type.String(), otpauth_uri: Type.String() }),
        },
        403: { description: 'The password is wrong' },
        409: { description: 'There is a second factor already' },
        429: { description: 'Too many attempts' },
      },
      async handler({ actor, body, remoteAddress, requestId }) {
        const user = await requireUser(accounts, actor);
        await confirmPassword(accounts, user, body.password, { requestId, ip: remoteAddress });
        const secret = await enrolSecondFactor(accounts, user.id);
        return {
          status: 200,
          headers: { 'cache-control': 'no-store' },
          json: { secret, otpauth_uri: totpUri(secret, user.email, ISSUER) },
        };
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/confirm`,
      operationId: 'confirmSecondFactor',
      summary: 'Turn the enrolled second factor on with a first code; every other session of yours ends',
      tag: TAG,
      auth: ANY_USER,
      body: {
        schema: Type.Object(
          { code: Type.String({ minLength: 6, maxLength: 10 }) },
          { additionalProperties: false },
        ),
        example: { code: '123456' },
      },
      responses: {
        200: {
          description: 'On. The recovery codes, each good once, are not shown again',
          schema: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
        },
        409: { description: 'Nothing was enrolled' },
        422: { description: 'The code is not right' },
        429: { description: 'Too many attempts' },
      },
      async handler({ actor, body, remoteAddress, requestId }) {
        const user = await requireUser(accounts, actor);
        const attempt = accounts.throttle.begin(user.email, remoteAddress);
        const cause = causeOf(actor, 'user.enable_totp', { requestId, ip: remoteAddress });
        const confirmed = await confirmSecondFactor(accounts, user.id, body.code, cause);
        attempt.succeeded();
        await accounts.sessions.keepOnly(confirmed.user, actor.type === 'user' ? actor.sessionId : null);
        return {
          status: 200,
          headers: { 'cache-control': 'no-store' },
          json: { recovery_codes: confirmed.recoveryCodes },
        };
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/disable`,
      operationId: 'disableSecondFactor',
      summary: 'Turn the second factor off; every other session of yours ends',
      tag: TAG,
      auth: ANY_USER,
      body: {
        schema: Type.Object({ password: Password }, { additionalProperties: false }),
        example: { password: 'a long sentence of yours' },
      },
      responses: {
        200: { description: 'Off', schema: UserView },
        403: { description: 'The password is wrong' },
        409: { description: 'There is none' },
        429: { description: 'Too many attempts' },
      },
      async handler({ actor, body, remoteAddress, requestId }) {
        const user = await requireUser(accounts, actor);
        const origin = { requestId, ip: remoteAddress };
        await confirmPassword(accounts, user, body.password, origin);
        const cause = causeOf(actor, 'user.disable_totp', origin);
        const changed = await disableSecondFactor(accounts, user.id, cause);
        await accounts.sessions.keepOnly(changed, actor.type === 'user' ? actor.sessionId : null);
        return { status: 200, json: userView(changed) };
      },
    }),
  ];
}
