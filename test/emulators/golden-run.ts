import type { Emulator } from './kit/emulator.ts';
import type { ScriptStep } from './kit/script.ts';
import type { SttEmulator } from './kit/stt-emulator.ts';
import { silence, speakTones, TONE_WORD_MS } from './kit/tone-words.ts';

/**
 * What a vendor's own SDK did at our emulator. `lines` is what it sent, normalised, to be compared with what our client
 * sends under the same settings (D-35).
 */
export interface GoldenRun {
  lines: string[];
  violations: readonly string[];
  /** Messages as the SDK handed them to its user. */
  received: Record<string, unknown>[];
}

/** The steps of a run, in order; a vendor without a message for a step leaves it out. */
export type GoldenStep = 'speak' | 'keepalive' | 'finalize' | 'configure' | 'close';

/** Closes the connection after the last step of a scene, unless the scene does so itself. */
export function closing(scene: readonly ScriptStep[]): ScriptStep[] {
  const last = scene.at(-1);
  return last && 'close' in last ? [...scene] : [...scene, { close: 1000 }];
}

export const GOLDEN_KEY = 'golden-test-key';
export const GOLDEN_WORDS: readonly string[] = ['ich', 'möchte', 'einen', 'Termin', 'please', 'कल', 'ok'];
export const GOLDEN_TEXT = 'please einen Termin कल';

/** One spoken utterance and the silence after it, as frames of the given length in LINEAR16. */
export function goldenFrames(sampleRate: number, frameMs: number, silenceMs: number): Buffer[] {
  const speech = speakTones(GOLDEN_TEXT, GOLDEN_WORDS, sampleRate);
  const pause = silence(silenceMs + TONE_WORD_MS, sampleRate);
  const samples = new Int16Array(speech.length + pause.length);
  samples.set(speech);
  samples.set(pause, speech.length);
  const step = (sampleRate * frameMs) / 1000;
  const frames: Buffer[] = [];
  for (let at = 0; at + step <= samples.length; at += step) {
    const frame = samples.slice(at, at + step);
    frames.push(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength));
  }
  return frames;
}

/** Messages that an SDK delivers, and waiting for one of them. */
export class GoldenInbox {
  readonly received: Record<string, unknown>[] = [];
  private wake: () => void = () => undefined;
  private closed = false;

  readonly take = (message: unknown): void => {
    this.received.push(message as Record<string, unknown>);
    this.wake();
  };

  readonly close = (): void => {
    this.closed = true;
    this.wake();
  };

  until(fits: (message: Record<string, unknown>) => boolean, timeoutMs = 15_000): Promise<void> {
    return this.wait(() => this.received.some(fits), timeoutMs);
  }

  untilClosed(timeoutMs = 15_000): Promise<void> {
    return this.wait(() => this.closed, timeoutMs);
  }

  private wait(done: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`the SDK got nothing that fits: ${JSON.stringify(this.received).slice(0, 2_000)}`));
      }, timeoutMs);
      this.wake = () => {
        if (!done()) return;
        clearTimeout(timer);
        resolve();
      };
      this.wake();
    });
  }
}

/** Ends a run: the emulator is closed, its log read. */
export async function goldenRun(
  emulator: Emulator | SttEmulator,
  inbox: Pick<GoldenInbox, 'received'>,
  work: () => Promise<void>,
): Promise<GoldenRun> {
  try {
    await work();
    return {
      lines: emulator.log.normalise({ only: 'client' }),
      violations: emulator.violations.list,
      received: inbox.received,
    };
  } finally {
    await emulator.close();
  }
}
