import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../contracts/error-catalogue.ts';

/** A refused caller that does not read its answer is cut off after this. */
const REFUSAL_LINGER_MS = 2_000;

/** What the ingress answers instead of a call. `error` is the word of the interface (R162), `code` the catalogue's. */
export interface Refusal {
  status: number;
  body: {
    error: string;
    code: ErrorCode;
    detail?: string;
    retry_after_seconds?: number;
    /** Where a body does not fit. */
    errors?: readonly { loc: string[]; msg: string; type: string; pointer: string }[];
  };
  retryAfterSeconds?: number;
}

/** A full host: the caller picks another one or tries again (R33). */
export const RETRY_AFTER_SECONDS = 5;

export const REFUSALS = {
  notFound: { status: 404, body: { error: 'Not found', code: 'not_found' } },
  unauthorized: { status: 403, body: { error: 'Unauthorized', code: 'forbidden' } },
  draining: {
    status: 503,
    body: { error: 'Draining', code: 'draining', retry_after_seconds: RETRY_AFTER_SECONDS },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  full: {
    status: 429,
    body: { error: 'At capacity', code: 'at_capacity', retry_after_seconds: RETRY_AFTER_SECONDS },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  slotsFailed: {
    status: 503,
    body: {
      error: 'No call slot took the call',
      code: 'slot_died',
      retry_after_seconds: RETRY_AFTER_SECONDS,
    },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  /** `error` names what is not set up (R162). */
  sipNotConfigured: {
    status: 503,
    body: { error: 'Media-server SIP is not configured on this host', code: 'sip_not_configured' },
  },
  mediaNotConfigured: {
    status: 503,
    body: { error: 'Media server is not configured on this host', code: 'media_not_configured' },
  },
  alreadyAttached: { status: 409, body: { error: 'Already attached', code: 'already_attached' } },
  roomGone: { status: 409, body: { error: 'Room gone', code: 'room_gone' } },
  reservationExpired: {
    status: 410,
    body: { error: 'Reservation expired', code: 'reservation_expired' },
  },
  methodNotAllowed: { status: 405, body: { error: 'Method not allowed', code: 'method_not_allowed' } },
} as const satisfies Record<string, Refusal>;

/** A request for a call that is no WebSocket upgrade; `detail` names what is missing. */
export function badUpgrade(detail: string): Refusal {
  return { status: 400, body: { error: 'Bad request', code: 'bad_request', detail } };
}

/** A body that cannot be read or does not fit; nothing of it was done. */
export function badBody(
  status: 400 | 413 | 415 | 422,
  code: ErrorCode,
  detail: string,
  errors?: Refusal['body']['errors'],
): Refusal {
  const error = status === 422 ? 'Validation error' : 'Bad request';
  return { status, body: { error, code, detail, ...(errors ? { errors } : {}) } };
}

/** The media server, or the way to it, stands between the host and the call; another host may do better. */
export function mediaRefusal(code: 'media_unavailable' | 'config_failed', detail: string): Refusal {
  const error = code === 'config_failed' ? 'No call config' : 'Media server unavailable';
  return {
    status: code === 'config_failed' ? 502 : 503,
    body: { error, code, detail, retry_after_seconds: RETRY_AFTER_SECONDS },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}

/** The host could serve, but must not now (RT-71); `detail` says what is short. */
export function underPressure(
  code: 'disk_full' | 'store_unavailable' | 'at_capacity',
  detail: string,
): Refusal {
  return {
    status: 503,
    body: { error: 'Not accepting calls', code, detail, retry_after_seconds: RETRY_AFTER_SECONDS },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}

/** Headers and body of a refusal, for both a plain answer and one written on an upgrade socket. */
export function refusalParts(refusal: Refusal): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(refusal.body);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      connection: 'close',
      ...(refusal.retryAfterSeconds === undefined
        ? {}
        : { 'retry-after': String(refusal.retryAfterSeconds) }),
    },
  };
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
