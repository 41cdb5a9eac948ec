import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import { ByteStream, type StreamShape } from './byte-stream.ts';
import type { FrameLog } from './frame-log.ts';
import { SseWriter } from './sse-writer.ts';

/** A request body over this is refused; vendors take more, tests do not send it. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface ExchangeParts {
  connection: number;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  log: FrameLog;
  clock: ProviderClock;
  /** A shape that the test ordered; it wins over the vendor's own. */
  orderedShape: StreamShape | undefined;
  onBytes(direction: 'in' | 'out', bytes: number): void;
}

/** One HTTP request and its answer. */
export class HttpExchange {
  readonly connection: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Record<string, string>;
  /** Aborted when the client goes before the answer is complete. */
  readonly aborted: AbortSignal;
  private readonly parts: ExchangeParts;
  private readonly readBody: Promise<Buffer>;

  constructor(parts: ExchangeParts) {
    this.parts = parts;
    this.connection = parts.connection;
    this.method = parts.request.method ?? 'GET';
    this.path = parts.url.pathname;
    this.query = parts.url.searchParams;
    this.headers = flatHeaders(parts.request);
    const abort = new AbortController();
    this.aborted = abort.signal;
    parts.response.on('close', () => {
      if (!parts.response.writableFinished) abort.abort(new Error('the client has gone'));
    });
    parts.response.on('error', () => undefined);
    this.readBody = readBody(parts);
    this.readBody.catch(() => undefined);
  }

  body(): Promise<Buffer> {
    return this.readBody;
  }

  /** The body as JSON, undefined where it does not parse. */
  async json(): Promise<unknown> {
    try {
      return JSON.parse((await this.readBody).toString());
    } catch {
      return undefined;
    }
  }

  /** A complete answer; an object goes as JSON, bytes and texts as they are. */
  reply(status: number, body?: unknown, headers: Record<string, string> = {}): void {
    const { response } = this.parts;
    if (response.destroyed || response.writableEnded) return;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const bytes =
      body === undefined ? Buffer.alloc(0) : Buffer.from(isRaw ? (body as string) : JSON.stringify(body));
    this.parts.log.add({
      connection: this.connection,
      direction: 'out',
      kind: 'response',
      status,
      headers,
      bytes: bytes.length,
      ...(isRaw || body === undefined ? {} : { json: body }),
    });
    this.parts.onBytes('out', bytes.length);
    const type = isRaw ? 'application/octet-stream' : 'application/json';
    response.writeHead(status, { 'content-type': type, 'content-length': bytes.length, ...headers });
    response.end(bytes);
  }

  /** The connection is gone before an answer. */
  reset(): void {
    this.parts.log.add({ connection: this.connection, direction: 'out', kind: 'fault', fault: 'reset' });
    this.parts.response.socket?.destroy();
  }

  /** A streamed answer; its head goes with the first byte where that is ordered late, as with real vendors. */
  async stream(
    status: number,
    headers: Record<string, string> = {},
    shape: StreamShape = {},
  ): Promise<ByteStream> {
    const { response, log, clock } = this.parts;
    const { firstByteDelayMs, ...rest } = { ...shape, ...this.parts.orderedShape };
    if (firstByteDelayMs) await clock.sleep(firstByteDelayMs);
    if (!response.destroyed) {
      response.writeHead(status, headers);
      response.flushHeaders();
      log.add({ connection: this.connection, direction: 'out', kind: 'response', status, headers });
    }
    const onBytes = (bytes: number) => this.parts.onBytes('out', bytes);
    return new ByteStream(response, rest, { clock, log, connection: this.connection, onBytes });
  }

  async sse(shape: StreamShape = {}, headers: Record<string, string> = {}): Promise<SseWriter> {
    const stream = await this.stream(
      200,
      { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers },
      shape,
    );
    return new SseWriter(stream);
  }
}

export function flatHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

async function readBody(parts: ExchangeParts): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of parts.request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new Error(`a body over ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  parts.onBytes('in', size);
  return Buffer.concat(chunks);
}
