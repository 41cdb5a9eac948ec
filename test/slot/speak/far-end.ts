import { FRAME_MS, FRAME_SAMPLES } from '../../../src/contracts/limits.ts';
import { Pacer } from '../../../src/slot/speak/pacer.ts';

export interface HeardFrame {
  /** The frame's last sample; null for a frame without speech. */
  value: number | null;
  first: number;
  unitId: number;
  playAtMs: number;
}

/**
 * A pacer on a clock that is moved by hand, and a far end that plays what it gets and drops what it is told to: what
 * the caller hears is written down frame by frame.
 */
export function farEnd(options: { leadMs?: number; idleLeadMs?: number; rewindMs?: number } = {}) {
  let nowMs = 1_000;
  let buffered: HeardFrame[] = [];
  const heard: HeardFrame[] = [];
  const ends: number[] = [];
  const counts = { sent: 0, unsent: 0, idle: 0, dropped: 0 };
  /** Samples per unit, as a ledger counts them. */
  const ledger = new Map<number, number>();
  const count = (unitId: number, samples: number) => ledger.set(unitId, (ledger.get(unitId) ?? 0) + samples);
  const pacer = new Pacer({
    leadMs: options.leadMs ?? 200,
    idleLeadMs: options.idleLeadMs ?? null,
    rewindMs: options.rewindMs ?? 0,
    now: () => nowMs,
    lineSamples: () => nowMs * 8,
    sink: {
      onFrame(frame, _playAtSample, unitId, playAtMs) {
        counts.sent += frame.length;
        count(unitId, frame.length);
        buffered.push({ playAtMs, value: frame.at(-1) ?? 0, first: frame[0] ?? 0, unitId });
      },
      onIdleFrame(playAtMs) {
        counts.idle++;
        buffered.push({ playAtMs, value: null, first: 0, unitId: 0 });
      },
      onUnitSent: (unitId) => ends.push(unitId),
      onUnsent(unitId, samples) {
        counts.unsent += samples;
        count(unitId, -samples);
      },
      onTick: () => undefined,
    },
  });
  const drop = () => {
    counts.dropped += buffered.filter((frame) => frame.value !== null && frame.playAtMs >= nowMs).length;
    heard.push(...buffered.filter((frame) => frame.playAtMs < nowMs));
    buffered = [];
  };
  return {
    pacer,
    heard,
    ends,
    counts,
    ledger,
    now: () => nowMs,
    buffered: () => buffered.length,
    values: () => heard.map((frame) => frame.value).filter((value) => value !== null && value > 0),
    pause(heardUntilMs?: number) {
      if (pacer.pause(heardUntilMs)) drop();
    },
    clear() {
      pacer.clear();
      drop();
    },
    /** Time passes in steps; pushing nothing wakes the pacer as its timer would. */
    pass(ms: number) {
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs += 5;
        pacer.push(pacer.epoch, 0, new Int16Array(0));
        pacer.endUnit(pacer.epoch, 0);
        while (buffered[0] && buffered[0].playAtMs < nowMs) {
          const frame = buffered.shift();
          if (frame) heard.push(frame);
        }
      }
    },
  };
}

/** Frames that carry their number in their last sample, where no fade reaches. */
export function numbered(from: number, frames: number): Int16Array {
  const samples = new Int16Array(frames * FRAME_SAMPLES);
  for (let at = 0; at < frames; at++) samples[(at + 1) * FRAME_SAMPLES - 1] = from + at;
  return samples;
}

export const framesOf = (ms: number) => ms / FRAME_MS;
