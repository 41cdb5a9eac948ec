import type {
  TemplatedApp,
  HttpRequest as UwsRequest,
  HttpResponse as UwsResponse,
  us_listen_socket,
} from 'uWebSockets.js';
import { AppError } from './app-error.ts';
import { within } from './clock.ts';
import type { HttpReply, HttpRequest, HttpRoute, IncomingRequest } from './http-server/http-types.ts';
import { problemReply } from './http-server/problem.ts';
import { framingIssue, hasBody, OpenRequest, proxyList } from './http-server/request-head.ts';
import { type RouteTable, routeTable } from './http-server/route-table.ts';
import { sendFile } from './http-server/send-file.ts';
import { type Exchange, sendReply, sendStream } from './http-server/send-reply.ts';

export type { HttpReply, HttpRequest, HttpRoute } from './http-server/http-types.ts';
export { type FormPart, readMultipart } from './http-server/multipart.ts';

/**
 * The only way to uWebSockets.js. A handler that throws before an abort handler is attached, or that answers a client
 * who has gone, ends the whole process there (D-4); behind this wrapper it is one failed request.
 */
export interface HttpServer {
  /** Binds. Port 0 takes a free one. Throws `bad_setting` when the address cannot be had. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** Takes no new request, lets the open ones finish for at most {@link CLOSE_BOUND_MS}, then cuts. Idempotent. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  routes: readonly HttpRoute[];
  /** Networks whose X-Forwarded-For counts (D-54). */
  trustedProxies?: readonly string[];
  /** Told about every failure that is the server's own (5xx), for the log. */
  onError: (error: unknown, request: { requestId: string; method: string; path: string }) => void;
}

/** Open requests get this long when the server closes. */
const CLOSE_BOUND_MS = 5_000;
/**
 * Request line and headers together; more is answered with 431. A config request carries the caller's whole `connected`
 * message in its query, so the parser's own 4096 would refuse calls with many custom fields.
 */
const MAX_HEAD_BYTES = 65_536;
/** Requests at work at once; more are answered with 429 and told to come back in a second. */
const MAX_OPEN_REQUESTS = 1_024;
/** Bodies in memory at once, over all requests; beyond it 429. */
const MAX_BODIES_BYTES = 134_217_728;
/** uSockets option: a second server on the port fails instead of sharing it. */
const EXCLUSIVE_PORT = 1;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new UwsServer(options);
}

class UwsServer implements HttpServer {
  private readonly onError: HttpServerOptions['onError'];
  private readonly routes: RouteTable<HttpRoute>;
  private readonly proxies;
  private app: TemplatedApp | null = null;
  private stopListening: (() => void) | null = null;
  private closing: Promise<void> | null = null;
  /** What ends each open stream: streams do not end by themselves when the server closes. */
  private readonly streamEnds = new Set<() => void>();
  private openRequests = 0;
  private bodiesBytes = 0;
  private whenIdle: (() => void) | null = null;

  constructor(options: HttpServerOptions) {
    this.onError = options.onError;
    this.routes = routeTable(options.routes);
    this.proxies = proxyList(options.trustedProxies ?? []);
  }

