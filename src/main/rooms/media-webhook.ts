import type { DispatchRequest } from '../../contracts/room-requests.ts';
import { type MediaServerAccess, SIP_PARTICIPANT_KIND, SIP_ROOM_PREFIX } from '../../contracts/rooms.ts';

/** An event of the media server that is older than this, or as far in the future, is no news (D-41). */
export const MAX_EVENT_AGE_MS = 300_000;
/** How far the clocks of two machines may be apart where a token's validity is checked. */
const CLOCK_TOLERANCE_S = 30;

/** Attributes of a SIP participant (livekit-sip, `livekit/attrs.go`). */
const ATTRIBUTE = {
  caller: 'sip.phoneNumber',
  did: 'sip.trunkPhoneNumber',
  trunk: 'sip.trunkID',
  callId: 'sip.callID',
  header: 'sip.h.',
} as const;

/** What the media server tells. */
export interface MediaEvent {
  event: string;
  room: string;
  /** Empty where the event is about nobody. */
  identity: string;
  /** A caller rings; `sid` names this one joining of theirs for good. */
  caller: { sid: string; request: DispatchRequest } | null;
}

/**
 * Reads a webhook of the media server. Null where its signature does not hold: the token must be signed with our
 * secret, be valid now, carry the hash of exactly this body (livekit-server-sdk, WebhookReceiver), and the event must
 * be fresh. A rightly signed body that cannot be read is an event of no interest.
 */
export async function readMediaWebhook(
  access: MediaServerAccess,
  authorization: string | undefined,
  body: string,
  nowMs: number,
): Promise<MediaEvent | null> {
  if (authorization === undefined) return null;
  const { WebhookReceiver } = await import('livekit-server-sdk');
  const receiver = new WebhookReceiver(access.apiKey, access.apiSecret);
  const token = authorization.replace(/^Bearer /i, '');
  let event: Awaited<ReturnType<typeof receiver.receive>>;
  try {
    event = await receiver.receive(body, token, false, CLOCK_TOLERANCE_S);
  } catch {
    return null;
  }
  if (Math.abs(nowMs - Number(event.createdAt) * 1000) > MAX_EVENT_AGE_MS) return null;
  const { participant } = event;
  const room = event.room?.name ?? '';
  const isCaller =
    event.event === 'participant_joined' &&
    participant?.kind === SIP_PARTICIPANT_KIND &&
    room.startsWith(SIP_ROOM_PREFIX);
  return {
    event: event.event,
    room,
    identity: participant?.identity ?? '',
    caller: isCaller
      ? { sid: participant.sid, request: requestOf(participant, room, Number(event.createdAt) * 1000) }
      : null,
  };
}

function requestOf(
  participant: { identity: string; attributes: Readonly<Record<string, string>> },
  room: string,
  atMs: number,
): DispatchRequest {
  const { identity, attributes } = participant;
  const { [ATTRIBUTE.trunk]: trunkId, [ATTRIBUTE.callId]: callId } = attributes;
  return {
    did: attributes[ATTRIBUTE.did] ?? '',
    caller: attributes[ATTRIBUTE.caller] ?? '',
    room_name: room,
    participant_identity: identity,
    ...(trunkId === undefined ? {} : { trunk_id: trunkId }),
    ...(callId === undefined ? {} : { call_id: callId }),
    sip_headers: headersOf(attributes),
    received_at: new Date(atMs).toISOString(),
  };
}

function headersOf(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes)
      .filter(([name]) => name.startsWith(ATTRIBUTE.header))
      .map(([name, value]) => [name.slice(ATTRIBUTE.header.length), value]),
  );
}
