import { type Static, Type } from 'typebox';
import type { ErrorCode } from './error-catalogue.ts';

/** Every mistake of a request, with its place; the same on both servers. */
export const MistakesSchema = Type.Array(
  Type.Object({
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
    msg: Type.String(),
    type: Type.String(),
    pointer: Type.String({ description: 'JSON pointer into the body' }),
  }),
  { description: 'Every mistake of a request that does not fit, with its place' },
);

/** Errors of the fleet port: a word for diallers, and the code of the catalogue. */
export const FleetErrorSchema = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    detail: Type.Optional(Type.String()),
    retry_after_seconds: Type.Optional(Type.Integer()),
    errors: Type.Optional(MistakesSchema),
  },
  { title: 'FleetError', additionalProperties: true },
);

/** What the fleet port answers instead of what was asked for. */
export interface Refusal {
  status: number;
  /** `retry_after_seconds` is sent as a header, too. */
  body: Static<typeof FleetErrorSchema> & { code: ErrorCode };
  /** Methods that the path takes, where the one that was asked for is none of them. */
  allow?: string;
}

/** What a route of the fleet port answers: a body with its status, or a {@link Refusal}. */
export type FleetAnswer = Refusal | { status: 200 | 201; body: object };

/** A full host: the caller picks another one or tries again. */
const RETRY_AFTER_SECONDS = 5;

export const REFUSALS = {
  notFound: { status: 404, body: { error: 'Not found', code: 'not_found' } },
  unauthorized: { status: 403, body: { error: 'Unauthorized', code: 'forbidden' } },
  draining: {
    status: 503,
    body: { error: 'Draining', code: 'draining', retry_after_seconds: RETRY_AFTER_SECONDS },
  },
  full: {
    status: 429,
    body: { error: 'At capacity', code: 'at_capacity', retry_after_seconds: RETRY_AFTER_SECONDS },
  },
  slotsFailed: {
    status: 503,
    body: {
      error: 'No call slot took the call',
      code: 'slot_died',
      retry_after_seconds: RETRY_AFTER_SECONDS,
    },
  },
  /** `error` names what is not set up. */
  sipNotConfigured: {
    status: 503,
    body: { error: 'Media-server SIP is not configured on this host', code: 'sip_not_configured' },
  },
  mediaNotConfigured: {
    status: 503,
    body: { error: 'Media server is not configured on this host', code: 'media_not_configured' },
  },
  alreadyAttached: { status: 409, body: { error: 'Already attached', code: 'already_attached' } },
  sessionInUse: {
    status: 409,
    body: {
      error: 'Session in use',
      code: 'session_in_use',
      detail: 'a call with this session id lives on this host',
    },
  },
  roomGone: { status: 409, body: { error: 'Room gone', code: 'room_gone' } },
  reservationExpired: {
    status: 410,
    body: { error: 'Reservation expired', code: 'reservation_expired' },
  },
  recordingGone: {
    status: 404,
    body: {
      error: 'Not found',
      code: 'not_found',
      detail: 'this recording is not, or no longer, on this host',
    },
  },
  methodNotAllowed: { status: 405, body: { error: 'Method not allowed', code: 'method_not_allowed' } },
  internal: { status: 500, body: { error: 'Internal error', code: 'internal' } },
} as const satisfies Record<string, Refusal>;

/** A request for a call that is no WebSocket upgrade; `detail` names what is missing. */
export function badUpgrade(detail: string): Refusal {
  return { status: 400, body: { error: 'Bad request', code: 'bad_request', detail } };
}

/** The media server, or the way to it, stands between the host and the call; another host may do better. */
export function mediaRefusal(code: 'media_unavailable' | 'config_failed', detail: string): Refusal {
  const error = code === 'config_failed' ? 'No call config' : 'Media server unavailable';
  return {
    status: code === 'config_failed' ? 502 : 503,
    body: { error, code, detail, retry_after_seconds: RETRY_AFTER_SECONDS },
  };
}

/** Why a link to a recording does not let in, and what does. */
export function linkRefusal(verdict: 'expired' | 'altered'): Refusal {
  if (verdict === 'expired') {
    const detail =
      'this link has ended; ask for the same path without its query and with the core secret in X-Core-Secret';
    return { status: 410, body: { error: 'Link expired', code: 'link_expired', detail } };
  }
  const detail =
    'this is no link as this host has signed it; take recording_url of the result unchanged, or send the core secret';
  return { status: 403, body: { error: 'Unauthorized', code: 'forbidden', detail } };
}

/** The host could serve, but must not now (RT-71); `detail` says what is short. */
export function underPressure(
  code: 'disk_full' | 'store_unavailable' | 'at_capacity',
  detail: string,
): Refusal {
  return {
    status: 503,
    body: { error: 'Not accepting calls', code, detail, retry_after_seconds: RETRY_AFTER_SECONDS },
  };
}
