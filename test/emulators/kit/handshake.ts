import type { Duplex } from 'node:stream';

/** A request to become a WebSocket. */
export interface Handshake {
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  subprotocols: string[];
}

/** How a vendor turns a handshake down. An object body goes as JSON. */
export interface Refusal {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Admission {
  subprotocol?: string;
  headers?: Record<string, string>;
}

/** Answers an upgrade request with a plain HTTP response and ends the connection. */
export function writeRefusal(raw: Duplex, refusal: Refusal): void {
  const isText = typeof refusal.body === 'string';
  const body = refusal.body === undefined ? '' : isText ? String(refusal.body) : JSON.stringify(refusal.body);
  const headers = {
    connection: 'close',
    'content-type': isText ? 'text/plain' : 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...refusal.headers,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  raw.end(`HTTP/1.1 ${refusal.status} Refused\r\n${head.join('')}\r\n${body}`);
}
