import { type CallMeasures, JITTER_EDGES_MS, type Waterfall } from '../../contracts/call-measures.ts';
import { FRAME_MS, LINE_RATE_HZ } from '../../contracts/limits.ts';
import { LatenessHistogram } from './lateness-histogram.ts';
import { LineQuality } from './line-quality.ts';
import { LineTime } from './line-time.ts';
import { type ClauseFacts, newReplyFacts, type ReplyFacts } from './reply-facts.ts';
import { ReplyGaps } from './reply-gaps.ts';
import { SilenceLedger } from './silence-ledger.ts';
import { turnWaterfall } from './turn-waterfall.ts';

/**
 * The measuring side of a call: it is told what happens, when it happens, and decides nothing. Positions in the
 * caller's audio are samples of the line clock; everything else is stamped here. Facts about replies and clauses that
 * it does not know, or does not know any more, are ignored.
 */
/** Replies whose facts are kept; of an older one that never ended, the rest is not measured. */
const MAX_REPLIES = 32;
/** Clauses of one reply whose stages are told apart; later ones are heard behind them. */
const MAX_CLAUSES = 256;

export interface TurnTaken {
  turn: number;
  /** The caller's last sample, and the line clock when the turn was called over. */
  toSample: number;
  decidedAtSample: number;
  /** The same moment in milliseconds, where it is known; else the arrival of that sample stands for it. */
  decidedAtMs?: number;
}

export class CallMeter {
  private readonly now: () => number;
  private readonly onWaterfall: (waterfall: Waterfall) => void;
  private readonly line = new LineTime();
  private readonly quality = new LineQuality();
  private readonly sent = new LatenessHistogram();
  private readonly silence: SilenceLedger;
  private readonly gaps = new ReplyGaps();
  private readonly replies = new Map<number, ReplyFacts>();
  private readonly units = new Map<number, { facts: ReplyFacts; clause: ClauseFacts }>();
  private openingMs: number | null = null;
  private endedMs: number | null = null;

  /** Made when the line becomes ready. `now` is monotonic; `onWaterfall` is called at an answer's first sound. */
  constructor(options: { now: () => number; onWaterfall: (waterfall: Waterfall) => void }) {
    this.now = options.now;
    this.onWaterfall = options.onWaterfall;
    this.silence = new SilenceLedger(options.now());
  }

  /** A packet of the caller. */
  audioReceived(samples: Int16Array): void {
    this.line.received(samples.length, this.now());
    this.quality.heard(samples);
  }

  /** Silence took the place of caller audio that did not come. */
  gapFilled(samples: number): void {
    const now = this.now();
    this.line.filledIn(samples, now);
    this.silence.gaps.add(now - (samples * 1000) / LINE_RATE_HZ, now);
  }

  /** One window of the voice activity detector. */
  window(levelDbfs: number, isSpeech: boolean): void {
    this.quality.window(levelDbfs, isSpeech);
  }

  speechStarted(fromSample: number): void {
    this.silence.caller.open(this.line.spokenMs(fromSample, this.now()));
    this.silence.settle(this.now());
  }

  speechStopped(lastSample: number): void {
    this.silence.caller.close(this.line.spokenMs(lastSample, this.now()));
  }

  /** What had begun to sound like the caller is none: the bot's own echo. */
  speechDenied(): void {
    this.silence.caller.cancel();
  }

  /** A turn is over, its text is there, and `reply` is to answer it; speculative work on that reply may be known. */
  turnTaken(taken: TurnTaken, reply: number): void {
    const facts = this.factsOf(reply);
    this.putTurn(facts, taken);
    this.silence.owe(facts);
  }

  /** A turn is over and its text never came. */
  turnLost(taken: TurnTaken): void {
    const facts = newReplyFacts(-1);
    this.putTurn(facts, taken);
    facts.endedMs = facts.turn?.textMs ?? this.now();
    this.silence.owe(facts);
    this.gaps.missed();
  }

  /** The caller went on before the answer was heard: question and continuation are one turn. */
  turnWithdrawn(reply: number): void {
    const facts = this.replies.get(reply);
    if (!facts) return;
    this.silence.forgive(facts);
    this.replyEnded(reply);
  }

  /** The bot speaks by itself: the opening, a prompt, a rescue line. A filler needs no call; its frames are enough. */
  replyBegun(reply: number): void {
    const facts = this.factsOf(reply);
    if (facts.turn) return;
    facts.owedFromMs = this.now();
    this.silence.owe(facts);
  }

  /** A request to the model, its first text or tool call, its end. Also for a reply that is still speculation. */
  modelAsked(reply: number): void {
    this.factsOf(reply).llm.push({ askedMs: this.now(), firstTokenMs: null, endedMs: null });
  }

  modelAnswers(reply: number): void {
    const request = this.replies.get(reply)?.llm.at(-1);
    if (request) request.firstTokenMs ??= this.now();
  }

  modelEnded(reply: number): void {
    const request = this.replies.get(reply)?.llm.at(-1);
    if (request) request.endedMs ??= this.now();
  }

  /** `id` tells calls apart that run side by side; the tool's name will do. */
  toolStarted(reply: number, id: string): void {
    this.replies.get(reply)?.tools.push({ id, fromMs: this.now(), endedMs: null });
  }

  toolEnded(reply: number, id: string): void {
    const tool = this.replies.get(reply)?.tools.findLast((one) => one.id === id && one.endedMs === null);
    if (tool) tool.endedMs = this.now();
  }

