import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { causeOf } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { DEFAULT_PAGE, PAGE_QUERY, Page, pageOf, readCreatedPosition } from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { type ApiKey, type ApiKeyStore, noSuchKey } from './api-key-store.ts';
import type { ApiKeys } from './api-keys.ts';

const PATH = `${API_PREFIX}/api-keys`;
const TAG = 'api-keys';

const ScopeSchema = Type.Union([
  Type.Literal('calls:write'),
  Type.Literal('records:read'),
  Type.Literal('campaigns:write'),
  Type.Literal('kb:write'),
]);
/** A thousand a second: beyond it a limit means nothing on one machine. */
const MAX_PER_MINUTE = 60_000;

const Id = Type.Object({ key_id: Type.String({ pattern: '^key_[0-9a-f]{24}$' }) });
const NullableTime = Type.Union([Type.String(), Type.Null()]);
const KEY_FIELDS = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'How the key begins' }),
  scopes: Type.Array(ScopeSchema),
  requests_per_minute: Type.Union([Type.Integer(), Type.Null()]),
  created_at: Type.String(),
  expires_at: NullableTime,
  last_used_at: Type.Union([Type.String(), Type.Null()], { description: 'Right to within a minute' }),
  archived_at: NullableTime,
};
const KeyView = Type.Object(KEY_FIELDS, { title: 'ApiKey' });
const NewKeyBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 120, pattern: '\\S' }),
    scopes: Type.Array(ScopeSchema, { minItems: 1, maxItems: 4 }),
    requests_per_minute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PER_MINUTE,
        description: 'What this key may send on all routes together; left out, each route has its own limit',
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 40,
        pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$',
        description: 'ISO 8601 with an offset; left out, the key does not expire',
      }),
    ),
  },
  { additionalProperties: false },
);

/** `/api/v1/api-keys`: keys for machines, sent as `X-API-Key`. For admins. */
export function apiKeyRoutes(parts: { store: ApiKeyStore; apiKeys: ApiKeys }): AnyRoute[] {
  const { store, apiKeys } = parts;
  return [
    route({
      method: 'GET',
      path: PATH,
      operationId: 'listApiKeys',
      summary: 'List API keys, newest first, archived ones included',
      tag: TAG,
      auth: ADMIN,
      query: Type.Object(PAGE_QUERY),
      responses: { 200: { description: 'A page', schema: Page(KeyView) } },
      async handler({ query }) {
        const limit = query.limit ?? DEFAULT_PAGE;
        const before = query.cursor === undefined ? {} : { before: readCreatedPosition(query.cursor) };
        const found = await store.list({ limit: limit + 1, ...before });
        return { status: 200, json: pageOf(found, limit, keyView, (last) => [last.created_at, last.id]) };
      },
    }),
    route({
      method: 'POST',
      path: PATH,
      operationId: 'createApiKey',
      summary: 'Create an API key; the key itself is shown in this answer only',
      description:
        'A repeat makes another key, also with an Idempotency-Key: the answer holds a secret, and answers with secrets are not kept.',
      tag: TAG,
      auth: ADMIN,
      body: { schema: NewKeyBody, example: { name: 'dialler in Pune', scopes: ['calls:write'] } },
      responses: {
        201: {
          description: 'The key',
          schema: Type.Object({ ...KEY_FIELDS, key: Type.String({ description: 'Send it as `X-API-Key`' }) }),
        },
        409: { description: 'No more keys fit' },
      },
      async handler({ body, actor, requestId, remoteAddress }) {
        const { key, secret } = await apiKeys.create(
          {
            name: body.name,
            scopes: body.scopes,
            expiresAt: body.expires_at ?? null,
            requestsPerMinute: body.requests_per_minute ?? null,
          },
          causeOf(actor, 'api_key.create', { requestId, ip: remoteAddress }),
        );
        return {
          status: 201,
          headers: { 'cache-control': 'no-store' },
          json: { ...keyView(key), key: secret },
        };
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/{key_id}`,
      operationId: 'getApiKey',
      summary: 'One API key, without the key itself',
      tag: TAG,
      auth: ADMIN,
      params: Id,
      responses: { 200: { description: 'The key', schema: KeyView }, 404: { description: 'No such key' } },
      async handler({ params }) {
        const key = await store.get(params.key_id);
        if (key === null) throw noSuchKey();
        return { status: 200, json: keyView(key) };
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{key_id}/archive`,
      operationId: 'archiveApiKey',
      summary: 'Archive a key: it opens nothing from now on, and stays listed',
      tag: TAG,
      auth: ADMIN,
      params: Id,
      responses: { 200: { description: 'Archived', schema: KeyView }, 404: { description: 'No such key' } },
      async handler({ params, actor, requestId, remoteAddress }) {
        const cause = causeOf(actor, 'api_key.archive', { requestId, ip: remoteAddress });
        return { status: 200, json: keyView(await apiKeys.archive(params.key_id, cause)) };
      },
    }),
  ];
}

function keyView({ hash: _, ...key }: ApiKey): Omit<ApiKey, 'hash'> {
  return key;
}
