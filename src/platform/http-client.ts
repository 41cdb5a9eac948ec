import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/**
 * A small HTTP client over node:http for slots and main. Slots do not use fetch: its first use costs 6 MB of private
 * memory per process (D-14). Redirects are not followed; the whole exchange has one deadline.
 */
export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface HttpCall {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  timeoutMs: number;
  /** Answers beyond this are refused. */
  maxBytes: number;
  signal?: AbortSignal;
}

export class HttpFailure extends Error {
  readonly kind: 'unreachable' | 'timeout' | 'too_large' | 'aborted';
  constructor(kind: HttpFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HttpFailure';
    this.kind = kind;
  }
}

const httpAgent = new HttpAgent({ keepAlive: true, maxSockets: 32, maxFreeSockets: 4 });
const httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets: 32, maxFreeSockets: 4 });

/** Sends one request and reads the whole answer. Rejects with {@link HttpFailure} only. */
export function httpCall(url: string, call: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const secure = target.protocol === 'https:';
    let settled = false;
    const fail = (kind: HttpFailure['kind'], message: string, cause?: unknown) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      request.destroy();
      reject(new HttpFailure(kind, message, cause));
    };
    const request = (secure ? httpsRequest : httpRequest)(
      target,
      {
        method: call.method ?? 'GET',
        agent: secure ? httpsAgent : httpAgent,
        headers: {
          ...call.headers,
          ...(call.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(call.body)) }),
        },
        ...(call.signal ? { signal: call.signal } : {}),
      },
      (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          if (size > call.maxBytes) {
            fail('too_large', `the answer is larger than ${call.maxBytes} bytes`);
            return;
          }
          parts.push(part);
        });
        response.on('end', () => {
          if (settled) return;
          settled = true;
          clearTimeout(timer);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString('utf8'),
          });
        });
        response.on('error', (cause) => fail('unreachable', `the answer broke off: ${cause.message}`, cause));
      },
    );
    const timer = setTimeout(() => fail('timeout', `no answer within ${call.timeoutMs} ms`), call.timeoutMs);
    request.on('error', (cause) =>
      fail(call.signal?.aborted ? 'aborted' : 'unreachable', cause.message || 'the connection failed', cause),
    );
    request.end(call.body);
  });
}
