import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { EchoGate } from './echo-gate.ts';

/** An echo comes back no later than this after the bot was heard (echo-gate.ts, the longest line). */
const ECHO_TAIL_SAMPLES = 1.3 * LINE_RATE_HZ;
/** Speech that passed for the caller's so long is the caller's. */
const MAX_DOUBT_SAMPLES = 1.2 * LINE_RATE_HZ;
/** An echo is looked at again this often, over its latest stretch: a caller may speak into it. */
const LOOK_AGAIN_SAMPLES = 0.2 * LINE_RATE_HZ;
const LATEST_SAMPLES = 0.5 * LINE_RATE_HZ;
/** So many looks in a row must not fit the bot before an echo counts as a caller. */
const MISFITS = 2;

/** When to lay what is heard over what the bot said, and what follows for a stretch of speech (RT-18). */
export class EchoWatch {
  private readonly gate: EchoGate;
  private botUntilSample = -1;
  private lookedAtSample = 0;
  private misfits = 0;

  constructor(gate: EchoGate) {
    this.gate = gate;
  }

  /** The bot is heard up to this sample of the line clock. */
  botHeardUntil(sample: number): void {
    this.botUntilSample = Math.max(this.botUntilSample, sample);
  }

  /** Whether a beginning is an echo; most are too short to tell, and then it is not. */
  isEcho(fromSample: number, toSample: number): boolean {
    this.misfits = 0;
    this.lookedAtSample = toSample;
    return this.botIsNear(fromSample) && this.gate.isEcho(fromSample, toSample);
  }

  /** Called for every window of speech; null where nothing changes. */
  look(fromSample: number, nowSample: number, isEcho: boolean): 'echo' | 'speech' | null {
    if (!isEcho) {
      if (nowSample - fromSample > MAX_DOUBT_SAMPLES || !this.botIsNear(fromSample)) return null;
      if (!this.gate.isEcho(fromSample, nowSample)) return null;
      this.lookedAtSample = nowSample;
      this.misfits = 0;
      return 'echo';
    }
    if (nowSample - this.lookedAtSample < LOOK_AGAIN_SAMPLES) return null;
    this.lookedAtSample = nowSample;
    if (this.gate.isEcho(nowSample - LATEST_SAMPLES, nowSample)) {
      this.misfits = 0;
      return null;
    }
    return ++this.misfits >= MISFITS ? 'speech' : null;
  }

  private botIsNear(fromSample: number): boolean {
    return this.botUntilSample >= fromSample - ECHO_TAIL_SAMPLES;
  }
}
