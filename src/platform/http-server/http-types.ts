import type { IncomingRequest } from './request-head.ts';

/** What a handler gets: the head, already checked and decoded, and the whole body within the route's bound. */
export interface HttpRequest extends IncomingRequest {
  /** Parts of the path by their names in the route, percent-decoded. */
  params: Readonly<Record<string, string>>;
  body: Buffer;
  /** Aborted when the client goes away before the reply is out. */
  readonly signal: AbortSignal;
}

/** One of `json`, `body` and `file`, or none for an empty reply. */
export interface HttpReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  json?: unknown;
  body?: string | Uint8Array;
  /** Sent piece by piece as fast as the client reads; a Range header is honoured. A missing file answers 404. */
  file?: { path: string };
}

export interface HttpRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/api/v1/config/{bot_id}`: a name in braces matches one whole part of the path. */
  path: string;
  /** A larger body is answered with 413. */
  maxBodyBytes: number;
  /** May throw: an AppError becomes its status and code, anything else a 500 that tells nothing. */
  handler: (request: HttpRequest) => Promise<HttpReply>;
}
