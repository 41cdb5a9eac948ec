import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FleetAnswer, Refusal } from '../../contracts/fleet-refusals.ts';

/** A refused caller that does not read its answer is cut off after this. */
const REFUSAL_LINGER_MS = 2_000;

/** Answers a request; after a refusal the connection is closed. */
export function sendAnswer(response: ServerResponse, answer: FleetAnswer): void {
  const { headers, body } = 'error' in answer.body ? refusalParts(answer as Refusal) : jsonParts(answer.body);
  response.writeHead(answer.status, headers);
  response.end(body);
}

/** Answers on the raw socket of an upgrade request and closes it. */
export function refuseOnSocket(socket: Duplex, refusal: Refusal): void {
  const { headers, body } = refusalParts(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? 'Refused'}\r\n${lines.join('\r\n')}\r\n\r\n`;
  const linger = setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS);
  socket.on('close', () => clearTimeout(linger));
  // What the caller goes on to send is read and dropped: unread bytes would turn the close into a reset, and the
  // answer might be lost with it.
  socket.resume();
  socket.end(head + body);
}

function jsonParts(json: object): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(json);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
    },
  };
}

function refusalParts({ body: json, allow }: Refusal): { headers: Record<string, string>; body: string } {
  const { headers, body } = jsonParts(json);
  const { retry_after_seconds: retryAfterSeconds } = json;
  return {
    body,
    headers: {
      ...headers,
      connection: 'close',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(allow === undefined ? {} : { allow }),
    },
  };
}