  /**
   * A clause goes to the voice; `unit` is its number in the speech ledger. Not for asides such as a tool's filler,
   * whose frames are enough: the wait goes on until the answer itself is heard.
   */
  clauseGiven(reply: number, unit: number): void {
    const facts = this.replies.get(reply);
    if (!facts || facts.clauses.length >= MAX_CLAUSES) return;
    const clause: ClauseFacts = {
      unit,
      givenMs: this.now(),
      firstByteMs: null,
      doneMs: null,
      sentMs: null,
      heardMs: null,
    };
    facts.clauses.push(clause);
    this.units.set(unit, { facts, clause });
  }

  firstByte(unit: number): void {
    const clause = this.units.get(unit)?.clause;
    if (clause) clause.firstByteMs ??= this.now();
  }

  /** The voice has given all of a clause, or will give no more. */
  clauseDone(unit: number): void {
    const clause = this.units.get(unit)?.clause;
    if (clause) clause.doneMs ??= this.now();
  }

  /**
   * A frame of speech left, `lateMs` after it should have, and is heard from `playAtMs` on. Frames of ambient sound alone
   * are none.
   */
  frameSent(unit: number, playAtMs: number, playAtSample: number, lateMs: number): void {
    this.sent.add(lateMs);
    const known = this.units.get(unit);
    if (known) this.clauseSounds(known.facts, known.clause, playAtMs, playAtSample);
    this.openingMs ??= Math.round(playAtMs - this.silence.startedMs);
    this.silence.bot.add(playAtMs, playAtMs + FRAME_MS);
  }

  /** The bot is paused; what had left and not been heard is not heard now. */
  botPaused(): void {
    const now = this.now();
    this.silence.bot.truncate(now);
    this.silence.held.open(now);
  }

  /** The pause is over, one way or the other. */
  botReleased(): void {
    this.silence.held.close(this.now());
  }

  /** The far end was told to drop what it had not played, for good. */
  botSilenced(): void {
    this.silence.bot.truncate(this.now());
    this.silence.held.close(this.now());
  }

  /** A reply was heard to its end, cut or given up. */
  replyEnded(reply: number): void {
    const facts = this.replies.get(reply);
    if (!facts) return;
    facts.endedMs ??= this.now();
    if (facts.turn && facts.firstSoundMs === null) this.gaps.missed();
    this.forget(facts);
    this.silence.settle(this.now());
  }

  /** The far end makes a transfer, and later says what became of it. */
  transferAsked(): void {
    this.silence.elsewhere.open(this.now());
  }

  transferSettled(): void {
    this.silence.elsewhere.close(this.now());
  }

  /** A mark came back so long after its audio must have been played. */
  markEchoed(delayMs: number): void {
    this.quality.markEchoed(delayMs);
  }

  /** The call is over: what comes now, the work after it included, is no part of it. */
  callEnded(): void {
    this.endedMs ??= this.now();
  }

  /** Everything up to the end, or to now, for `end_detail.measures`; `echo` is what the echo gate has learned. */
  results(echo: { echoes: number; delayMs: number | null; lossDb: number | null }): CallMeasures {
    return {
      opening_ms: this.openingMs,
      reply_gap: this.gaps.summary(),
      silence: this.silence.totals(this.endedMs ?? this.now()),
      line: this.quality.report(this.line.figures, echo),
      jitter: {
        edges_ms: JITTER_EDGES_MS,
        received: this.line.latenessCounts,
        sent: this.sent.counts(),
      },
    };
  }

  private putTurn(facts: ReplyFacts, taken: TurnTaken): void {
    const now = this.now();
    const lastSpeechMs = this.line.spokenMs(taken.toSample, now);
    const arrivedMs = this.line.arrivedMs(taken.toSample, now);
    const decidedMs = taken.decidedAtMs ?? this.line.arrivedMs(taken.decidedAtSample, now);
    facts.turn = {
      turn: taken.turn,
      lastSample: taken.toSample,
      lastSpeechMs,
      arrivedMs,
      decidedMs: Math.max(arrivedMs, Math.min(now, decidedMs)),
      textMs: now,
    };
    facts.owedFromMs = lastSpeechMs;
  }

  private clauseSounds(facts: ReplyFacts, clause: ClauseFacts, playAtMs: number, playAtSample: number): void {
    if (clause.sentMs !== null) return;
    clause.sentMs = this.now();
    clause.heardMs = Math.max(playAtMs, clause.sentMs);
    clause.firstByteMs ??= clause.sentMs;
    if (facts.firstSoundMs !== null) return;
    facts.firstSoundMs = clause.heardMs;
    const waterfall = turnWaterfall(facts, this.silence, playAtSample);
    if (!waterfall) return;
    this.gaps.add(waterfall);
    this.onWaterfall(waterfall);
  }

  private factsOf(reply: number): ReplyFacts {
    const known = this.replies.get(reply);
    if (known) return known;
    const facts = newReplyFacts(reply);
    this.replies.set(reply, facts);
    const oldest = this.replies.values().next().value;
    if (this.replies.size > MAX_REPLIES && oldest) {
      oldest.endedMs ??= this.now();
      this.forget(oldest);
    }
    return facts;
  }

  private forget(facts: ReplyFacts): void {
    this.replies.delete(facts.reply);
    for (const { unit } of facts.clauses) this.units.delete(unit);
  }
}
