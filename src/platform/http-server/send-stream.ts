import type { HttpReply } from './http-types.ts';
import { corked, type Exchange, replyHeaders, writeHead } from './send-reply.ts';

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
      if (next.value.length > 0) await orLeft(write(exchange, next.value));
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
function write(exchange: Exchange, piece: string | Uint8Array): Promise<void> {
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
