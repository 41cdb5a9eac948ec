import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { badUpgrade, REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import { PARTNER_ROUTE, SOCKET_ROUTE } from '../../contracts/fleet-routes.ts';
import { BOT_ID_PATTERN, CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { matchesAnySecret } from '../../platform/constant-time.ts';
import { routeTable } from '../../platform/http-server/route-table.ts';
import { isLoopbackHost } from '../../platform/origins.ts';
import type { Settings, WsAuth } from '../../platform/settings.ts';

/** Headers by which a proxy in front shows itself. */
const FORWARDED = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
] as const;

export interface CallTarget {
  kind: 'telephony' | 'partner';
  botId: string;
  /** The single-use ticket of the query, '' without one (D-17). */
  ticket: string;
}

const SOCKETS = routeTable([
  { ...SOCKET_ROUTE, kind: 'telephony' as const },
  { ...PARTNER_ROUTE, kind: 'partner' as const },
]);

/** The bot and the protocol that a request path names; null for every other path. */
export function callTarget(url: string): CallTarget | null {
  const [path = '', query = ''] = url.split('?', 2);
  try {
    const { route, params } = SOCKETS.match('GET', path);
    const { bot_id: botId = '' } = params;
    if (!BOT_ID_PATTERN.test(botId)) return null;
    return { kind: route.kind, botId, ticket: new URLSearchParams(query).get('ticket') ?? '' };
  } catch {
    return null;
  }
}

/**
 * The password of Basic authentication, or undefined. A carrier knows an address and nothing else, and turns
 * `user:password@` in it into this header (docs/partner-protocol.md, "Setting it up"); the user name says nothing here.
 */
function basicPassword(request: IncomingMessage): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? undefined : decoded.slice(colon + 1);
}

/** Whether a proxy passed this request on. */
export function isForwarded(request: IncomingMessage): boolean {
  return FORWARDED.some((name) => request.headers[name] !== undefined);
}

/**
 * Whether a web page of another site opened this connection: a browser on this machine lends its loopback address to
 * every page it shows, but it names the page in Origin (RFC 6455, 10.2). Diallers send none.
 */
function isFromStrangePage(request: IncomingMessage): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || !isLoopbackHost(new URL(origin).hostname);
}

/** Whether the peer of the connection is this machine itself, with no proxy in between that we know of. */
export function isLocalPeer(request: IncomingMessage): boolean {
  return isLoopbackHost(plainAddress(request.socket.remoteAddress ?? '')) && !isForwarded(request);
}

/**
 * Who may give orders: whoever knows the core secret. Without a configured one the ingress is on loopback and this machine
 * is trusted, as with call sockets. A web page in a browser on this machine is not: it shows itself by its Origin, or
 * by the name that it gives this host.
 */
export function mayCommand(request: IncomingMessage, secrets: readonly string[]): boolean {
  const { host = '', origin } = request.headers;
  if (secrets.length > 0) return matchesAnySecret(request.headers[CORE_SECRET_HEADER], secrets);
  return isLocalPeer(request) && isLoopbackHost(host.replace(/:\d+$/, '')) && origin === undefined;
}

/** How the host fares, as a route of the ingress asks it. */
export interface HostState {
  isDraining(): boolean;
  /** The refusal while the host must not take calls (RT-71), else null. */
  pressure(): Refusal | null;
  freeSlots(): number;
}

/** Why a new call cannot be taken now, in the order in which an outsider learns it; null when it can. */
export function admission(host: HostState): Refusal | null {
  if (host.isDraining()) return REFUSALS.draining;
  return host.pressure() ?? (host.freeSlots() === 0 ? REFUSALS.full : null);
}

/**
 * Who may open a call socket (`WS_AUTH`). An ingress on loopback without authentication trusts the machine; a forwarded
 * header there means that a proxy lets others in, so it is refused (D-54).
 */
export function createCallerCheck(settings: Pick<Settings, 'wsAuth' | 'coreSecrets'>): {
  /** `by_ticket`: whoever brings a valid ticket may, which is found out last, because a ticket is void after one try. */
  check(request: IncomingMessage): 'allowed' | 'by_ticket' | 'unauthorized' | 'proxied_without_auth';
} {
  const networks = settings.wsAuth.kind === 'networks' ? blockList(settings.wsAuth) : null;
  return {
    check(request) {
      switch (settings.wsAuth.kind) {
        case 'off':
          if (isForwarded(request)) return 'proxied_without_auth';
          return isFromStrangePage(request) ? 'unauthorized' : 'allowed';
        case 'secret': {
          const isPartner = callTarget(request.url ?? '')?.kind === 'partner';
          return matchesAnySecret(request.headers[CORE_SECRET_HEADER], settings.coreSecrets) ||
            (isPartner && matchesAnySecret(basicPassword(request), settings.coreSecrets))
            ? 'allowed'
            : 'by_ticket';
        }
        case 'networks': {
          const address = plainAddress(request.socket.remoteAddress ?? '');
          const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
          return family && networks?.check(address, family) ? 'allowed' : 'unauthorized';
        }
      }
    },
  };
}

/** Null for a proper WebSocket opening handshake (RFC 6455, 4.2.1), else the refusal that names the fault. */
export function checkUpgrade(request: IncomingMessage): Refusal | null {
  if (request.method !== 'GET') return REFUSALS.methodNotAllowed;
  if (request.httpVersion !== '1.1') return badUpgrade('a WebSocket upgrade needs HTTP/1.1');
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    return badUpgrade('this path takes WebSocket upgrades only');
  }
  if (request.headers['sec-websocket-version'] !== '13') {
    return badUpgrade('Sec-WebSocket-Version must be 13');
  }
  // 16 bytes in base64: 22 characters and two equal signs.
  if (!/^[A-Za-z0-9+/]{22}==$/.test(request.headers['sec-websocket-key'] ?? '')) {
    return badUpgrade('Sec-WebSocket-Key must be 16 bytes in base64');
  }
  return null;
}

function blockList(auth: Extract<WsAuth, { kind: 'networks' }>): BlockList {
  const list = new BlockList();
  for (const cidr of auth.cidrs) {
    const [network = '', bits = ''] = cidr.split('/');
    list.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** A dual-stack listener shows IPv4 peers as ::ffff:1.2.3.4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
