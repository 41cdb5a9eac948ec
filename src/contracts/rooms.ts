/**
 * Rooms of the media server: how rooms and people in them are named, so that every part knows a customer from a bot
 * and an agent by the identity alone.
 */

/** A number that came over SIP calls or is called. */
export const SIP_CUSTOMER_PREFIX = 'sip-';
/** Widget visitors are `widget-user-<8 characters of a uuid>` (R52). */
export const WIDGET_USER_PREFIX = 'widget-user-';
export const BOT_PREFIX = 'bot-';
/** The caller of a socket call, whom the slot brings into a room (D-44). */
export const BRIDGED_CALLER_PREFIX = 'caller-';
/** Agents of the desk are `agent-<user id>-<8 characters>` (D-45). */
export const AGENT_PREFIX = 'agent-';
export const SUPERVISOR_PREFIX = 'supervisor-';

/** Rooms of inbound SIP calls; the media server's dispatch rule makes them with this prefix. */
export const SIP_ROOM_PREFIX = 'sip-in-';
/** Rooms that a slot makes for a call that it dials or brings over from a socket. */
export const CALL_ROOM_PREFIX = 'call-';
/** Rooms of a look whether the media server works; gone when it is over. */
export const PROBE_ROOM_PREFIX = 'check-';
/** Rooms from which a trunk rings once. */
export const TRUNK_TEST_ROOM_PREFIX = 'trunk-test-';

/** LiveKit protocol, `ParticipantInfo.Kind.SIP`; the SDK does not export the enumeration. */
export const SIP_PARTICIPANT_KIND = 3;

export function botIdentity(callId: string): string {
  return `${BOT_PREFIX}${callId.slice(0, 8)}`;
}

export function callRoomName(callId: string): string {
  return `${CALL_ROOM_PREFIX}${callId}`;
}

/** Unique per call (R54). */
export function widgetRoomName(botId: string, uuid: string): string {
  return `widget-${botId}-${uuid.replaceAll('-', '').slice(0, 12)}`;
}

/**
 * What stands in a room's metadata: whose it is. The reconciler of a host closes only rooms with its own host id, so that
 * hosts can share a media server (RT-85).
 */
export interface RoomOwner {
  trunkline: {
    /** Of the host whose slot serves the room, stable over restarts. */
    host: string;
    call_id: string;
    bot_id: string;
    /** The agent desk has it now: the reconciler leaves it alone. */
    handed_over?: boolean;
  };
}

/** Null where the metadata is not ours. */
export function readRoomOwner(metadata: string): RoomOwner['trunkline'] | null {
  try {
    const value = (JSON.parse(metadata) as Partial<RoomOwner> | null)?.trunkline;
    return typeof value?.host === 'string' && typeof value.call_id === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** Where the media server is and how to be let in. Travels in messages between our own processes only. */
export interface MediaServerAccess {
  /** As this host reaches it: ws, wss, http or https. */
  url: string;
  apiKey: string;
  apiSecret: string;
}

/** What a host needs to dial: the media server and a trunk of it. */
export interface SipDialling {
  trunkId: string;
  /** Caller ID where the call names none; empty where the trunk decides. */
  defaultFrom: string;
}

/** Everything about the media server that a host needs; the control plane serves it from the system settings. */
export interface MediaSetup {
  access: MediaServerAccess;
  /** Null where no outbound trunk is set up. */
  dialling: SipDialling | null;
}
