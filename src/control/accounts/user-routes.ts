import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { causeOf } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { DEFAULT_PAGE, PAGE_QUERY, Page, pageOf, readCreatedPosition } from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import type { Accounts } from './accounts.ts';
import { changeUser, createUser, removeUser, resetUser } from './manage-users.ts';
import { MAX_PASSWORD_CHARS } from './passwords.ts';
import { Email, PersonName, RoleSchema, Skills, type User, UserView, userView } from './user.ts';
import { noSuchUser } from './user-store.ts';

const PATH = `${API_PREFIX}/users`;
const TAG = 'users';

const Id = Type.Object({ user_id: Type.String({ pattern: '^usr_[0-9a-f]{24}$' }) });
const UserWithLink = Type.Object({
  user: UserView,
  password_url: Type.Union([Type.String(), Type.Null()], {
    description: 'Where the person chooses a password, once and within 24 hours; hand it over yourself',
  }),
});
const NewUserBody = Type.Object(
  {
    email: Email,
    name: PersonName,
    role: RoleSchema,
    skills: Type.Optional(Skills),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4 * MAX_PASSWORD_CHARS,
        description: 'Left out, the person chooses one through `password_url`',
      }),
    ),
  },
  { additionalProperties: false },
);
const ChangeBody = Type.Object(
  {
    email: Type.Optional(Email),
    name: Type.Optional(PersonName),
    role: Type.Optional(RoleSchema),
    skills: Type.Optional(Skills),
    disabled: Type.Optional(Type.Boolean({ description: 'true ends every session of the user at once' })),
  },
  { additionalProperties: false, minProperties: 1 },
);
const ETAG = { etag: 'The version, for `If-Match`' };

/** `/api/v1/users`: who may log in, and as what. For admins. */
export function userRoutes(accounts: Accounts): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: PATH,
      operationId: 'listUsers',
      summary: 'List users in the order of their creation',
      tag: TAG,
      auth: ADMIN,
      query: Type.Object(PAGE_QUERY),
      responses: { 200: { description: 'A page', schema: Page(UserView) } },
      async handler({ query }) {
        const limit = query.limit ?? DEFAULT_PAGE;
        const after = query.cursor === undefined ? {} : { after: readCreatedPosition(query.cursor) };
        const found = await accounts.users.list({ limit: limit + 1, ...after });
        return { status: 200, json: pageOf(found, limit, userView, (last) => [last.created_at, last.id]) };
      },
    }),
    route({
      method: 'POST',
      path: PATH,
      operationId: 'createUser',
      summary: 'Create a user, with a password or with a link to choose one',
      tag: TAG,
      auth: ADMIN,
      body: {
        schema: NewUserBody,
        example: { email: 'ravi@example.org', name: 'Ravi Iyer', role: 'agent', skills: ['billing'] },
      },
      responses: {
        201: { description: 'The user exists', schema: UserWithLink, headers: ETAG },
        409: { description: 'The address belongs to another user' },
      },
      async handler({ body, actor, requestId, remoteAddress }) {
        const cause = causeOf(actor, 'user.create', { requestId, ip: remoteAddress });
        const created = await createUser(accounts, body, cause);
        return withLink(accounts, 201, created.user, created.passwordToken);
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/{user_id}`,
      operationId: 'getUser',
      summary: 'One user',
      tag: TAG,
      auth: ADMIN,
      params: Id,
      responses: {
        200: { description: 'The user', schema: UserView, headers: ETAG },
        404: { description: 'No such user' },
      },
      async handler({ params }) {
        const user = await accounts.users.get(params.user_id);
        if (user === null) throw noSuchUser();
        return plain(user);
      },
    }),
    route({
      method: 'PATCH',
      path: `${PATH}/{user_id}`,
      operationId: 'changeUser',
      summary: 'Change name, address, role or skills, disable or enable',
      tag: TAG,
      auth: ADMIN,
      params: Id,
      body: { schema: ChangeBody, example: { role: 'supervisor' } },
      responses: {
        200: { description: 'The user as it stands now', schema: UserView, headers: ETAG },
        404: { description: 'No such user' },
        409: { description: 'The address is taken, or this is the last active admin' },
        412: { description: 'Changed since `If-Match`' },
      },
      async handler({ params, body, headers, actor, requestId, remoteAddress }) {
        const cause = causeOf(actor, 'user.update', { requestId, ip: remoteAddress });
        const check = (user: User) => requireMatch(headers, user.version);
        return plain(await changeUser(accounts, params.user_id, body, check, cause));
      },
    }),
    route({
      method: 'DELETE',
      path: `${PATH}/{user_id}`,
      operationId: 'removeUser',
      summary: 'Remove a user; the audit log keeps the name',
      tag: TAG,
      auth: ADMIN,
      params: Id,
      responses: {
        204: { description: 'Removed, and every session has ended' },
        404: { description: 'No such user' },
        409: { description: 'This is the last active admin' },
        412: { description: 'Changed since `If-Match`' },
      },
      async handler({ params, headers, actor, requestId, remoteAddress }) {
        const cause = causeOf(actor, 'user.remove', { requestId, ip: remoteAddress });
        await removeUser(accounts, params.user_id, (user) => requireMatch(headers, user.version), cause);
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{user_id}/reset`,
      operationId: 'resetUser',
      summary: 'Take password and second factor away and get a link to choose a new password',
      tag: TAG,
      auth: ADMIN,
      params: Id,
      responses: {
        200: { description: 'The old password opens nothing any more', schema: UserWithLink, headers: ETAG },
        404: { description: 'No such user' },
        409: { description: 'The user is disabled' },
      },
      async handler({ params, actor, requestId, remoteAddress }) {
        if (actor.type === 'user' && actor.id === params.user_id) {
          throw new AppError('conflict', 'change your own password with /api/v1/auth/change-password');
        }
        const cause = causeOf(actor, 'user.reset', { requestId, ip: remoteAddress });
        const { user, passwordToken } = await resetUser(accounts, params.user_id, cause);
        return withLink(accounts, 200, user, passwordToken);
      },
    }),
  ];
}

function plain(user: User): HttpReply {
  return { status: 200, headers: { etag: etagOf(user.version) }, json: userView(user) };
}

function withLink(accounts: Accounts, status: number, user: User, token: string | null): HttpReply {
  return {
    status,
    headers: { etag: etagOf(user.version), 'cache-control': 'no-store' },
    json: { user: userView(user), password_url: token === null ? null : accounts.passwordUrl(token) },
  };
}
