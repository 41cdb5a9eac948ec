import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { ProviderTrouble } from '../../../src/providers/contract/provider-context.ts';
import type {
  SpeechToText,
  SttFinal,
  SttResult,
  SttSession,
  SttTurnEvent,
} from '../../../src/providers/contract/speech-to-text.ts';
import { openStt } from '../../../src/providers/open-providers.ts';
import type { Emulator } from '../../emulators/kit/emulator.ts';
import { silence, speakTones } from '../../emulators/kit/tone-words.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';

/** What callers say in these tests, as tones that the emulators read back word by word. */
export const WORDS =
  'good morning i would like to book a table for two at seven please yes no thank you'.split(' ');
const FRAME_MS = 20;
const WAIT_MS = 15_000;

/** One session with a vendor as a call has it, and everything that it was told. */
export class Caller {
  readonly stt: SpeechToText;
  readonly interims: string[] = [];
  readonly finals: SttFinal[] = [];
  readonly turns: SttTurnEvent[] = [];
  readonly failures: Error[] = [];
  readonly reports: ProviderTrouble[];
  readonly sampleRate: number;
  fedSamples = 0;
  session!: SttSession;

  private constructor(stt: SpeechToText, sampleRate: number, reports: ProviderTrouble[]) {
    this.stt = stt;
    this.sampleRate = sampleRate;
    this.reports = reports;
  }

  /** Opens a session; rejects as `open` does. */
  static async calls(config: ProviderConfig, clock: ProviderClock, sampleRate = 8_000): Promise<Caller> {
    const reports: ProviderTrouble[] = [];
    const stt = await openStt(config, { sampleRate, clock, report: (trouble) => reports.push(trouble) });
    const caller = new Caller(stt, sampleRate, reports);
    caller.session = await stt.open({
      onInterim: (text) => caller.interims.push(text),
      onFinal: (piece) => caller.finals.push(piece),
      onTurn: (event) => caller.turns.push(event),
      onFailure: (error) => caller.failures.push(error),
    });
    return caller;
  }

  /**
   * Opens a session on the emulator's own clock. On one that stands still no deadline of the client can pass before
   * the vendor's answer, however busy the machine is; a vendor that greets by its clock is helped on.
   */
  static async at(emulator: Emulator, config: ProviderConfig, sampleRate = 8_000): Promise<Caller> {
    const { clock, control } = emulator;
    const opening = Caller.calls(config, clock, sampleRate);
    if (clock instanceof HandClock) {
      await control.opened(control.sockets.length + 1);
      await clock.advance(10);
    }
    return opening;
  }

  /** Feeds audio in frames of 20 ms; sockets have their turn between them. */
  async feed(samples: Int16Array, betweenFrames?: () => Promise<void>): Promise<void> {
    const frame = (this.sampleRate * FRAME_MS) / 1000;
    for (let at = 0; at < samples.length; at += frame) {
      this.session.feed(samples.subarray(at, at + frame));
      this.fedSamples += Math.min(frame, samples.length - at);
      await (betweenFrames?.() ?? new Promise((resolve) => setImmediate(resolve)));
    }
  }

  say(text: string): Promise<void> {
    return this.feed(speakTones(text, WORDS, this.sampleRate));
  }

  pause(ms: number): Promise<void> {
    return this.feed(silence(ms, this.sampleRate));
  }

  /** Closes while a clock that stands still goes on, for vendors that answer late. */
  async hangUp(clock: HandClock): Promise<void> {
    let isOver = false;
    const closing = this.session.close().then(() => {
      isOver = true;
    });
    while (!isOver) await clock.advance(50, 50);
    await closing;
  }

  flush(): Promise<SttResult> {
    return this.session.flush(AbortSignal.timeout(WAIT_MS));
  }

  /** Resolves with the first failure. */
  async failure(): Promise<Error & { code?: string; details?: Record<string, unknown> }> {
    await until(() => this.failures.length > 0, 'a failure');
    return this.failures[0] as Error;
  }

  get ended(): (SttTurnEvent & { type: 'end' })[] {
    return this.turns.filter((event) => event.type === 'end');
  }
}

/** The error that a promise rejects with. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; details?: Record<string, unknown> }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it should have been rejected');
}
