import type { DisconnectedBy } from './call-results.ts';
import type { ErrorCode } from './error-catalogue.ts';
import type { DeskAnswer } from './handoff.ts';
import type { HangupCause } from './hangup-orders.ts';
import type { ProviderHealthEntry, ProviderOutcome } from './provider-health.ts';
import type { MediaServerAccess } from './rooms.ts';
import type { ConnectedMessage } from './wire.ts';

/**
 * Main and slot over the fork channel: commands and facts, never audio (D-1).
 * Every message carries the version; a slot that meets an unknown one exits with a sentence.
 */

/** First message to a fresh slot. Secrets travel here, so that they stand in no environment. */
export interface SlotInit {
  v: number;
  type: 'init';
  slotId: number;
  dataDir: string;
  modelDir: string;
  turnModel: 'slot' | 'off';
  logLevel: string;
  /** `{bot_id}` placeholder or a base that gets `/{bot_id}` appended. */
  configUrl: string;
  coreSecret: string;
  /** Origins that may be given the core secret (D-52). */
  ownOrigins: string[];
  /** Base of `recording_url` of calls that the own control plane has a record of; empty in a worker without one. */
  baseUrl: string;
  /** Config URLs that lead to the own control plane; a main of an earlier version does not say. */
  ownConfigUrls?: string[];
}

/** The upgrade request of a call, sent together with its socket. */
export interface SlotCall {
  v: number;
  type: 'call';
  /** Names the spool folder; unique per call. */
  callId: string;
  kind: 'telephony' | 'partner';
  botId: string;
  request: { method: string; url: string; headers: Record<string, string>; rawHeaders: string[] };
  /** Bytes that arrived behind the upgrade request, base64. */
  head: string;
  acceptedAtMs: number;
  /** Where the call is brought into a room when it is handed over; null where no media server is set up. */
  media: MediaServerAccess | null;
}

/** How a call came into its room (R19 to R22). */
export type RoomCallKind = 'sip_inbound' | 'sip_outbound' | 'attach' | 'widget';

/** A call through a room of the media server. No socket travels with it: the slot joins by itself. */
export interface SlotRoomCall {
  v: number;
  type: 'room_call';
  /** Names the spool folder; unique per call. */
  callId: string;
  kind: RoomCallKind;
  botId: string;
  roomName: string;
  /** Who of the room is the customer. */
  customerIdentity: string;
  /** The connected event as a dialler would have sent it: `caller_id`, `from_number`, `call_direction`, and the rest. */
  connected: ConnectedMessage;
  /** Another config endpoint than the host's (D-19); null for the host's. */
  configUrl: string | null;
  media: MediaServerAccess;
  /** Of `sip_outbound` only: whom to call. */
  dial: { trunkId: string; toNumber: string; fromNumber: string } | null;
  /** Of `attach`: when the customer answered, ISO 8601, and what the dialler found out about them. */
  attached: { answeredAt: string | null; screening: Record<string, unknown> | null } | null;
  /** Of this installation, for the room's metadata. */
  hostId: string;
  acceptedAtMs: number;
}

/** Finish the live call as soon as the conversation allows, or leave at once when idle. */
export interface SlotLeave {
  v: number;
  type: 'leave';
}

/** End the live call now (console, supervisor, overrun). */
export interface SlotHangup {
  v: number;
  type: 'hangup';
  callId: string;
  /** Absent where it is the host's own. */
  cause?: HangupCause;
  reason: string;
}

/** An entry of a vendor's prompt cache as main and slots name it. */
export interface SharedCacheEntry {
  /** The vendor's name, such as `cachedContents/abc`. */
  name: string;
  expiresAtMs: number;
  version: string;
}

/** The newest entry under a key that a call of this slot watches; null when it was lost. */
export interface SlotPromptCacheEntry {
  v: number;
  type: 'prompt_cache_entry';
  key: string;
  entry: SharedCacheEntry | null;
}

/** Answer to `prompt_cache_claim`. */
export interface SlotPromptCacheAnswer {
  v: number;
  type: 'prompt_cache_answer';
  claimId: string;
  answer: 'create' | 'skip' | SharedCacheEntry;
}

/** How the providers do on this host, whole: sent when it changes and to every slot that becomes ready. */
export interface SlotProviderHealth {
  v: number;
  type: 'provider_health';
  providers: ProviderHealthEntry[];
}

/** The desk has taken the handoff of a call. */
export interface SlotDeskAnswer {
  v: number;
  type: 'desk_answer';
  callId: string;
  answer: DeskAnswer;
}

export type MainToSlot =
  | SlotInit
  | SlotCall
  | SlotRoomCall
  | SlotDeskAnswer
  | SlotLeave
  | SlotHangup
  | SlotPromptCacheEntry
  | SlotPromptCacheAnswer
  | SlotProviderHealth;

export type SlotToMain =
  /** Models loaded, upgrade path warmed: the slot takes calls. */
  | { v: number; type: 'ready'; models: Record<string, 'ready' | 'missing' | 'off'>; warmupMs: number }
  /** The pacer ticked; sent every HEARTBEAT_MS (RT-74). */
  | { v: number; type: 'heartbeat'; callId: string | null; rssBytes: number }
  /** The session exists: config loaded. */
  | { v: number; type: 'session'; callId: string; sessionId: string; maxCallSeconds: number }
  /** The bot has its config and stands in the room: whoever waits for it may be let in. */
  | { v: number; type: 'room_joined'; callId: string }
  /** A room call that did not come about; `finished` follows. `code` is one of contracts/wire.ts CLOSE. */
  | { v: number; type: 'room_refused'; callId: string; code: number; reason: string }
  /** The config endpoint has turned a call away, on whatever line. */
  | { v: number; type: 'config_refused'; callId: string; error: ErrorCode }
  /** Notes for the agent desk lie in the spool folder of the call; told again for each new one. */
  | { v: number; type: 'desk_notes'; callId: string }
  /** The carrier's own id of a partner call: a later socket with the same id takes the call over (RT-80). */
  | { v: number; type: 'carrier_call'; callId: string; callSid: string }
  /** The call is over and all it leaves is on disk. `hasResult` is false where no session existed. */
  | {
      v: number;
      type: 'finished';
      callId: string;
      hasResult: boolean;
      disconnectedBy: DisconnectedBy | null;
    }
  /** What became of requests to providers; bounded by MAX_OUTCOMES_AT_ONCE. */
  | { v: number; type: 'provider_outcomes'; outcomes: ProviderOutcome[] }
  /**
   * A call needs the prompt cache entry under `key` and is told of every change until it says that it no longer does.
   * The key is a hash of all that makes an entry usable: text, tools, model, account.
   */
  | { v: number; type: 'prompt_cache_watch'; key: string; known: SharedCacheEntry | null }
  | { v: number; type: 'prompt_cache_unwatch'; key: string }
  /** May I create the entry? Answered by `prompt_cache_answer`. */
  | { v: number; type: 'prompt_cache_claim'; key: string; claimId: string }
  /** What became of an entry. `plane` says whose live prompt it holds, null for after-call prompts. */
  | {
      v: number;
      type: 'prompt_cache_news';
      key: string;
      news:
        | { kind: 'created' | 'extended'; entry: SharedCacheEntry }
        | { kind: 'lost'; name: string }
        | { kind: 'failed'; reason: string };
      plane: { botId: string; staticVersion: string } | null;
    };
