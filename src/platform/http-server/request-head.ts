import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { AppError } from '../app-error.ts';

/** The head of a request as plain data; uWS forgets its own once the callback returns. */
export interface IncomingRequest {
  method: string;
  /** As sent, without the query. */
  path: string;
  query: URLSearchParams;
  /** Lower-case names; repeated headers are joined with a comma (RFC 9110 section 5.3). */
  headers: Readonly<Record<string, string>>;
  /** The client: the peer, or what a trusted proxy says about it. */
  remoteAddress: string;
  requestId: string;
}

/** Copies the head out of uWS. Never throws: what is wrong with a head is found by {@link framingMistake}. */
export function readHead(
  request: UwsRequest,
  response: UwsResponse,
  proxies: BlockList,
): { head: IncomingRequest; repeated: ReadonlySet<string> } {
  const headers: Record<string, string> = Object.create(null);
  const repeated = new Set<string>();
  request.forEach((name, value) => {
    const earlier = headers[name];
    if (earlier !== undefined) repeated.add(name);
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  });
  const peer = readableAddress(Buffer.from(response.getRemoteAddressAsText()).toString('latin1'));
  const head: IncomingRequest = {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: new URLSearchParams(request.getQuery() ?? ''),
    headers,
    remoteAddress: clientAddress(peer, headers['x-forwarded-for'], proxies),
    requestId: saneRequestId(headers['x-request-id']) ?? randomUUID(),
  };
  return { head, repeated };
}

/**
 * What makes the end of the request ambiguous, or null. The parser lets two Content-Length headers pass and takes the
 * first; a proxy in front may take the second, and then the two disagree about where the next request begins
 * (RFC 9112 section 11.2).
 */
export function framingMistake(head: IncomingRequest, repeated: ReadonlySet<string>): AppError | null {
  const mistake = (sentence: string) => new AppError('bad_request', sentence);
  for (const name of ['content-length', 'transfer-encoding', 'host']) {
    if (repeated.has(name)) return mistake(`the header ${name} may stand in a request only once`);
  }
  const { 'content-length': length, 'transfer-encoding': coding } = head.headers;
  if (length !== undefined && coding !== undefined) {
    return mistake('a request may carry content-length or transfer-encoding, not both');
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    return mistake('the only transfer coding that is understood here is chunked');
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return mistake('the header content-length is not a whole number');
  }
  return null;
}

export function hasBody(head: IncomingRequest): boolean {
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
 * (decisions.md 21). Whatever stands further left was written by the client itself.
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
