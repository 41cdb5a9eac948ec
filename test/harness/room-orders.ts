import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import type { SlotRoomCall } from '../../src/contracts/slot-messages.ts';
import { httpCall } from '../../src/platform/http-client.ts';

export const SECRET = 'a secret of the fleet';
export const API_KEY = 'devkey';
export const API_SECRET = 'a secret of the media server, long enough';
export const TRUNK_NUMBER = '+911140000000';

/**
 * A worker with a media server that is not there: main gives room calls to slots without asking it, so what main does
 * can be seen without one. `test/rooms` has the real one.
 */
export const MEDIA_ENV = {
  CORE_SECRET: SECRET,
  WS_AUTH: 'secret',
  LIVEKIT_URL: 'ws://127.0.0.1:9',
  LIVEKIT_API_KEY: API_KEY,
  LIVEKIT_API_SECRET: API_SECRET,
  SIP_OUTBOUND_TRUNK_ID: 'ST_out',
  SIP_DEFAULT_FROM: TRUNK_NUMBER,
  DID_MAP: '+911140001234=clinic,+911140005678=refuse',
} as const;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came back.
  json: any;
}

/** Sends an order to the ingress, with the core secret unless other headers are given. */
export async function post(
  port: number,
  path: string,
  body: unknown,
  headers: Record<string, string> = { 'x-core-secret': SECRET },
  method = 'POST',
): Promise<Answer> {
  const answer = await httpCall(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    timeoutMs: 25_000,
    maxBytes: 100_000,
  });
  return { status: answer.status, headers: answer.headers, json: JSON.parse(answer.body) };
}

/** What the slot was told of a call. */
export function orderOf(dataDir: string, callId: string): SlotRoomCall {
  return JSON.parse(readFileSync(join(dataDir, 'orders', `${callId}.json`), 'utf8')) as SlotRoomCall;
}

export function ordersIn(dataDir: string): SlotRoomCall[] {
  const folder = join(dataDir, 'orders');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as SlotRoomCall);
}

export interface Signing {
  key?: string;
  secret?: string;
  /** Instead of the hash of the body that is sent. */
  sha256?: string;
  /** Seconds; negative for a token that is no longer valid. */
  ttl?: number;
}

/** A webhook as the media server sends it: JSON, and a token with the hash of it. */
export async function signedWebhook(event: unknown, signing: Signing = {}) {
  const body = JSON.stringify(event);
  const token = new AccessToken(signing.key ?? API_KEY, signing.secret ?? API_SECRET, {
    ttl: signing.ttl ?? 300,
  });
  token.sha256 = signing.sha256 ?? createHash('sha256').update(body).digest('base64');
  return {
    body,
    headers: { 'content-type': 'application/webhook+json', authorization: await token.toJwt() },
  };
}

/** `participant_joined` of a caller over SIP. */
export function callerJoined(room: string, change: Record<string, unknown> = {}, attributes = {}) {
  return {
    event: 'participant_joined',
    id: `EV_${room}`,
    createdAt: String(Math.floor(Date.now() / 1000)),
    room: { sid: `RM_${room}`, name: room },
    participant: {
      sid: `PA_${room}`,
      identity: 'sip_+911150000001',
      kind: 'SIP',
      attributes: {
        'sip.phoneNumber': '+911150000001',
        'sip.trunkPhoneNumber': '+911140001234',
        'sip.trunkID': 'ST_in',
        'sip.callID': 'SCL_1',
        'sip.h.x-customer-id': '4711',
        ...attributes,
      },
    },
    ...change,
  };
}
