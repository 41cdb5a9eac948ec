import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { HttpFailure } from '../http-client.ts';

export interface PinnedRequest {
  url: URL;
  /** Where the connection goes: the judged address, never the name again. */
  address: string;
  port: number;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | undefined;
  maxBytes: number;
  signal: AbortSignal;
  /** How long the connection may take to stand; the answer has until `signal`. */
  connectTimeoutMs: number;
  /** Extra trusted certificates (PEM), where a test or an on-premises CRM has its own authority. */
  ca?: string | undefined;
}

export interface PinnedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Nothing was sent: the connection itself failed, so another address of the host may be tried. */
export class ConnectFailure extends HttpFailure {}

/**
 * One request to one address. The name stays where it matters: in the Host header, in the TLS handshake and in the
 * check of the certificate. Each request has its own connection, so none can be reused that was judged under other
 * rules.
 */
export function pinnedRequest(call: PinnedRequest): Promise<PinnedAnswer> {
  return new Promise((resolve, reject) => {
    let request: ClientRequest;
    let connected = false;
    const timer = setTimeout(
      () => fail('timeout', 'the connection took too long'),
      Math.max(1, call.connectTimeoutMs),
    );
    const fail = (kind: HttpFailure['kind'], message: string, cause?: unknown) => {
      clearTimeout(timer);
      request?.destroy();
      reject(
        connected || call.signal.aborted
          ? new HttpFailure(kind, message, cause)
          : new ConnectFailure(kind, message, cause),
      );
    };
    try {
      request = open(call);
    } catch (cause) {
      // Node refuses line breaks and the like in headers and paths by throwing.
      connected = true;
      fail('unreachable', 'the request has a header or path that HTTP does not allow', cause);
      return;
    }
    request.once('socket', (socket) => {
      socket.once(call.url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        connected = true;
        clearTimeout(timer);
      });
    });
    request.on('error', (cause) => fail('unreachable', sentenceOf(cause), cause));
    request.on('response', (response) => readAnswer(response, call.maxBytes, resolve, fail));
    request.end(call.body);
  });
}

function open(call: PinnedRequest): ClientRequest {
  const { url } = call;
  const secure = url.protocol === 'https:';
  const name = url.hostname.replace(/^\[|\]$/g, '');
  return (secure ? httpsRequest : httpRequest)({
    host: call.address,
    port: call.port,
    method: call.method,
    path: `${url.pathname}${url.search}`,
    agent: false,
    signal: call.signal,
    maxHeaderSize: MAX_HEAD_BYTES,
    headers: {
      ...call.headers,
      host: url.host,
      // Compressed answers would make the size cap a bound on the wrong number.
      'accept-encoding': 'identity',
      connection: 'close',
      ...(call.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(call.body)) }),
    },
    // RFC 6066 section 3: no server name for an address literal; the certificate is then checked against the address.
    ...(secure ? { servername: isIP(name) ? '' : name, minVersion: 'TLSv1.2' as const } : {}),
    ...(secure && call.ca !== undefined ? { ca: call.ca } : {}),
  });
}

const MAX_HEAD_BYTES = 16_384;

function readAnswer(
  response: IncomingMessage,
  maxBytes: number,
  resolve: (answer: PinnedAnswer) => void,
  fail: (kind: HttpFailure['kind'], message: string, cause?: unknown) => void,
): void {
  const parts: Buffer[] = [];
  let size = 0;
  response.on('data', (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) fail('too_large', `the answer is larger than ${maxBytes} bytes`);
    else parts.push(part);
  });
  response.on('end', () => {
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
  });
  response.on('error', (cause) => fail('unreachable', 'the answer broke off', cause));
}

/** Without addresses and ports: the text is shown to admins and kept with the call. */
function sentenceOf(cause: Error): string {
  const code = (cause as { code?: string }).code ?? '';
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection broke off';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'the network of the host cannot be reached';
  if (code === 'ETIMEDOUT') return 'the connection took too long';
  if (/^(ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_|EPROTO|ERR_SSL)/.test(code)) {
    return `the TLS certificate or handshake was not accepted (${code})`;
  }
  return `the request failed (${code || cause.name})`;
}
