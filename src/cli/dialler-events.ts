import type { SlotMessage } from '../contracts/wire.ts';

/** Everything that a dialler notices, stamped with the monotonic clock (milliseconds). */
export type DiallerEvent = { atMs: number } & (
  | { type: 'ready'; sessionId: string }
  /** A clip of the caller began to go out. */
  | { type: 'caller_started'; clip: string }
  /** Its last frame is out; `voiceEndedAtMs` is when its last audible frame was. */
  | { type: 'caller_stopped'; clip: string; voiceEndedAtMs: number }
  /** The bot became audible; `arrivedAtMs` is when that frame came over the wire, before the jitter buffer. */
  | { type: 'bot_started'; arrivedAtMs: number }
  | { type: 'bot_stopped' }
  /** The bot's audio was withdrawn; `droppedMs` of it never sounded. */
  | { type: 'clear'; droppedMs: number; droppedMarks: string[] }
  | { type: 'mark'; name: string }
  /** The point of the mark has been played, and the slot was told. */
  | { type: 'mark_played'; name: string }
  | { type: 'transfer'; transfer: Extract<SlotMessage, { event: 'transfer' }>['transfer'] }
  | { type: 'hangup'; reason: string }
  | { type: 'unreadable'; sentence: string }
  | { type: 'closed'; code: number; reason: string }
);

export type DiallerEventOf<T extends DiallerEvent['type']> = Extract<DiallerEvent, { type: T }>;
