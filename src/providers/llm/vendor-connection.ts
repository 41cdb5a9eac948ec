import { monotonicMs } from '../../platform/clock.ts';
import { type ProviderContext, requestIdOf } from '../contract/provider-context.ts';

/** Connections to one vendor that outlive an answer, so that the next turn finds TLS already open. */
export interface VendorConnection {
  /** For the SDK: the built-in fetch over this connection's pool. */
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Opens a connection ahead of use. Never rejects. */
  warm(): Promise<void>;
  /** Idempotent, never rejects; requests that still run are broken off. */
  close(): Promise<void>;
}

/** The part of undici's Agent that is used; Node lends it out through its global dispatcher. */
interface Agent {
  destroy(): Promise<void>;
}
type AgentClass = new (options: Record<string, unknown>) => Agent;

/**
 * An idle connection is kept this long. Turns of a call are 5 to 20 s apart, Node's own default of 4 s would make each
 * of them pay for a new TLS handshake; vendors close idle connections after a minute or more.
 */
const KEEP_ALIVE_MS = 60_000;
/** TCP and TLS together: a vendor that does not answer by then is as good as down for this turn. */
const CONNECT_TIMEOUT_MS = 3_000;
/** An answer, a hedged one, a cache entry and an aborted one at the same time. */
const MAX_CONNECTIONS = 4;
/** Waiting for the answer to the warming request. */
const WARM_TIMEOUT_MS = 3_000;
/** Vendors answer it with a short refusal; what is longer is not worth the connection. */
const MAX_WARM_BODY_BYTES = 65_536;

/**
 * `baseUrl` is where the vendor's API begins; `onAccepted` hears of every answer that begins well (RT-67). Each client has a pool of its own: closing it at the end of the call
 * leaves no socket behind.
 */
export function openVendorConnection(
  baseUrl: string,
  onAccepted?: (waitMs: number, requestId: string | null) => void,
): VendorConnection {
  const agent = ownAgent();
  const options = agent ? { dispatcher: agent } : {};
  const warming = new AbortController();
  return {
    async fetch(url, init) {
      const startedMs = monotonicMs();
      const response = await fetch(url, { ...init, ...options } as RequestInit);
      if (response.ok) {
        onAccepted?.(
          monotonicMs() - startedMs,
          requestIdOf((name) => response.headers.get(name)),
        );
      }
      return response;
    },
    async warm() {
      try {
        const signal = AbortSignal.any([warming.signal, AbortSignal.timeout(WARM_TIMEOUT_MS)]);
        // Without a key and without a body: whatever the vendor answers, the connection stands. Not HEAD, after which
        // undici closes the connection.
        const init = { method: 'OPTIONS', redirect: 'manual', signal, ...options };
        const response = await fetch(baseUrl, init as RequestInit);
        await readAway(response);
      } catch {
        // The first answer meets the same trouble and reports it with its class.
      }
    },
    async close() {
      warming.abort();
      await agent?.destroy().catch(() => undefined);
    },
  };
}

/** What a client tells its call of requests that its vendor took. */
export function tellAccepted(provider: string, context: ProviderContext) {
  return (waitMs: number, requestId: string | null) =>
    context.accepted?.({ provider, family: 'llm', waitMs, requestId });
}

/** Only a body that was read to its end leaves its connection to the next request. */
async function readAway(response: Response): Promise<void> {
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_WARM_BODY_BYTES) break;
  }
}

/**
 * Node's fetch brings its Agent along but does not export it; its global dispatcher is one, under a symbol that undici
 * documents. Null where that has changed: then the shared pool serves, and a turn may pay for a handshake.
 */
function ownAgent(): Agent | null {
  // The first Headers of a process loads undici, and with it the dispatcher.
  new Headers();
  const globals = globalThis as Record<symbol, unknown>;
  const shared = globals[Symbol.for('undici.globalDispatcher.1')];
  const AgentOf = (shared as { constructor?: AgentClass } | undefined)?.constructor;
  if (typeof AgentOf !== 'function' || AgentOf.name !== 'Agent') return null;
  return new AgentOf({
    keepAliveTimeout: KEEP_ALIVE_MS,
    connections: MAX_CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // The answer's own deadline counts, not the pool's.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
