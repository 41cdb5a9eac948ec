import type { HttpRequest as UwsRequest } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { AppError } from '../app-error.ts';
import type { HttpRequest, IncomingRequest } from './http-types.ts';
import type { Exchange } from './send-reply.ts';

/**
 * A request on its way. Query, address and signal are made when they are first asked for: most requests need none of
 * them, and together they were a third of what an answer cost.
 */
export class OpenRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  params: Readonly<Record<string, string>> = NO_PARAMS;
  body: Buffer = NO_BODY;
  /** Framing headers that stand more than once; null where none does. */
  readonly repeated: readonly string[] | null;
  private readonly exchange: Exchange;
  private readonly proxies: BlockList;
  private parsedQuery: URLSearchParams | null = null;
  private knownAddress: string | null = null;
  private controller: AbortController | null = null;

  /** Never throws: what is wrong with a head is found by {@link framingIssue}. */
  constructor(request: UwsRequest, exchange: Exchange, proxies: BlockList) {
    const headers: Record<string, string> = Object.create(null);
    let repeated: string[] | null = null;
    request.forEach((name, value) => {
      const earlier = headers[name];
      if (earlier === undefined) {
        headers[name] = value;
        return;
      }
      repeated = [...(repeated ?? []), name];
      headers[name] = `${earlier}, ${value}`;
    });
    this.headers = headers;
    this.repeated = repeated;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.requestId = saneRequestId(headers['x-request-id']) ?? randomUUID();
    this.search = request.getQuery() ?? '';
    this.exchange = exchange;
    this.proxies = proxies;
  }

  get query(): URLSearchParams {
    this.parsedQuery ??= new URLSearchParams(this.search);
    return this.parsedQuery;
  }

  get remoteAddress(): string {
    if (this.knownAddress !== null) return this.knownAddress;
    if (!this.exchange.open) return '';
    const text = Buffer.from(this.exchange.response.getRemoteAddressAsText()).toString('latin1');
    this.knownAddress = clientAddress(readableAddress(text), this.headers['x-forwarded-for'], this.proxies);
    return this.knownAddress;
  }

  get answerHeaders(): Record<string, string> {
    return this.exchange.headers;
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (!this.exchange.open) this.abort();
    return this.controller.signal;
  }

  /** The client has gone. */
  abort(): void {
    this.controller?.abort(new Error('the client has gone'));
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const NO_BODY = Buffer.alloc(0);

/**
 * What makes the end of the request ambiguous, or null. The parser lets two Content-Length headers pass and takes the
 * first; a proxy in front may take the second, and then the two disagree about where the next request begins
 * (RFC 9112 section 11.2).
 */
export function framingIssue(request: OpenRequest): AppError | null {
  const { headers, repeated } = request;
  const issue = (sentence: string) => new AppError('bad_request', sentence);
  for (const name of ['content-length', 'transfer-encoding', 'host']) {
    if (repeated?.includes(name)) return issue(`the header ${name} may stand in a request only once`);
  }
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (length !== undefined && coding !== undefined) {
    return issue('a request may carry content-length or transfer-encoding, not both');
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    return issue('the only transfer coding that is understood here is chunked');
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return issue('the header content-length is not a whole number');
  }
  return null;
}

export function hasBody(head: Pick<IncomingRequest, 'headers'>): boolean {
  return (
    head.headers['transfer-encoding'] !== undefined ||
    (head.headers['content-length'] !== undefined && Number(head.headers['content-length']) > 0)
  );
}

/** Networks in CIDR form. Throws `bad_setting` for anything else. */
export function proxyList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIP(address);
    const prefix = bits === undefined ? (family === 6 ? 128 : 32) : Number(bits);
    if (family === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > (family === 6 ? 128 : 32)) {
      throw new AppError('bad_setting', `TRUSTED_PROXIES: "${cidr}" is not a network like 10.0.0.0/8`);
    }
    list.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * Walks X-Forwarded-For from the nearest hop: the first address that is not a trusted proxy is the client
 * (D-54). Whatever stands further left was written by the client itself.
 */
function clientAddress(peer: string, forwarded: string | undefined, proxies: BlockList): string {
  if (forwarded === undefined) return peer;
  const hops = forwarded.split(',').map((hop) => hop.trim());
  let client = peer;
  while (isTrusted(client, proxies)) {
    const next = hops.pop();
    if (next === undefined || isIP(next) === 0) break;
    client = next;
  }
  return client;
}

function isTrusted(address: string, proxies: BlockList): boolean {
  const family = isIP(address);
  return family !== 0 && proxies.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** uWS writes IPv6 in full, and IPv4 peers of a dual-stack socket as mapped addresses. */
function readableAddress(text: string): string {
  const mapped = /^0000:0000:0000:0000:0000:ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/.exec(
    text,
  );
  if (!mapped) return text;
  return mapped
    .slice(1)
    .map((part) => Number.parseInt(part, 16))
    .join('.');
}

function saneRequestId(value: string | undefined): string | null {
  return value !== undefined && /^[A-Za-z0-9._-]{8,128}$/.test(value) ? value : null;
}
