import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { EmulatedSocket } from './emulated-socket.ts';
import type { Emulator, EmulatorOptions } from './emulator.ts';
import { type AudioTruth, HeardAudio } from './heard-audio.ts';
import { type Hearing, SpeechReader, type TextCursor } from './speech-reader.ts';

/** What every speech-to-text emulator can be told. */
export interface SttEmulatorOptions {
  /** The key that is let in. */
  key?: string;
  /** What it understands; without it every utterance is an empty text. */
  hearing?: Hearing;
  clock?: ProviderClock;
  timeScale?: number;
  tls?: boolean;
  /** Everything that it says comes so much later than it knows it, on its clock. */
  answerDelayMs?: number;
}

export interface SttEmulator extends Emulator {
  key: string;
  /** Audio of connection `index` so far. */
  audio(index: number): AudioTruth;
}

/** A connection's hearing: decoding, measuring and reading. */
export interface Ear {
  audio: HeardAudio;
  reader: SpeechReader;
}

/** The ears of an emulator; its connections share one place in the script. */
export class Ears {
  private readonly hearing: Hearing;
  private readonly cursor: TextCursor = { at: 0 };
  private readonly byConnection = new Map<number, Ear>();

  constructor(options: SttEmulatorOptions) {
    this.hearing = options.hearing ?? { texts: [] };
  }

  open(socket: EmulatedSocket, format: { sampleRate: number; encoding: string; clock: ProviderClock }): Ear {
    const ear = {
      audio: new HeardAudio(format),
      reader: new SpeechReader({
        sampleRate: format.sampleRate,
        hearing: this.hearing,
        cursor: this.cursor,
      }),
    };
    this.byConnection.set(socket.index, ear);
    return ear;
  }

  truth(index: number): AudioTruth {
    const ear = this.byConnection.get(index);
    if (!ear) throw new Error(`connection ${index} has sent no audio`);
    return ear.audio.truth();
  }

  /** A reader outside any socket, for a vendor that takes whole files. */
  reader(sampleRate: number): SpeechReader {
    return new SpeechReader({ sampleRate, hearing: this.hearing, cursor: this.cursor });
  }
}

/** The options of `startEmulator` that an STT emulator passes on. */
export function kitOptions(
  options: SttEmulatorOptions,
  key: string,
): Omit<EmulatorOptions, 'vendor' | 'http' | 'sockets'> {
  return {
    secrets: [key],
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.timeScale ? { timeScale: options.timeScale } : {}),
    ...(options.tls ? { tls: true } : {}),
  };
}

/** A made-up id in the vendors' form, different for each call. */
export function emulatedId(): string {
  idsGiven += 1;
  return `00000000-0000-4000-8000-${String(idsGiven).padStart(12, '0')}`;
}

let idsGiven = 0;
