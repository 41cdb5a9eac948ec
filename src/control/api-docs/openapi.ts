import { STATUS_CODES } from 'node:http';
import { type TObject, type TSchema, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../../contracts/error-catalogue.ts';
import { FleetErrorSchema, MistakesSchema } from '../../contracts/fleet-refusals.ts';
import { FLEET_ROUTES, type FleetRoute } from '../../contracts/fleet-routes.ts';
import type { ResponseDef } from '../../contracts/route-declaration.ts';
import { type Auth, SESSION_COOKIE_NAMES } from '../http/authenticate.ts';
import type { AnyRoute } from '../http/route.ts';

export interface OpenApiParts {
  routes: readonly AnyRoute[];
  version: string;
  baseUrl: string;
  fleetUrl: string;
}

export type OpenApiDocument = Record<string, unknown> & { paths: Record<string, Record<string, unknown>> };

type AnyDeclaration = Omit<AnyRoute, 'handler' | 'auth'> & { auth: Auth | FleetRoute['auth'] };

/** The form of errors, which each of the two servers has its own of. */
interface ErrorForm {
  contentType: string;
  schema: TSchema;
}

const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence: what is wrong and what to do' }),
    code: Type.String({ description: 'Stable; `docs/errors.md` lists all' }),
    request_id: Type.String({ description: 'Also in the log of the server' }),
    errors: Type.Optional(MistakesSchema),
  },
  { title: 'Problem', description: 'An error (RFC 9457)', additionalProperties: true },
);
const PROBLEM: ErrorForm = { contentType: 'application/problem+json', schema: ProblemSchema };
const FLEET_ERROR: ErrorForm = { contentType: 'application/json', schema: FleetErrorSchema };

/** The OpenAPI 3.1 document of both servers, made from the declarations that also serve them. */
export function openApiDocument(parts: OpenApiParts): OpenApiDocument {
  const components = createComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  const shown = parts.routes.filter((route) => !route.hidden);
  for (const route of shown) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, operation(route, possibleErrors(route), PROBLEM, components));
  }
  for (const route of FLEET_ROUTES) {
    if (route.hidden) continue;
    paths[route.path] ??= { servers: [{ url: parts.fleetUrl, description: 'Fleet port' }] };
    Object.assign(
      paths[route.path] ?? {},
      operation(route, possibleFleetErrors(route), FLEET_ERROR, components),
    );
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Trunkline', version: parts.version, description: DESCRIPTION },
    servers: [{ url: parts.baseUrl, description: 'Control plane' }],
    tags: [...new Set([...shown, ...FLEET_ROUTES].map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: { schemas: components.schemas, securitySchemes: SECURITY_SCHEMES },
  };
}

/** What the table and the server may answer to a request for `route`, beside what the route itself declares. */
function possibleErrors(route: AnyRoute): ErrorCode[] {
  const { auth } = route;
  const takesBody = route.body !== undefined || route.method !== 'GET';
  const codes: (ErrorCode | false)[] = [
    'bad_request',
    (auth.kind === 'users' || auth.kind === 'api_key') && 'unauthorized',
    auth.kind !== 'public' && 'forbidden',
    route.params !== undefined && 'not_found',
    route.idempotent === true && 'idempotency_in_progress',
    takesBody && 'payload_too_large',
    takesBody && 'unsupported_media_type',
    'validation_error',
    route.idempotent === true && 'idempotency_mismatch',
    'at_capacity',
    route.rateLimit !== false && 'rate_limited',
    'internal',
    (auth.kind !== 'public' || takesBody) && 'store_unavailable',
  ];
  return codes.filter((code) => code !== false);
}

/** The same for a route of the fleet port. */
function possibleFleetErrors({ auth, params, body }: FleetRoute): ErrorCode[] {
  const codes: (ErrorCode | false)[] = [
    body !== undefined && 'bad_request',
    auth.optional !== true && 'forbidden',
    params !== undefined && 'not_found',
    body !== undefined && 'payload_too_large',
    body !== undefined && 'unsupported_media_type',
    body !== undefined && 'validation_error',
  ];
  return codes.filter((code) => code !== false);
}

const DESCRIPTION = [
  'The control plane of a voice-bot platform, and the fleet port that takes the calls.',
  'Errors are `application/problem+json` with a stable `code`.',
  'Lists are paged by an opaque `cursor`. Times are ISO 8601 UTC.',
  'A POST that creates or dials may carry an `Idempotency-Key`: the same request under the same key is done once.',
].join(' ');

const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE_NAMES[0],
    description: `The session of a person; over plain http the cookie is ${SESSION_COOKIE_NAMES[1]}. A request that changes something carries X-CSRF-Token too.`,
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'A short-lived token of a person or a machine' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A key with scopes' },
  coreSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Core-Secret',
    description: 'CORE_SECRET; where none is set, callers on the same machine need none',
  },
};

