/** The head of a request; uWS forgets its own once the callback returns. */
export interface IncomingRequest {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The query as sent, without its question mark; empty where there is none. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** Lower-case names; repeated headers are joined with a comma (RFC 9110 section 5.3). */
  readonly headers: Readonly<Record<string, string>>;
  /** The client: the peer, or what a trusted proxy says about it. Empty when first asked for after it has gone. */
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** What a handler gets: the head, already checked and decoded, and the whole body within the route's bound. */
export interface HttpRequest extends IncomingRequest {
  /** Parts of the path by their names in the route, percent-decoded. */
  params: Readonly<Record<string, string>>;
  body: Buffer;
  /** Lower-case names; what a handler puts here is sent with the answer whatever it becomes, errors included. */
  readonly answerHeaders: Record<string, string>;
  /** Aborted when the client goes away before the reply is out. */
  readonly signal: AbortSignal;
}

/** One of `json`, `body`, `file` and `stream`, or none for an empty reply. */
export interface HttpReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  json?: unknown;
  body?: string | Uint8Array;
  /** Sent piece by piece as fast as the client reads; a Range header is honoured. A missing file answers 404. */
  file?: { path: string };
  /** Pulled as fast as the client reads, never faster; ended early (`return`) when the client goes away. */
  stream?: AsyncIterable<string | Uint8Array>;
}

export interface HttpRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/api/v1/config/{bot_id}`: a name in braces matches one whole part of the path. */
  path: string;
  /** A larger body is answered with 413. */
  maxBodyBytes: number;
  /** Sent with every answer on this path, errors included. */
  headers?: Readonly<Record<string, string>>;
  /** May throw: an AppError becomes its status and code, anything else a 500 that tells nothing. */
  handler: (request: HttpRequest) => Promise<HttpReply>;
}
