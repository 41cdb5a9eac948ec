import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { FLOOR_DB, LEVEL_BLOCK_SAMPLES, LevelRing } from './level-ring.ts';

/**
 * Tells what sounds like the bot's own voice, coming back from the far end, from somebody speaking (RT-18). Loudness
 * over time is enough: an echo rises and falls as the bot did, a fixed delay ago and weaker. Both sides are kept as
 * levels of 10 ms; what is heard while the bot is, or just after, is laid over the bot's at every delay a line can have.
 *
 * A short word fits something the bot said at one of so many delays. So a delay counts only over a long stretch, which
 * takes in what lay before the speech: a line that gives back the last syllable has given back those before it. Where
 * it has counted once and the words were the bot's, a short stretch is enough for the same delay. Whatever fits is
 * only in doubt: its words decide.
 */
/** Round trip of a telephone line, mobile and satellite legs included. */
const MAX_DELAY_BLOCKS = 120;
/** Speech shorter than this says nothing. */
const MIN_BLOCKS = 22;
/** What lay before the speech, and is looked at with it. */
const LEAD_BLOCKS = 40;
const MAX_BLOCKS = 80;
/** Correlation of the two sides from which on it is an echo; lower where the delay is one that was seen before. */
const NEW_DELAY_CORRELATION = 0.8;
const KNOWN_DELAY_CORRELATION = 0.65;
/** The same of the speech alone, at the delay that was found; and of a stretch of an echo that goes on. */
const ALONE_CORRELATION = 0.6;
const GOING_ON_CORRELATION = 0.76;
/** An echo that is not weaker than the bot is none. */
const MIN_LOSS_DB = 3;
/** Blocks around a learned delay that count as the same. */
const DELAY_TOLERANCE_BLOCKS = 3;
/** Louder than this the bot is speaking. */
const VOICED_DB = FLOOR_DB + 20;
/** Of a stretch, so much must hold the bot's voice for the comparison to mean anything. */
const MIN_VOICED_SHARE = 0.4;
/** Of one that takes in the silence before it, less will do. */
const MIN_VOICED_SHARE_LED = 0.2;

/** How well what was heard fits the bot, so many blocks before. */
interface EchoFit {
  correlation: number;
  delayBlocks: number;
  lossDb: number;
}

export class EchoGate {
  private readonly bot = new LevelRing();
  private readonly caller = new LevelRing();
  private latest: EchoFit | null = null;
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

  /** Whether what the caller's side sounds like between two samples may be the bot. Short stretches are never called so. */
  soundsLikeBot(fromSample: number, toSample: number): boolean {
    const from = Math.floor(fromSample / LEVEL_BLOCK_SAMPLES);
    const to = Math.floor(toSample / LEVEL_BLOCK_SAMPLES);
    if (to - from < MIN_BLOCKS) return false;
    const begin = Math.max(from, to - MAX_BLOCKS) - LEAD_BLOCKS;
    const isKnown = this.knownDelayBlocks >= 0;
    const fit =
      (isKnown
        ? this.bestFit(
            begin,
            to,
            MIN_VOICED_SHARE_LED,
            around(this.knownDelayBlocks),
            KNOWN_DELAY_CORRELATION,
          )
        : null) ??
      this.bestFit(begin, to, MIN_VOICED_SHARE_LED, [0, MAX_DELAY_BLOCKS], NEW_DELAY_CORRELATION);
    // Silence and then speech on either side are alike whoever speaks: the speech must fit by itself as well.
    const speech = Math.max(from, to - MAX_BLOCKS);
    if (!fit || !this.bestFit(speech, to, MIN_VOICED_SHARE, around(fit.delayBlocks), ALONE_CORRELATION)) {
      return false;
    }
    this.latest = fit;
    return true;
  }

  /** Whether a stretch goes on to fit at the delay that was found last. */
  stillFits(fromSample: number, toSample: number): boolean {
    const from = Math.floor(fromSample / LEVEL_BLOCK_SAMPLES);
    const to = Math.floor(toSample / LEVEL_BLOCK_SAMPLES);
    const delays = around(this.latest?.delayBlocks ?? this.knownDelayBlocks);
    return this.bestFit(from, to, MIN_VOICED_SHARE, delays, GOING_ON_CORRELATION) !== null;
  }

  /** The words were the bot's: the delay that was found last is one of this line. */
  learn(): void {
    const fit = this.latest;
    if (!fit) return;
    this.echoes++;
    this.knownDelayBlocks = fit.delayBlocks;
    this.lossDb = Number.isNaN(this.lossDb) ? fit.lossDb : this.lossDb + 0.25 * (fit.lossDb - this.lossDb);
    this.latest = null;
  }