function operation(
  route: AnyDeclaration,
  errors: readonly ErrorCode[],
  form: ErrorForm,
  components: Components,
): Record<string, unknown> {
  const { body } = route;
  const parameters = parametersOf(route, components);
  const described = {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    security: securityOf(route.auth),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.optional,
            content: {
              [body.contentType ?? 'application/json']: {
                schema: components.refer(body.schema),
                ...(body.example === undefined ? {} : { example: body.example }),
              },
            },
          },
        }),
    responses: responsesOf(route, errors, form, components),
  };
  return { [route.method.toLowerCase()]: described };
}

/** A machine reads here what it must send; the roles are for people to read. */
function securityOf(auth: AnyDeclaration['auth']): unknown[] {
  switch (auth.kind) {
    case 'public':
      return [];
    case 'core_secret':
      return [...('optional' in auth && auth.optional ? [{}] : []), { coreSecret: [] }];
    case 'api_key':
      return [{ apiKey: [auth.scope] }];
    case 'users':
      return [
        { session: [...auth.roles] },
        { bearer: [...auth.roles] },
        ...(auth.scopes ?? []).map((scope) => ({ apiKey: [scope] })),
        ...(auth.orCoreSecret ? [{ coreSecret: [] }] : []),
      ];
  }
}

function parametersOf(route: AnyDeclaration, components: Components): unknown[] {
  const fields = (schema: TObject | undefined, place: 'path' | 'query') =>
    Object.entries(schema?.properties ?? {}).map(([name, field]) => {
      const { description, ...rest } = field as { description?: string };
      return {
        name,
        in: place,
        required: place === 'path' || (schema?.required?.includes(name) ?? false),
        ...(description === undefined ? {} : { description }),
        schema: components.refer(rest),
      };
    });
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  return [
    ...fields(route.params, 'path'),
    ...fields(route.query, 'query'),
    ...(route.idempotent
      ? [header('Idempotency-Key', 'The same request under the same key is done once')]
      : []),
    ...(route.responses[412] ? [header('If-Match', 'The `ETag` that the change is meant for')] : []),
  ];
}

function responsesOf(
  route: AnyDeclaration,
  errors: readonly ErrorCode[],
  form: ErrorForm,
  components: Components,
): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  const failure = (description: string, status: number) => ({
    description: description || (STATUS_CODES[status] ?? 'Error'),
    ...(status === 429 || status === 503
      ? { headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'string' } } } }
      : {}),
    content: { [form.contentType]: { schema: components.refer(form.schema) } },
  });
  const codes = Map.groupBy(errors, (code) => ERRORS[code].status);
  for (const [status, list] of codes) {
    all[status] = failure(list.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('. '), status);
  }
  for (const [key, response] of Object.entries(route.responses)) {
    const status = Number(key);
    const isPlain = response.schema === undefined && response.contentType === undefined;
    all[status] =
      status >= 400 && isPlain ? failure(response.description, status) : success(response, components);
  }
  return all;
}

function success(response: ResponseDef, components: Components): unknown {
  const { schema, contentType = schema === undefined ? undefined : 'application/json', content } = response;
  const bodies = content ?? (contentType === undefined ? undefined : { [contentType]: schema });
  const example = response.example === undefined ? {} : { example: response.example };
  return {
    description: response.description,
    ...(response.headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(response.headers).map(([name, description]) => [
              name,
              { description, schema: { type: 'string' } },
            ]),
          ),
        }),
    ...(bodies === undefined
      ? {}
      : {
          content: Object.fromEntries(
            Object.entries(bodies).map(([type, body]) => [
              type,
              { schema: body === undefined ? { type: 'string' } : components.refer(body), ...example },
            ]),
          ),
        }),
  };
}

/** The schemas of the document, each named one written once. */
interface Components {
  /** The schema as it stands at its place: a reference where it, or a part of it, has a name of its own. */
  refer(schema: TSchema): unknown;
  readonly schemas: Record<string, unknown>;
}

/** A schema whose `title` looks like this is a component of that name. */
const COMPONENT_NAME = /^[A-Z][A-Za-z0-9]+$/;

/** Throws where two different schemas claim one name. */
function createComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const refer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, refer(part)]));
    const { title } = inner;
    if (typeof title !== 'string' || !COMPONENT_NAME.test(title)) return inner;
    const known = schemas[title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inner)) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    schemas[title] = inner;
    return { $ref: `#/components/schemas/${title}` };
  };
  return { refer, schemas };
}
