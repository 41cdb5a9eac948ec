import type { Static, TObject, TSchema } from 'typebox';
import type { RouteDeclaration } from '../../contracts/route-declaration.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import type { Actor, Auth } from './authenticate.ts';

export type { Actor, Auth, Role, Scope } from './authenticate.ts';

/**
 * A route of the control plane, declared once. The table (`serve-routes.ts`) does everything that is the same for all
 * routes. A body of another type than JSON comes to the handler as a Buffer, and of `multipart/form-data` the parts as
 * `FormPart[]`; both are declared with `Type.Unsafe`.
 */
export interface RouteDef<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
> extends RouteDeclaration<P, B> {
  auth: Auth;
  /** Values arrive as strings and are converted strictly (`serve-routes.ts`); unknown keys answer 422. */
  query?: Q;
  /** Honours `Idempotency-Key`: for a POST that creates or dials (D-28). */
  idempotent?: boolean;
  /** Answers, errors included, may be read by pages of any origin, and a preflight is answered. */
  cors?: boolean;
  /** Requests per minute and credential instead of the default; `false` for what machines of our own send. */
  rateLimit?: number | false;
  handler(request: TypedRequest<Static<P>, Static<Q>, Static<B>>): Promise<Reply>;
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

type Reply = HttpReply;

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
