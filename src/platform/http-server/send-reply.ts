import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { HttpReply } from './http-types.ts';

/** One exchange with a client, as far as sending needs it. `open` turns false once uWS has invalidated the response. */
export interface Exchange {
  readonly response: UwsResponse;
  method: string;
  requestId: string;
  /** Sent with the answer whatever it becomes; a reply's own header of the same name wins. */
  headers: Record<string, string>;
  /** The reply announces the end of the connection. */
  closeAfter: boolean;
  open: boolean;
  /** From here on a fault can only break the connection. */
  headSent: boolean;
  /** Called once when the client goes away before the reply is out. */
  onGone: (() => void) | null;
}

/** Sends a reply whose body is in memory. Does nothing when the client has gone. */
export function sendReply(exchange: Exchange, reply: HttpReply): void {
  const body = reply.json === undefined ? (reply.body ?? '') : JSON.stringify(reply.json);
  const headers = replyHeaders(exchange, reply, reply.json === undefined ? null : 'application/json');
  corked(exchange, (response) => {
    writeHead(exchange, reply.status, headers);
    exchange.open = false;
    if (exchange.method === 'HEAD') response.endWithoutBody(byteLength(body), exchange.closeAfter);
    else if (reply.status === 204 || reply.status === 304)
      response.endWithoutBody(undefined, exchange.closeAfter);
    else response.end(body, exchange.closeAfter);
  });
}

/** Runs `write` with the socket corked, so that head and body leave in one packet, and only while the client is there. */
export function corked(exchange: Exchange, write: (response: UwsResponse) => void): void {
  if (!exchange.open) return;
  exchange.response.cork(() => write(exchange.response));
}

export function writeHead(exchange: Exchange, status: number, headers: readonly [string, string][]): void {
  const { response } = exchange;
  exchange.headSent = true;
  response.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
  for (const [name, value] of headers) response.writeHeader(name, value);
}

/** All headers of a reply, checked before uWS sees them: it would copy a line break straight onto the wire. */
export function replyHeaders(
  exchange: Exchange,
  reply: HttpReply,
  contentType: string | null,
): [string, string][] {
  const own = reply.headers ?? NO_HEADERS;
  const headers: [string, string][] = [['x-request-id', exchange.requestId]];
  if (contentType !== null && own['content-type'] === undefined) headers.push(['content-type', contentType]);
  for (const name in exchange.headers) {
    if (own[name] === undefined) headers.push(checked(name, exchange.headers[name]));
  }
  for (const name in own) headers.push(checked(name, own[name]));
  return headers;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

function checked(name: string, value: string | undefined): [string, string] {
  if (value === undefined || !/^[a-z0-9-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(value)) {
    throw new Error(`the reply header ${JSON.stringify(name)} cannot be sent`);
  }
  return [name, value];
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

/**
 * Sends what `reply.stream` yields and asks for the next piece only when the socket has taken the last one, so that a
 * slow reader slows its producer down and nothing heaps up here. A fault of the producer breaks the connection: the head
 * is out, and only that tells the client that something is missing. `closing` gets what ends the stream early, cleanly.
 */
export async function sendStream(
  exchange: Exchange,
  reply: HttpReply & Required<Pick<HttpReply, 'stream'>>,
  closing: Set<() => void>,
): Promise<void> {
  const headers = replyHeaders(exchange, reply, 'application/octet-stream');
  const iterator = reply.stream[Symbol.asyncIterator]();
  corked(exchange, (response) => {
    writeHead(exchange, reply.status, headers);
    if (exchange.method !== 'HEAD') return;
    exchange.open = false;
    response.endWithoutBody(undefined, exchange.closeAfter);
  });
  // One function and one waiting promise at a time: a race against a promise that lives as long as the stream would
  // remember every piece of it.
  let leave: () => void = () => undefined;
  const orLeft = <T>(promise: Promise<T>) =>
    new Promise<T | 'left'>((resolve, reject) => {
      leave = () => resolve('left');
      promise.then(resolve, reject);
    });
  const end = () => {
    ended = true;
    leave();
  };
  let ended = !exchange.open;
  exchange.onGone = end;
  closing.add(end);
  try {
    while (!ended) {
      const next = await orLeft(iterator.next());
      if (next === 'left' || next.done) break;
      if (next.value.length > 0) await orLeft(writePiece(exchange, next.value));
    }
  } finally {
    closing.delete(end);
    // Not awaited: a producer that waits for something would keep this request counted as open.
    void iterator.return?.().catch(() => undefined);
  }
  corked(exchange, (response) => {
    exchange.open = false;
    response.end(undefined, exchange.closeAfter);
  });
}

/** Resolves when the socket has taken the piece; stays open when the client goes away meanwhile. */
function writePiece(exchange: Exchange, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    corked(exchange, (response) => {
      if (response.write(piece)) {
        resolve();
        return;
      }
      response.onWritable(() => {
        resolve();
        return true;
      });
    });
  });
}
