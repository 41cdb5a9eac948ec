import type { MediaSetup } from '../contracts/rooms.ts';
import { monotonicMs } from '../platform/clock.ts';
import { createHttpServer, type HttpReply, type HttpServer } from '../platform/http-server.ts';
import { hostPort } from '../platform/settings.ts';
import { assemblePlane, type PlaneParts } from './assemble-plane.ts';
import { createIdempotencyStore } from './http/idempotency.ts';
import { createIdempotencyGuard } from './http/idempotency-guard.ts';
import { DEFAULT_PER_MINUTE, RateLimiter } from './http/rate-limit.ts';
import type { AnyRoute } from './http/route.ts';
import { serveRoutes } from './http/serve-routes.ts';

export interface Control {
  readonly port: number;
  /** What `webhook_url` begins with: `BASE_URL`, with the real port where the setting asked for any free one. */
  readonly baseUrl: string;
  /** Where the first admin gets an account; null once there is one. */
  readonly setupUrl: string | null;
  /** Whether the ticket opens a call to this bot; it does so once (D-17). */
  consumeTicket(ticket: string, botId: string): boolean;
  /** The media server and the trunk to dial by; null while no media server is set up. Cheap: settings are cached. */
  mediaSetup(): Promise<MediaSetup | null>;
  /** Which bot answers a number that was called; null where nobody does. */
  botForNumber(did: string): Promise<{ botId: string } | null>;
  /** Lets open requests finish within a bound. The store stays open: it belongs to the caller. */
  close(): Promise<void>;
}

export interface ControlParts extends Omit<PlaneParts, 'baseUrl'> {
  /** Smaller than the product's, where a test cannot send that many requests. */
  requestsPerMinute?: number;
  /** Told about every reply before it leaves; the tests hold replies to their declarations with it. */
  onReply?: (route: AnyRoute, reply: HttpReply) => void;
}

/** Starts the control plane on `CONTROL_LISTEN`; an empty store gets the bot `demo`. */
export async function startControl(parts: ControlParts): Promise<Control> {
  const { settings, store, logger } = parts;
  let baseUrl = settings.baseUrl;
  const plane = await assemblePlane({ ...parts, baseUrl: () => baseUrl });
  let server: HttpServer | undefined;
  try {
    server = createHttpServer({
      trustedProxies: settings.trustedProxies,
      routes: serveRoutes(plane.routes, {
        authenticator: plane.authenticator,
        guard: plane.guard,
        baseUrl: () => baseUrl,
        limiter: new RateLimiter(monotonicMs, parts.requestsPerMinute ?? DEFAULT_PER_MINUTE),
        once: createIdempotencyGuard(createIdempotencyStore(store), Date.now),
        ...(parts.onReply ? { onReply: parts.onReply } : {}),
      }),
      onError: (error, request) => {
        logger.error(
          { err: error, request_id: request.requestId, method: request.method, path: request.path },
          'request failed',
        );
      },
    });
    const { host, port: wanted } = settings.controlListen;
    const { port } = await server.listen(host, wanted);
    baseUrl = withRealPort(settings.baseUrl, port);
    const { setupUrl } = await plane.open(`http://${hostPort({ host: reachableHost(host), port })}`);
    return {
      port,
      baseUrl,
      setupUrl,
      consumeTicket: plane.consumeTicket,
      mediaSetup: () => plane.media.setup(),
      botForNumber: (did) => plane.media.botForNumber(did),
      async close() {
        await server?.close();
        await plane.stop();
      },
    };
  } catch (error) {
    await server?.close();
    await plane.stop();
    throw error;
  }
}

/** Where a process of this machine reaches what listens on `host`. */
function reachableHost(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}

function withRealPort(baseUrl: string, port: number): string {
  const url = new URL(baseUrl);
  if (url.port !== '0') return baseUrl;
  url.port = String(port);
  return url.href.replace(/\/+$/, '');
}
