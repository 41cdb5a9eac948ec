import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { judgeAddress } from './guarded-http/address-rules.ts';
import type { Network } from './guarded-http/network.ts';
import { ConnectFailure, type PinnedAnswer, pinnedRequest } from './guarded-http/pinned-request.ts';
import { HttpFailure } from './http-client.ts';

/**
 * The one HTTP client for addresses that people enter: CRMs, webhooks, tools, probes. It resolves a name once, judges
 * every address, and connects to the very address that it judged, so that a name which changes its answer in between
 * (DNS rebinding) gains nothing. Redirects are answers like any other; they are never followed.
 */
export interface GuardedHttp {
  /** Rejects with {@link OutboundFailure} only. */
  send(url: string, call: GuardedCall): Promise<GuardedAnswer>;
}

export interface GuardedCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** For everything together: name, connection, request and answer. */
  timeoutMs: number;
  /** A larger answer is refused. */
  maxBytes: number;
  signal?: AbortSignal;
}

export interface GuardedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  ms: number;
}

/** `refused`: the guard said no and nothing was sent. The message names no address, path or secret. */
export class OutboundFailure extends Error {
  readonly kind: HttpFailure['kind'] | 'refused';
  readonly ms: number;
  constructor(kind: OutboundFailure['kind'], message: string, ms: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundFailure';
    this.kind = kind;
    this.ms = ms;
  }
}

export interface GuardedHttpOptions {
  /** Read for each request, so that a change of the setting counts at once. */
  allowedNetworks: () => readonly Network[];
  /** Addresses of a name; the machine's own resolver unless a test brings another. */
  resolve?: (hostname: string) => Promise<readonly string[]>;
  /**
   * Where a judged address is really reached. Only tests bring one: loopback is never called, so a test server on
   * loopback stands behind an address that may be.
   */
  route?: (address: string, port: number) => { address: string; port: number };
  ca?: string;
}

/** Addresses of one host that are tried, one after another, while no connection stands. */
const MAX_ADDRESSES_TRIED = 3;
/** More addresses than this for one name are no host. */
const MAX_ADDRESSES = 32;

export function createGuardedHttp(options: GuardedHttpOptions): GuardedHttp {
  const resolve = options.resolve ?? systemAddresses;
  return {
    async send(url, call) {
      const startedMs = performance.now();
      const ms = () => Math.round((performance.now() - startedMs) * 10) / 10;
      const deadline = AbortSignal.timeout(call.timeoutMs);
      const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline;
      try {
        const target = readUrl(url);
        const addresses = await judged(target, options.allowedNetworks(), resolve, signal);
        const answer = await firstReachable(addresses, target, call, signal, options);
        return { ...answer, body: answer.body.toString('utf8'), ms: ms() };
      } catch (error) {
        if (deadline.aborted) {
          throw new OutboundFailure('timeout', `no answer within ${call.timeoutMs} ms`, ms(), error);
        }
        if (signal.aborted) throw new OutboundFailure('aborted', 'the request was called off', ms(), error);
        if (error instanceof Refusal) throw new OutboundFailure('refused', error.message, ms());
        if (error instanceof HttpFailure) throw new OutboundFailure(error.kind, error.message, ms(), error);
        throw new OutboundFailure('unreachable', 'the request failed', ms(), error);
      }
    },
  };
}

/** Why the guard sends nothing. */
class Refusal extends Error {}

function readUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Refusal('the URL cannot be read');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Refusal('only https and http are called');
  if (url.username || url.password) throw new Refusal('credentials belong into a header, not into the URL');
  return url;
}

/** Every address of the host, when all of them may be called; one forbidden address condemns the name. */
async function judged(
  url: URL,
  listed: readonly Network[],
  resolve: (hostname: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(name) ? [name] : await abortable(resolve(name), signal);
  if (addresses.length === 0 || addresses.length > MAX_ADDRESSES) {
    throw new HttpFailure('unreachable', 'the name of the host has no usable address');
  }
  for (const address of addresses) {
    const verdict = judgeAddress(address, listed);
    if (!verdict.allowed) throw new Refusal(verdict.reason);
    if (url.protocol === 'http:' && !verdict.listed) {
      throw new Refusal(
        'plain http is only sent to networks in outbound_allowed_networks; use https, or let an admin list the network',
      );
    }
  }
  return addresses;
}

async function firstReachable(
  addresses: readonly string[],
  url: URL,
  call: GuardedCall,
  signal: AbortSignal,
  options: GuardedHttpOptions,
): Promise<PinnedAnswer> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const tried = addresses.slice(0, MAX_ADDRESSES_TRIED);
  const last = tried.length - 1;
  for (const [index, address] of tried.entries()) {
    const place = options.route?.(address, port) ?? { address, port };
    try {
      return await pinnedRequest({
        url,
        ...place,
        method: call.method,
        headers: call.headers ?? {},
        body: call.body,
        maxBytes: call.maxBytes,
        signal,
        // An address that swallows packets must not eat the time of the next one.
        connectTimeoutMs: index === last ? call.timeoutMs : call.timeoutMs / tried.length,
        ca: options.ca,
      });
    } catch (error) {
      const mayGoOn = error instanceof ConnectFailure && index < last && !signal.aborted;
      if (!mayGoOn) throw error;
    }
  }
  throw new HttpFailure('unreachable', 'the host cannot be reached');
}

async function systemAddresses(hostname: string): Promise<string[]> {
  try {
    return (await lookup(hostname, { all: true, verbatim: true })).map((entry) => entry.address);
  } catch (cause) {
    throw new HttpFailure('unreachable', 'the name of the host is not known', cause);
  }
}

/** A resolver cannot be stopped, but nobody has to wait for it. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
