import type { ConnectedMessage, DiallerMessage, Framing, SlotMessage } from '../contracts/wire.ts';
import { bytesToSamples, samplesToBytes } from './caller-audio.ts';

/** How a dialler says on the wire what it means, and reads what the bot says. One per call; it may hold state. */
export interface WireDialect {
  /** Whether the bot says `ready` before audio may flow. */
  readonly waitsForReady: boolean;
  /** The messages that open a call. */
  greeting(): string[];
  /** 20 ms of caller audio at 8 kHz; null while a longer frame is not full yet. */
  media(frame: Int16Array): string | Uint8Array | null;
  /** Every other message; unknown ones go out as they are. */
  write(message: DiallerMessage | Record<string, unknown>): string;
  read(data: Buffer, isBinary: boolean): WireInbound;
}

/** `odd` says in a sentence what cannot be read. */
export type WireInbound = { audio: Int16Array } | { message: SlotMessage } | { odd: string };

/** The dialler WebSocket `/ws/{bot_id}` (docs/dialler-protocol.md). */
export function telephonyDialect(options: {
  connected: Omit<ConnectedMessage, 'event' | 'media'> | undefined;
  framing: Framing | undefined;
}): WireDialect {
  const framing = options.framing ?? 'json';
  return {
    waitsForReady: true,
    greeting() {
      const media = { encoding: 'linear16', sample_rate: 8000, framing };
      return [JSON.stringify({ ...options.connected, event: 'connected', media })];
    },
    media(frame) {
      const bytes = samplesToBytes(frame);
      if (framing === 'binary') return bytes;
      return JSON.stringify({ event: 'media', media: { payload: bytes.toString('base64') } });
    },
    write: (message) => JSON.stringify(message),
    read(data, isBinary) {
      if (isBinary) return audioOf(data);
      const message = jsonOf(data) as SlotMessage | null;
      if (!message) return { odd: 'the slot sent text that is not JSON' };
      return message.event === 'media' ? audioOf(Buffer.from(message.media.payload, 'base64')) : { message };
    },
  };
}

/** Little-endian bytes as audio, or what is wrong with them. */
export function audioOf(bytes: Buffer): WireInbound {
  if (bytes.length % 2 !== 0) return { odd: 'the slot sent half a sample' };
  return { audio: bytesToSamples(bytes) };
}

/** A message as an object, or null. */
export function jsonOf(data: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
