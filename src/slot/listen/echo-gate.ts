import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/**
 * Tells the bot's own voice, coming back from the far end, from somebody speaking (RT-18). Loudness over time is
 * enough: an echo rises and falls as the bot did, a fixed delay ago and weaker. Both sides are kept as envelopes of
 * 10 ms; when speech begins while the bot is heard, its envelope is laid over the bot's at every delay a line can have.
 *
 * Double talk does not fit the bot's envelope, so a caller who really interrupts is not silenced.
 */
const BLOCK_SAMPLES = LINE_RATE_HZ / 100;
/** Four seconds of both envelopes. */
const RING_BLOCKS = 400;
/** Round trip of a telephone line, mobile and satellite legs included. */
const MAX_DELAY_BLOCKS = 120;
/** A shorter stretch fits too many delays; where the delay is known, less is enough. */
const MIN_BLOCKS = 34;
const MIN_BLOCKS_KNOWN = 22;
const MAX_BLOCKS = 80;
/** Correlation of the two envelopes from which on it is an echo; lower where the delay is one that was seen before. */
const NEW_DELAY_CORRELATION = 0.88;
const KNOWN_DELAY_CORRELATION = 0.76;
/** An echo that is not weaker than the bot is none. */
const MIN_LOSS_DB = 3;
/** Blocks around a learned delay that count as the same. */
const DELAY_TOLERANCE_BLOCKS = 3;
/** Loudness below which a block is silence, in dB of full scale. */
const FLOOR_DB = -70;
/** Of a stretch, so much must hold the bot's voice for the comparison to mean anything. */
const MIN_VOICED_SHARE = 0.4;

export class EchoGate {
  private readonly bot = new Envelope();
  private readonly caller = new Envelope();
  private knownDelayBlocks = -1;
  private lossDb = Number.NaN;
  private echoes = 0;

  /** A frame of the bot, heard by the caller from `playAtSample` of the line clock on. */
  sent(frame: Int16Array, playAtSample: number): void {
    this.bot.push(frame, playAtSample);
  }

  /** Audio of the caller from `fromSample` of the line clock on. */
  heard(samples: Int16Array, fromSample: number): void {
    this.caller.push(samples, fromSample);
  }

  /** Whether what the caller's side sounds like between two samples is the bot. Short stretches are never called so. */
  isEcho(fromSample: number, toSample: number): boolean {
    const end = Math.floor(toSample / BLOCK_SAMPLES);
    const length = Math.min(MAX_BLOCKS, end - Math.floor(fromSample / BLOCK_SAMPLES));
    const isShort = length < MIN_BLOCKS;
    if (length < MIN_BLOCKS_KNOWN || (isShort && this.knownDelayBlocks < 0)) return false;
    const begin = end - length;
    let best = { correlation: 0, delay: -1, lossDb: 0 };
    const first = isShort ? Math.max(0, this.knownDelayBlocks - DELAY_TOLERANCE_BLOCKS) : 0;
    const last = isShort ? this.knownDelayBlocks + DELAY_TOLERANCE_BLOCKS : MAX_DELAY_BLOCKS;
    for (let delay = first; delay <= last; delay++) {
      const fit = this.compare(begin, length, delay);
      if (fit && fit.correlation > best.correlation) best = { ...fit, delay };
    }
    if (best.delay < 0 || best.lossDb < MIN_LOSS_DB) return false;
    const isKnown =
      this.knownDelayBlocks >= 0 && Math.abs(best.delay - this.knownDelayBlocks) <= DELAY_TOLERANCE_BLOCKS;
    if (best.correlation < (isKnown ? KNOWN_DELAY_CORRELATION : NEW_DELAY_CORRELATION)) return false;
    this.echoes++;
    this.knownDelayBlocks = best.delay;
    this.lossDb = Number.isNaN(this.lossDb) ? best.lossDb : this.lossDb + 0.25 * (best.lossDb - this.lossDb);
    return true;
  }

  /** What was learned of the line; nulls where no echo was heard. */
  get line(): { echoes: number; delayMs: number | null; lossDb: number | null } {
    return {
      echoes: this.echoes,
      delayMs: this.knownDelayBlocks < 0 ? null : this.knownDelayBlocks * 10,
      lossDb: Number.isNaN(this.lossDb) ? null : Math.round(this.lossDb),
    };
  }

  /** Correlation of the two envelopes at a delay; null where the bot was hardly heard then. */
  private compare(
    begin: number,
    length: number,
    delay: number,
  ): { correlation: number; lossDb: number } | null {
    let voiced = 0;
    let sumBot = 0;
    let sumCaller = 0;
    let squareBot = 0;
    let squareCaller = 0;
    let product = 0;
    for (let at = begin; at < begin + length; at++) {
      const bot = this.bot.at(at - delay);
      const caller = this.caller.at(at);
      if (bot > FLOOR_DB + 20) voiced++;
      sumBot += bot;
      sumCaller += caller;
      squareBot += bot * bot;
      squareCaller += caller * caller;
      product += bot * caller;
    }
    if (voiced < length * MIN_VOICED_SHARE) return null;
    const covariance = product - (sumBot * sumCaller) / length;
    const spread = Math.sqrt(
      (squareBot - (sumBot * sumBot) / length) * (squareCaller - (sumCaller * sumCaller) / length),
    );
    if (spread <= 0) return null;
    return { correlation: covariance / spread, lossDb: (sumBot - sumCaller) / length };
  }
}

/** Loudness of 10 ms blocks by their place on the line clock; what was never heard is silence. */
class Envelope {
  private readonly levels = new Float32Array(RING_BLOCKS).fill(FLOOR_DB);
  private readonly places = new Int32Array(RING_BLOCKS).fill(-1);
  private block = -1;
  private energy = 0;
  private samples = 0;

  push(samples: Int16Array, fromSample: number): void {
    for (let at = 0; at < samples.length; at++) {
      const block = Math.floor((fromSample + at) / BLOCK_SAMPLES);
      if (block !== this.block) {
        this.store();
        this.block = block;
        this.energy = 0;
        this.samples = 0;
      }
      const value = samples[at] ?? 0;
      this.energy += value * value;
      this.samples++;
    }
  }

  at(block: number): number {
    const slot = ((block % RING_BLOCKS) + RING_BLOCKS) % RING_BLOCKS;
    return this.places[slot] === block ? (this.levels[slot] ?? FLOOR_DB) : FLOOR_DB;
  }

  private store(): void {
    if (this.samples === 0) return;
    const slot = this.block % RING_BLOCKS;
    const power = this.energy / this.samples / (32_768 * 32_768);
    this.levels[slot] = power <= 0 ? FLOOR_DB : Math.max(FLOOR_DB, 10 * Math.log10(power));
    this.places[slot] = this.block;
  }
}

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
