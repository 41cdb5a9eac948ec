import type { Static, TObject, TSchema } from 'typebox';
import type { HttpReply } from '../../platform/http-server.ts';
import type { Actor, Auth } from './authenticate.ts';

export type { Actor, Auth, Role, Scope } from './authenticate.ts';

/**
 * One route, declared once: from this come validation, the types of its handler, its part of the OpenAPI document and
 * the generated tests. The table (`serve-routes.ts`) does everything that is the same for all routes.
 */
export interface RouteDef<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/api/v1/bots/{bot_id}`: a name in braces matches one whole part of the path. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  auth: Auth;
  /** Parts of the path, all strings on the wire. A value that does not fit answers 404: there is no such thing. */
  params?: P;
  /** Values arrive as strings and are converted strictly (`query-values.ts`); unknown keys answer 422. */
  query?: Q;
  /**
   * JSON, unless `contentType` names another type: then the handler gets the bytes as a Buffer, and of
   * `multipart/form-data` the parts as `FormPart[]`. Both are declared with `Type.Unsafe`.
   */
  body?: RouteBody<B>;
  /** Successes and the route's own errors; what the table itself may answer is added by `possible-errors.ts`. */
  responses: Readonly<Record<number, ResponseDef>>;
  /** Honours `Idempotency-Key`: for a POST that creates or dials (D-28). */
  idempotent?: boolean;
  /** Answers, errors included, may be read by pages of any origin, and a preflight is answered. */
  cors?: boolean;
  /** Left out of the OpenAPI document. */
  hidden?: boolean;
  /** Requests per minute and credential instead of the default; `false` for what machines of our own send. */
  rateLimit?: number | false;
  handler(request: TypedRequest<Static<P>, Static<Q>, Static<B>>): Promise<Reply>;
}

export interface RouteBody<B extends TSchema> {
  schema: B;
  /** Default 1 MB (D-28). */
  maxBytes?: number;
  contentType?: string;
  example?: unknown;
  /** An absent body is accepted and the handler gets `undefined`. */
  optional?: boolean;
}

export interface ResponseDef {
  description: string;
  schema?: TSchema;
  /** `application/json` where a schema stands and nothing else is said. */
  contentType?: string;
  /** Names with a sentence each. */
  headers?: Readonly<Record<string, string>>;
  example?: unknown;
}

/** What a handler gets: everything checked, converted and allowed. */
export interface TypedRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly actor: Actor;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly remoteAddress: string;
  readonly requestId: string;
  /** Aborted when the client goes away before the reply is out. */
  readonly signal: AbortSignal;
}

export type Reply = HttpReply;

/** A route whose own types are forgotten, for lists. */
export type AnyRoute = RouteDef<TObject, TObject, TSchema>;

// biome-ignore lint/complexity/noBannedTypes: an object schema without fields is spelled so.
type NoFields = TObject<{}>;

/** Declares a route and infers the types of its handler from its schemas. */
export function route<
  P extends TObject = NoFields,
  Q extends TObject = NoFields,
  B extends TSchema = NoFields,
>(def: RouteDef<P, Q, B>): AnyRoute {
  return def as unknown as AnyRoute;
}
