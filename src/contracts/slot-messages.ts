import type { DisconnectedBy } from './call-results.ts';

/**
 * Main and slot over the fork channel: commands and facts, never audio (appliance.md, Shape 1).
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
  /** Origins that may be given the core secret (decisions.md 10). */
  ownOrigins: string[];
  /** Base of `recording_url`; empty in a worker without a control plane of its own. */
  baseUrl: string;
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
  reason: string;
}

export type MainToSlot = SlotInit | SlotCall | SlotLeave | SlotHangup;

export type SlotToMain =
  /** Models loaded, upgrade path warmed: the slot takes calls. */
  | { v: number; type: 'ready'; models: Record<string, 'ready' | 'missing' | 'off'>; warmupMs: number }
  /** The pacer ticked; sent every HEARTBEAT_MS (RT-74). */
  | { v: number; type: 'heartbeat'; callId: string | null; rssBytes: number }
  /** The session exists: config loaded. */
  | { v: number; type: 'session'; callId: string; sessionId: string; maxCallSeconds: number }
  /** The carrier's own id of a partner call: a later socket with the same id takes the call over (RT-80). */
  | { v: number; type: 'carrier_call'; callId: string; callSid: string }
  /** The call is over and all it leaves is on disk. `hasResult` is false where no session existed. */
  | {
      v: number;
      type: 'finished';
      callId: string;
      hasResult: boolean;
      disconnectedBy: DisconnectedBy | null;
    };
