import { type TObject, type TSchema, Type } from 'typebox';
import { AppError } from '../../platform/app-error.ts';
import { type Place, schemaCheck } from '../../platform/http-server/schema-check.ts';
import {
  type HttpReply,
  type HttpRequest,
  type HttpRoute,
  readMultipart,
} from '../../platform/http-server.ts';
import { readJson, requireJsonType } from '../../platform/strict-json.ts';
import { type Actor, type AuthContext, authenticate } from './authenticate.ts';
import { IDEMPOTENCY_HEADER, type IdempotencyGuard } from './idempotency-guard.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { AnyRoute, TypedRequest } from './route.ts';
import { invalidBody, invalidQuery } from './validation-issues.ts';

export interface ServeRoutesParts extends AuthContext {
  limiter: RateLimiter;
  once: IdempotencyGuard;
  /** Told about every reply before it leaves; the tests hold replies to their declarations with it. */
  onReply?: (route: AnyRoute, reply: HttpReply) => void;
}

/** Largest JSON body where the route says nothing else (D-28). */
export const DEFAULT_MAX_BODY_BYTES = 1_048_576;
/** What a route without a body still reads, so that `{}` from a client library is no error. */
const NO_BODY_MAX_BYTES = 1_024;

/**
 * The declared routes as routes of the HTTP server. The order for each request: who it is, how often, whether it fits,
 * whether it was answered before; the handler sees only what passed all of that.
 */
export function serveRoutes(routes: readonly AnyRoute[], parts: ServeRoutesParts): HttpRoute[] {
  return [...routes.map((route) => serveRoute(route, parts)), ...preflightRoutes(routes)];
}

function serveRoute(route: AnyRoute, parts: ServeRoutesParts): HttpRoute {
  const readParams = reader(route.params);
  const readQuery = reader(route.query);
  const readBody = bodyReader(route);
  return {
    method: route.method,
    path: route.path,
    maxBodyBytes: maxBodyBytes(route),
    headers: { 'x-content-type-options': 'nosniff', ...(route.cors ? corsHeaders() : {}) },
    async handler(request) {
      const actor = await authenticate(route.auth, request, parts);
      countRequest(route, request, actor, parts.limiter);
      // Who changes something stands in the audit log with the address, also when the connection is gone by then.
      if (route.method !== 'GET') void request.remoteAddress;
      const query = request.search === '' ? {} : queryValues(route.query ?? NO_QUERY, request.query);
      const typed = new CheckedRequest(
        request,
        actor,
        readParams(request.params, 'path'),
        readQuery(query, 'query'),
        readBody(request),
      );
      const run = () => route.handler(typed as Parameters<AnyRoute['handler']>[0]);
      const key = route.idempotent ? request.headers[IDEMPOTENCY_HEADER] : undefined;
      const reply =
        key === undefined
          ? await run()
          : await parts.once.run({ ...idempotentRequest(route, request, actor), key }, run);
      request.answerHeaders['cache-control'] ??= 'no-store';
      parts.onReply?.(route, reply);
      return reply;
    },
  };
}

/** Browsers may keep the answer to a preflight for this long. */
const PREFLIGHT_SECONDS = 600;

/** Answers may be read by pages of any origin. Cookies are not meant: with `*` browsers do not send them. */
function corsHeaders(): Record<string, string> {
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'x-request-id, retry-after, ratelimit, ratelimit-policy',
  };
}

/** A preflight route for every path that has routes for other origins and none of its own. */
function preflightRoutes(routes: readonly AnyRoute[]): HttpRoute[] {
  const open = routes.filter((route) => route.cors);
  const paths = new Set(open.map((route) => route.path));
  const answered = new Set(routes.filter((route) => route.method === 'OPTIONS').map((route) => route.path));
  return [...paths]
    .filter((path) => !answered.has(path))
    .map((path) => ({
      method: 'OPTIONS',
      path,
      maxBodyBytes: 0,
      headers: {
        ...corsHeaders(),
        'access-control-allow-methods': open
          .filter((route) => route.path === path)
          .map((route) => route.method)
          .join(', '),
        'access-control-allow-headers': 'content-type, authorization, x-api-key, idempotency-key',
        'access-control-max-age': String(PREFLIGHT_SECONDS),
      },
      handler: async () => ({ status: 204 }),
    }));
}

/** A class, because a literal with getters is made anew, property by property, for every request. */
class CheckedRequest implements TypedRequest<unknown, unknown, unknown> {
  readonly actor: Actor;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  private readonly request: HttpRequest;

  constructor(request: HttpRequest, actor: Actor, params: unknown, query: unknown, body: unknown) {
    this.actor = actor;
    this.params = params;
    this.query = query;
    this.body = body;
    this.headers = request.headers;
    this.requestId = request.requestId;
    this.request = request;
  }

  get remoteAddress(): string {
    return this.request.remoteAddress;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }
}

const NO_QUERY = Type.Object({});