  async listen(host: string, port: number): Promise<{ port: number }> {
    // The parser reads this variable once, when the library is loaded.
    process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(MAX_HEAD_BYTES);
    const uws = await import('uWebSockets.js');
    const app = uws.App();
    app.any('/*', (response, request) => this.receive(response, request));
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      // The types do not know that options may stand between port and callback.
      const listen = app.listen.bind(app) as unknown as (
        host: string,
        port: number,
        options: number,
        callback: (socket: us_listen_socket | false) => void,
      ) => void;
      listen(host, port, EXCLUSIVE_PORT, resolve);
    });
    if (socket === false) {
      app.close();
      throw new AppError(
        'bad_setting',
        `cannot listen on ${host}:${port}; another process has the port, or the address is not of this machine`,
      );
    }
    this.app = app;
    this.stopListening = () => uws.us_listen_socket_close(socket);
    return { port: uws.us_socket_local_port(socket) };
  }

  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    this.stopListening?.();
    for (const end of this.streamEnds) end();
    if (this.openRequests > 0) {
      const idle = new Promise<void>((resolve) => {
        this.whenIdle = resolve;
      });
      await within(idle, CLOSE_BOUND_MS, undefined);
    }
    this.app?.close();
    this.app = null;
  }

  /** Runs inside uWS: nothing may escape from here, and the abort handler comes first. */
  private receive(response: UwsResponse, uwsRequest: UwsRequest): void {
    let request: OpenRequest | null = null;
    let held = 0;
    let counted = true;
    this.openRequests++;
    const exchange: Exchange = {
      response,
      method: 'GET',
      requestId: '',
      headers: {},
      closeAfter: this.closing !== null,
      open: true,
      headSent: false,
      onGone: null,
    };
    const release = () => {
      if (!counted) return;
      counted = false;
      this.openRequests--;
      this.bodiesBytes -= held;
      if (this.openRequests === 0) this.whenIdle?.();
    };
    response.onAborted(() => {
      exchange.open = false;
      request?.abort();
      exchange.onGone?.();
      release();
    });
    const fail = (error: unknown) => this.answerError(exchange, request, error, release);
    try {
      const open = new OpenRequest(uwsRequest, exchange, this.proxies);
      request = open;
      exchange.method = open.method;
      exchange.requestId = open.requestId;
      const withBody = hasBody(open);
      // Whatever is refused before its body was read leaves bytes behind that must not be taken for a request.
      exchange.closeAfter ||= withBody || open.repeated !== null;
      Object.assign(exchange.headers, this.routes.headersAt(open.path));
      const framing = framingIssue(open);
      if (framing) {
        // Answered a turn later: what the client sent behind this request meets an open response then, and uWS ends
        // the connection instead of taking it for the next request.
        setImmediate(fail, framing);
        return;
      }
      if (this.openRequests > MAX_OPEN_REQUESTS) throw overloaded();
      const { route, params } = this.routes.match(open.method, open.path);
      open.params = params;
      Object.assign(exchange.headers, route.headers);
      const run = () => {
        exchange.closeAfter = this.closing !== null;
        this.run(exchange, open, route, release).catch(fail);
      };
      if (!withBody) {
        run();
        return;
      }
      const tooLarge = () =>
        new AppError('payload_too_large', `this path takes a body of at most ${route.maxBodyBytes} bytes`);
      if (Number(open.headers['content-length'] ?? 0) > route.maxBodyBytes) throw tooLarge();
      let parts: Buffer[] | null = [];
      response.onData((chunk, isLast) => {
        if (!parts || !exchange.open) return;
        held += chunk.byteLength;
        this.bodiesBytes += chunk.byteLength;
        if (held > route.maxBodyBytes || this.bodiesBytes > MAX_BODIES_BYTES) {
          parts = null;
          fail(held > route.maxBodyBytes ? tooLarge() : overloaded());
          return;
        }
        // uWS takes the memory back when this callback returns.
        parts.push(Buffer.from(Buffer.from(chunk)));
        if (!isLast) return;
        const [first] = parts;
        open.body = parts.length === 1 && first ? first : Buffer.concat(parts);
        parts = null;
        run();
      });
    } catch (error) {
      fail(error);
    }
  }

  private async run(
    exchange: Exchange,
    request: HttpRequest,
    route: HttpRoute,
    release: () => void,
  ): Promise<void> {
    const reply: HttpReply = await route.handler(request);
    if (reply.file) await sendFile(exchange, reply, reply.file.path, request.headers.range);
    else if (reply.stream) await sendStream(exchange, { ...reply, stream: reply.stream }, this.streamEnds);
    else sendReply(exchange, reply);
    release();
  }

  private answerError(
    exchange: Exchange,
    request: IncomingRequest | null,
    error: unknown,
    release: () => void,
  ): void {
    const told = { requestId: exchange.requestId, method: exchange.method, path: request?.path ?? '' };
    try {
      const reply = problemReply(error, exchange.requestId);
      if (reply.status >= 500) this.onError(error, told);
      if (exchange.headSent && exchange.open) exchange.response.close();
      else sendReply(exchange, reply);
    } catch (cause) {
      // Not even the problem could be sent; the connection is the last thing that can be ended properly.
      if (exchange.open) exchange.response.close();
      this.onError(cause, told);
    } finally {
      release();
    }
  }
}

function overloaded(): AppError {
  return new AppError('at_capacity', 'too many requests are at work; come back in a second', {
    details: { retryAfterSeconds: 1 },
  });
}
