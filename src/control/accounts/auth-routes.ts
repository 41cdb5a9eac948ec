import { type Static, Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { causeOf } from '../audit/audit-entry.ts';
import { requireOwnOrigin, sessionCookie } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import type { Accounts } from './accounts.ts';
import { checkLogin, confirmPassword, type Origin } from './login.ts';
import { changePassword, choosePassword, createFirstAdmin } from './manage-users.ts';
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from './passwords.ts';
import { COOKIE_LIFE_MS, clearedCookie, csrfOf, setCookie, type TokenPair } from './sessions.ts';
import { Email, PersonName, ROLES, type User, UserView, userView } from './user.ts';

const PREFIX = `${API_PREFIX}/auth`;
const TAG = 'auth';
/** Any person who is logged in. */
export const ANY_USER = { kind: 'users', roles: ROLES } as const;

const Token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The part behind `token=` of the link',
});
const NewPassword = Type.String({
  minLength: 1,
  maxLength: 4 * MAX_PASSWORD_CHARS,
  description: `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
});
const AnyPassword = Type.String({ minLength: 1, maxLength: 4 * MAX_PASSWORD_CHARS });

export const Tokens = Type.Object(
  {
    access_token: Type.String({ description: 'For `Authorization: Bearer`' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    refresh_token: Type.String({
      description: 'Good once, for `/auth/refresh`; the answer holds the next one',
    }),
    refresh_expires_in: Type.Integer({
      description: 'Seconds, counted from the login whatever is refreshed',
    }),
  },
  { title: 'Tokens' },
);
const CookieLogin = Type.Object({
  user: UserView,
  csrf_token: Type.String({
    description: 'For the header `X-CSRF-Token` of every request that changes something',
  }),
  expires_in: Type.Integer({ description: 'Seconds' }),
});
const LoginBody = Type.Object(
  {
    email: Email,
    password: AnyPassword,
    code: Type.Optional(
      Type.String({
        minLength: 6,
        maxLength: 40,
        description: 'Second factor: six digits, or a recovery code',
      }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('cookie'), Type.Literal('token')], {
        description: '`cookie` (default) for browsers, `token` for machines',
      }),
    ),
  },
  { additionalProperties: false },
);

/** `/api/v1/auth`: first admin, log in and out, tokens, password. */
export function authRoutes(accounts: Accounts): AnyRoute[] {
  const https = () => accounts.baseUrl().startsWith('https:');
  return [
    route({
      method: 'POST',
      path: `${PREFIX}/setup`,
      operationId: 'setUpFirstAdmin',
      summary: 'Create the first admin with the token that the start has printed',
      tag: TAG,
      auth: { kind: 'public' },
      body: {
        schema: Type.Object(
          { token: Token, email: Email, name: PersonName, password: NewPassword },
          { additionalProperties: false },
        ),
        example: {
          token: 'tko_...',
          email: 'asha@example.org',
          name: 'Asha Rao',
          password: 'a long sentence of yours',
        },
      },
      responses: {
        201: { description: 'The admin exists and may log in', schema: UserView },
        401: { description: 'The token is wrong, used or expired' },
        403: { description: 'A page of another site has sent this' },
        409: { description: 'There is an admin already' },
      },
      async handler({ body, headers, remoteAddress, requestId }) {
        requireOwnOrigin(headers, accounts.baseUrl());
        const cause = causeOf({ type: 'public' }, 'auth.setup', { requestId, ip: remoteAddress });
        const { token, ...wanted } = body;
        const user = await createFirstAdmin(accounts, token, wanted, cause);
        return { status: 201, json: userView(user) };
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/login`,
      operationId: 'logIn',
      summary: 'Log in with email, password and, where it is on, the second factor',
      description:
        'With `mode` = `cookie` the answer sets the session cookie: 12 hours at most, for admins over after 30 idle minutes. With `mode` = `token` it holds a bearer token for 15 minutes and a refresh token.',
      tag: TAG,
      auth: { kind: 'public' },
      body: {
        schema: LoginBody,
        example: { email: 'asha@example.org', password: 'a long sentence of yours', mode: 'token' },
      },
      responses: {
        200: {
          description: 'Logged in',
          schema: Type.Union([CookieLogin, Tokens]),
          headers: { 'set-cookie': 'The session cookie, with mode `cookie`' },
        },
        401: { description: 'Something is wrong; `totp_required`: only the code is missing' },
        403: { description: 'A page of another site has sent this' },
        429: { description: 'Too many attempts with this account or from this address' },
      },
      async handler({ body, headers, remoteAddress, requestId }) {
        requireOwnOrigin(headers, accounts.baseUrl());
        const user = await checkLogin(accounts, body, { requestId, ip: remoteAddress });
        if (body.mode === 'token') return fresh(tokensJson(await accounts.sessions.openTokens(user)));
        const opened = await accounts.sessions.openCookie(user);
        return fresh(
          { user: userView(user), csrf_token: opened.csrf, expires_in: COOKIE_LIFE_MS / 1000 },
          { 'set-cookie': setCookie(opened.cookie, https()) },
        );
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/refresh`,
      operationId: 'refreshTokens',
      summary: 'Exchange a refresh token for new tokens',
      description: 'A refresh token is good once. One that comes a second time ends the whole session.',
      tag: TAG,
      auth: { kind: 'public' },
      body: {
        schema: Type.Object(
          { refresh_token: Type.String({ minLength: 1, maxLength: 200 }) },
          { additionalProperties: false },
        ),
        example: { refresh_token: 'tkr_...' },
      },
      responses: {
        200: { description: 'New tokens', schema: Tokens },
        401: { description: 'The token is wrong, used or expired' },
      },
      async handler({ body }) {
        const { tokens } = await accounts.sessions.refresh(body.refresh_token);
        return fresh(tokensJson(tokens));
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/logout`,
      operationId: 'logOut',
      summary: 'End this session, with its cookie or all its tokens',
      tag: TAG,
      auth: ANY_USER,
      responses: {
        204: { description: 'The session is over', headers: { 'set-cookie': 'Takes the cookie away' } },
      },
      async handler({ actor, requestId, remoteAddress }) {
        if (actor.type !== 'user' || actor.sessionId === null) throw notAPerson();
        await accounts.sessions.close(actor.sessionId);
        await accounts.audit.record({
          ...causeOf(actor, 'auth.logout', { requestId, ip: remoteAddress }),
          target: `user:${actor.id}`,
        });
        return { status: 204, headers: { 'set-cookie': clearedCookie(https()) } };
      },
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/me`,
      operationId: 'whoAmI',
      summary: 'The user who is logged in; for a cookie also its CSRF token',
      tag: TAG,
      auth: ANY_USER,
      responses: {
        200: {
          description: 'The user',
          schema: Type.Object({ user: UserView, csrf_token: Type.Union([Type.String(), Type.Null()]) }),
        },
      },
      async handler({ actor, headers }) {
        const user = await requireUser(accounts, actor);
        const cookie = headers.authorization === undefined ? sessionCookie(headers.cookie) : null;
        return fresh({ user: userView(user), csrf_token: cookie === null ? null : csrfOf(cookie) });
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/change-password`,
      operationId: 'changePassword',
      summary: 'Choose a new password; every other session of yours ends',
      tag: TAG,
      auth: ANY_USER,
      body: {
        schema: Type.Object(
          { current_password: AnyPassword, new_password: NewPassword },
          { additionalProperties: false },
        ),
        example: { current_password: 'a long sentence of yours', new_password: 'quite another sentence' },
      },
      responses: {
        200: { description: 'The new password stands', schema: UserView },
        403: { description: 'The current password is wrong' },
        409: { description: 'It was changed meanwhile' },
        429: { description: 'Too many attempts' },
      },
      async handler({ actor, body, remoteAddress, requestId }) {
        const origin: Origin = { requestId, ip: remoteAddress };
        const user = await requireUser(accounts, actor);
        await confirmPassword(accounts, user, body.current_password, origin);
        const sessionId = actor.type === 'user' ? actor.sessionId : null;
        const cause = causeOf(actor, 'user.change_password', origin);
        const changed = await changePassword(accounts, user, body.new_password, sessionId, cause);
        return { status: 200, json: userView(changed) };
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/choose-password`,
      operationId: 'choosePassword',
      summary: 'Choose a password with the link of an invitation or a reset',
      tag: TAG,
      auth: { kind: 'public' },
      body: {
        schema: Type.Object({ token: Token, password: NewPassword }, { additionalProperties: false }),
        example: { token: 'tko_...', password: 'a long sentence of yours' },
      },
      responses: {
        200: { description: 'The password stands; log in with it', schema: UserView },
        401: { description: 'The link was used or has expired' },
        403: { description: 'A page of another site has sent this' },
      },
      async handler({ body, headers, remoteAddress, requestId }) {
        requireOwnOrigin(headers, accounts.baseUrl());
        const user = await choosePassword(accounts, body.token, body.password, (person) =>
          causeOf(
            { type: 'user', id: person.id, name: person.name, role: person.role, sessionId: null },
            'user.choose_password',
            { requestId, ip: remoteAddress },
          ),
        );
        return { status: 200, json: userView(user) };
      },
    }),
  ];
}

/** The stored user behind an actor. Throws `forbidden` for keys, and for the operator, who has no password. */
export async function requireUser(
  accounts: Pick<Accounts, 'users'>,
  actor: { type: string; id?: string },
): Promise<User> {
  const user = actor.type === 'user' && actor.id !== undefined ? await accounts.users.get(actor.id) : null;
  if (user === null) throw notAPerson();
  return user;
}

function notAPerson(): AppError {
  return new AppError('forbidden', 'this is for people who are logged in with a password');
}

function tokensJson(tokens: TokenPair): Static<typeof Tokens> {
  const { access_token, expires_in, refresh_token, refresh_expires_in } = tokens;
  return { access_token, token_type: 'Bearer', expires_in, refresh_token, refresh_expires_in };
}

/** Nothing on the way may keep an answer with a credential in it. */
function fresh(json: unknown, headers: Record<string, string> = {}): HttpReply {
  return { status: 200, json, headers: { 'cache-control': 'no-store', ...headers } };
}