/** Hands on a value that fits the schema. Without a schema nothing may stand there. */
function reader(schema: TObject | undefined): (value: unknown, place: Place) => unknown {
  const check = schemaCheck(strict(schema ?? NO_QUERY));
  return (value, place) => {
    if (place !== 'path') check.demand(place, value);
    else if (!check.fits(value)) throw new AppError('not_found', 'there is nothing with this id');
    return value;
  };
}

/** An object schema that says nothing about further fields refuses them here. */
function strict(schema: TObject): TObject {
  return 'additionalProperties' in schema
    ? schema
    : Type.Object(schema.properties, { additionalProperties: false });
}

/** More fields in one query are refused before anything is made of them. */
const MAX_FIELDS = 200;

/**
 * The strings of a query as the types that the schema names. Only one spelling of each value is converted (`7`, not
 * `07`, `7.0` or ` 7`; `true` and `false`); what cannot be converted stays a string and then does not fit. An array
 * field is a repeated key; any other field may stand once. Throws `validation_error` for a field that stands twice.
 */
function queryValues(schema: TObject, query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  let fields = 0;
  for (const [name, text] of query) {
    if (++fields > MAX_FIELDS) throw invalidQuery('', `a query has at most ${MAX_FIELDS} fields`);
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const items = field === undefined ? undefined : itemsOf(field);
    if (items !== undefined) {
      const list = Object.hasOwn(values, name) ? (values[name] as unknown[]) : [];
      list.push(convert(items, text));
      setOwn(values, name, list);
      continue;
    }
    if (Object.hasOwn(values, name)) throw invalidQuery(name, `${name.slice(0, 64)} may stand only once`);
    setOwn(values, name, field === undefined ? text : convert(field, text));
  }
  return values;
}

/** A query may name a field `__proto__`; it becomes a field like any other. */
function setOwn(values: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true });
}

function itemsOf(schema: TSchema): TSchema | undefined {
  const { type, items } = schema as { type?: unknown; items?: TSchema };
  return type === 'array' ? items : undefined;
}

function convert(schema: TSchema, text: string): unknown {
  const { type } = schema as { type?: unknown };
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'integer' && /^(0|-?[1-9]\d{0,15})$/.test(text)) return Number(text);
  if (type === 'number' && /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/.test(text)) return Number(text);
  return text;
}

function bodyReader(route: AnyRoute): (request: HttpRequest) => unknown {
  const { body } = route;
  if (!body) {
    return (request) => {
      if (request.body.length === 0) return undefined;
      requireJsonType(request.headers['content-type']);
      const value = readJson(request.body);
      if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return undefined;
      throw invalidBody('', 'this route takes no body');
    };
  }
  const { contentType, optional } = body;
  if (contentType === 'multipart/form-data') {
    return (request) => readMultipart(request.headers['content-type'], request.body);
  }
  if (contentType !== undefined && contentType !== 'application/json') {
    return (request) => {
      if (optional && request.body.length === 0) return undefined;
      const sent = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
      if (sent === contentType) return request.body;
      throw new AppError('unsupported_media_type', `this route takes ${contentType}`);
    };
  }
  const check = schemaCheck(body.schema, body.unknownFieldHints);
  return (request) => {
    if (optional && request.body.length === 0) return undefined;
    requireJsonType(request.headers['content-type']);
    const value = readJson(request.body);
    check.demand('body', value);
    return value;
  };
}

function maxBodyBytes(route: AnyRoute): number {
  if (route.body) return route.body.maxBytes ?? DEFAULT_MAX_BODY_BYTES;
  return route.method === 'GET' || route.method === 'OPTIONS' ? 0 : NO_BODY_MAX_BYTES;
}

/** The core is not counted: it is this product itself, and its calls must not fail on a quota. */
function countRequest(route: AnyRoute, request: HttpRequest, actor: Actor, limiter: RateLimiter): void {
  if (actor.type === 'api_key' && typeof actor.requestsPerMinute === 'number') {
    const headers = limiter.take(nameOf(actor, request), 'key', actor.requestsPerMinute, true);
    Object.assign(request.answerHeaders, headers);
    return;
  }
  if (route.rateLimit === false || actor.type === 'core') return;
  const own = route.rateLimit !== undefined;
  const policy = own ? route.operationId : 'default';
  Object.assign(request.answerHeaders, limiter.take(nameOf(actor, request), policy, route.rateLimit));
}

function idempotentRequest(route: AnyRoute, request: HttpRequest, actor: Actor) {
  return {
    who: nameOf(actor, request),
    operationId: route.operationId,
    path: request.path,
    query: request.search,
    body: request.body,
  };
}

function nameOf(actor: Actor, request: HttpRequest): string {
  switch (actor.type) {
    case 'user':
    case 'api_key':
      return `${actor.type}:${actor.id}`;
    case 'core':
      return 'core';
    case 'public':
      return `address:${request.remoteAddress}`;
  }
}