  /** What was learned of the line; nulls where no echo was heard. */
  get line(): { echoes: number; delayMs: number | null; lossDb: number | null } {
    return {
      echoes: this.echoes,
      delayMs: this.knownDelayBlocks < 0 ? null : this.knownDelayBlocks * 10,
      lossDb: Number.isNaN(this.lossDb) ? null : Math.round(this.lossDb),
    };
  }

  private bestFit(
    begin: number,
    end: number,
    voicedShare: number,
    [first, last]: readonly [number, number],
    leastCorrelation: number,
  ): EchoFit | null {
    const best = { correlation: leastCorrelation, delayBlocks: -1, lossDb: 0 };
    for (let delay = first; delay <= last; delay++) {
      const correlation = this.correlation(begin, end, delay, voicedShare);
      if (correlation < best.correlation) continue;
      best.correlation = correlation;
      best.delayBlocks = delay;
    }
    if (best.delayBlocks < 0) return null;
    best.lossDb = this.loss(begin, end, best.delayBlocks);
    return best.lossDb < MIN_LOSS_DB ? null : best;
  }

  /** Correlation of the two sides at a delay; -1 where the bot was hardly heard then. */
  private correlation(begin: number, end: number, delay: number, voicedShare: number): number {
    const length = end - begin;
    let voiced = 0;
    let sumBot = 0;
    let sumCaller = 0;
    let squareBot = 0;
    let squareCaller = 0;
    let product = 0;
    for (let at = begin; at < end; at++) {
      const bot = this.bot.at(at - delay);
      const caller = this.caller.at(at);
      if (bot > VOICED_DB) voiced++;
      sumBot += bot;
      sumCaller += caller;
      squareBot += bot * bot;
      squareCaller += caller * caller;
      product += bot * caller;
    }
    if (voiced < length * voicedShare) return -1;
    const covariance = product - (sumBot * sumCaller) / length;
    const spread = Math.sqrt(
      (squareBot - (sumBot * sumBot) / length) * (squareCaller - (sumCaller * sumCaller) / length),
    );
    return spread > 0 ? covariance / spread : -1;
  }

  /** By how much the caller's side is weaker where the bot spoke. */
  private loss(begin: number, end: number, delay: number): number {
    let sum = 0;
    let voiced = 0;
    for (let at = begin; at < end; at++) {
      const bot = this.bot.at(at - delay);
      if (bot <= VOICED_DB) continue;
      sum += bot - this.caller.at(at);
      voiced++;
    }
    return voiced === 0 ? 0 : sum / voiced;
  }
}

/** The delays that count as the same. */
function around(delayBlocks: number): readonly [number, number] {
  return [Math.max(0, delayBlocks - DELAY_TOLERANCE_BLOCKS), delayBlocks + DELAY_TOLERANCE_BLOCKS];
}

/** An echo comes back no later than this after the bot was heard: the longest line. */
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
  private isDoubted = false;

  constructor(gate: EchoGate) {
    this.gate = gate;
  }

  /** The bot is heard up to this sample of the line clock. */
  botHeardUntil(sample: number): void {
    this.botUntilSample = Math.max(this.botUntilSample, sample);
  }

  /** Speech begins. */
  begin(): void {
    this.isDoubted = false;
    this.misfits = 0;
  }

  /**
   * Called for every window of speech, and at its end. `doubt`: it sounds like the bot, or goes on to; `speech`: it
   * does no longer; null where nothing changes.
   */
  look(fromSample: number, nowSample: number): 'doubt' | 'speech' | null {
    if (!this.isDoubted) {
      const botIsNear = this.botUntilSample >= fromSample - ECHO_TAIL_SAMPLES;
      if (nowSample - fromSample > MAX_DOUBT_SAMPLES || !botIsNear) return null;
      if (!this.gate.soundsLikeBot(fromSample, nowSample)) return null;
      this.lookedAtSample = nowSample;
      this.misfits = 0;
      this.isDoubted = true;
      return 'doubt';
    }
    if (nowSample - this.lookedAtSample < LOOK_AGAIN_SAMPLES) return null;
    this.lookedAtSample = nowSample;
    if (this.gate.stillFits(nowSample - LATEST_SAMPLES, nowSample)) {
      this.misfits = 0;
      return 'doubt';
    }
    if (++this.misfits < MISFITS) return null;
    this.isDoubted = false;
    return 'speech';
  }
}
