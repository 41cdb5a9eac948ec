import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { BOT_ID_PATTERN, CORE_SECRET_HEADER, PARTNER_PATH, SOCKET_PATH } from '../../contracts/http-names.ts';
import { isLoopbackHost } from '../../platform/origins.ts';
import type { Settings, WsAuth } from '../../platform/settings.ts';
import { isCoreSecret } from './core-secret.ts';
import { badUpgrade, REFUSALS, type Refusal } from './refusal.ts';

/** Headers by which a proxy in front shows itself. */
const FORWARDED = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
] as const;

const PATHS = [
  { kind: 'telephony', path: SOCKET_PATH },
  { kind: 'partner', path: PARTNER_PATH },
] as const;

export interface CallTarget {
  kind: 'telephony' | 'partner';
  botId: string;
  /** The single-use ticket of the query, '' without one (D-17). */
  ticket: string;
}

/** The bot and the protocol that a request path names; null for every other path. */
export function callTarget(url: string): CallTarget | null {
  const [path = '', query = ''] = url.split('?', 2);
  const found = PATHS.find((known) => path.startsWith(known.path));
  if (!found) return null;
  const botId = path.slice(found.path.length);
  return BOT_ID_PATTERN.test(botId)
    ? { kind: found.kind, botId, ticket: new URLSearchParams(query).get('ticket') ?? '' }
    : null;
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
          return isCoreSecret(request.headers[CORE_SECRET_HEADER], settings.coreSecrets) ||
            (isPartner && isCoreSecret(basicPassword(request), settings.coreSecrets))
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
