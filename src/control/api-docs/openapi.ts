import { STATUS_CODES } from 'node:http';
import type { TObject } from 'typebox';
import { ERRORS, type ErrorCode } from '../../contracts/error-catalogue.ts';
import { type Auth, SESSION_COOKIE_NAMES } from '../http/authenticate.ts';
import { possibleErrors } from '../http/possible-errors.ts';
import type { AnyRoute, ResponseDef } from '../http/route.ts';
import { type Components, createComponents } from './components.ts';
import { fleetPaths } from './fleet-paths.ts';
import { ProblemSchema } from './problem-schema.ts';

export interface OpenApiParts {
  routes: readonly AnyRoute[];
  version: string;
  baseUrl: string;
  fleetUrl: string;
}

export type OpenApiDocument = Record<string, unknown> & { paths: Record<string, Record<string, unknown>> };

/** The OpenAPI 3.1 document of both servers, made from the declarations that also serve them. */
export function openApiDocument(parts: OpenApiParts): OpenApiDocument {
  const components = createComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of parts.routes) {
    if (route.hidden) continue;
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operation(route, components);
  }
  Object.assign(paths, fleetPaths(components, parts.fleetUrl));
  return {
    openapi: '3.1.0',
    info: { title: 'Trunkline', version: parts.version, description: DESCRIPTION },
    servers: [{ url: parts.baseUrl, description: 'Control plane' }],
    tags: [...new Set(parts.routes.filter((route) => !route.hidden).map((route) => route.tag)), 'fleet'].map(
      (name) => ({ name }),
    ),
    paths,
    components: { schemas: components.schemas, securitySchemes: SECURITY_SCHEMES },
  };
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

function operation(route: AnyRoute, components: Components): unknown {
  const { body } = route;
  const parameters = parametersOf(route, components);
  return {
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
                schema: components.place(body.schema),
                ...(body.example === undefined ? {} : { example: body.example }),
              },
            },
          },
        }),
    responses: responsesOf(route, components),
  };
}

/** A machine reads here what it must send; the roles are for people to read. */
function securityOf(auth: Auth): unknown[] {
  switch (auth.kind) {
    case 'public':
      return [];
    case 'core_secret':
      return [{ coreSecret: [] }];
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

function parametersOf(route: AnyRoute, components: Components): unknown[] {
  const fields = (schema: TObject | undefined, place: 'path' | 'query') =>
    Object.entries(schema?.properties ?? {}).map(([name, field]) => {
      const { description, ...rest } = field as { description?: string };
      return {
        name,
        in: place,
        required: place === 'path' || (schema?.required?.includes(name) ?? false),
        ...(description === undefined ? {} : { description }),
        schema: components.place(rest),
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

function responsesOf(route: AnyRoute, components: Components): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  const codes = new Map<number, ErrorCode[]>();
  for (const code of possibleErrors(route)) {
    const { status } = ERRORS[code];
    codes.set(status, [...(codes.get(status) ?? []), code]);
  }
  for (const [status, list] of codes) {
    all[status] = problem(
      list.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('. '),
      components,
      status,
    );
  }
  for (const [status, response] of Object.entries(route.responses)) {
    all[status] =
      Number(status) >= 400 && response.schema === undefined && response.contentType === undefined
        ? problem(response.description, components, Number(status))
        : success(response, components);
  }
  return all;
}

function success(response: ResponseDef, components: Components): unknown {
  const { schema, contentType = schema === undefined ? undefined : 'application/json' } = response;
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
    ...(contentType === undefined
      ? {}
      : {
          content: {
            [contentType]: {
              schema: schema === undefined ? { type: 'string' } : components.place(schema),
              ...(response.example === undefined ? {} : { example: response.example }),
            },
          },
        }),
  };
}

function problem(description: string, components: Components, status: number): unknown {
  return {
    description: description || (STATUS_CODES[status] ?? 'Error'),
    ...(status === 429 || status === 503
      ? { headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'string' } } } }
      : {}),
    content: { 'application/problem+json': { schema: components.place(ProblemSchema) } },
  };
}
