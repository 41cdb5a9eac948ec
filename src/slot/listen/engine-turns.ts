import type { SttTurnEvent } from '../../providers/speech-to-text.ts';

/** A turn that the engine has begun and does not end is ended so long after the caller's last speech (RT-09). */
export const STUCK_TURN_MS = 5_000;
/**
 * Speech that the engine shows no sign of having heard is given up after this: noise that it rightly ignores, or an
 * engine that is gone. It says something about an open turn every 250 ms (reference/providers.md 3.2).
 */
export const SILENT_ENGINE_MS = 1_800;

/**
 * What an engine that detects turns has said of the turn that is open (RT-05), and how long it is trusted. Times are
 * monotonic milliseconds.
 */
export class EngineTurns {
  /** The engine has announced a turn and not ended it. */
  isOpen = false;
  private lastSignMs = Number.NEGATIVE_INFINITY;

  /** A turn event or an interim text: the engine lives. */
  sign(nowMs: number): void {
    this.lastSignMs = nowMs;
  }

  took(event: SttTurnEvent, nowMs: number): void {
    this.sign(nowMs);
    this.isOpen = event.type !== 'end';
  }

  /** A turn was ended without the engine. */
  forget(): void {
    this.isOpen = false;
  }

  /** Until when the end of a turn is left to the engine, the caller having spoken last at `lastSpeechMs`. */
  trustedUntilMs(lastSpeechMs: number): number {
    if (!this.isOpen) return lastSpeechMs + SILENT_ENGINE_MS;
    return Math.min(lastSpeechMs + STUCK_TURN_MS, Math.max(lastSpeechMs, this.lastSignMs) + SILENT_ENGINE_MS);
  }
}
