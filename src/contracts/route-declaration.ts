import type { TObject, TSchema } from 'typebox';

/**
 * What a route says of itself, on whichever server it is: from this come matching, validation, the types of its handler,
 * its part of the OpenAPI document and the generated tests.
 */
export interface RouteDeclaration<P extends TObject = TObject, B extends TSchema = TSchema> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/api/v1/bots/{bot_id}`: a name in braces matches one whole part of the path. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  /** Parts of the path, all strings on the wire. A value that does not fit answers 404: there is no such thing. */
  params?: P;
  body?: RouteBody<B>;
  /** Successes and the route's own errors; what the table of the server itself may answer is added to them. */
  responses: Readonly<Record<number, ResponseDef>>;
  /** Left out of the OpenAPI document. */
  hidden?: boolean;
}

export interface RouteBody<B extends TSchema> {
  schema: B;
  /** A larger body answers 413. The control plane has a default of 1 MB. */
  maxBytes?: number;
  contentType?: string;
  example?: unknown;
  /** An absent body is accepted and the handler gets `undefined`. */
  optional?: boolean;
  /** What to say of fields that are not known here and are sent all the same. */
  unknownFieldHints?: Readonly<Record<string, string>>;
}

export interface ResponseDef {
  description: string;
  schema?: TSchema;
  /** `application/json` where a schema stands and nothing else is said. */
  contentType?: string;
  /** Schemas by content type, where there is more than one. */
  content?: Readonly<Record<string, TSchema>>;
  /** Names with a sentence each. */
  headers?: Readonly<Record<string, string>>;
  example?: unknown;
}
