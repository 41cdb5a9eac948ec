import {
  SILENCE_OWNERS,
  type SilenceOwner,
  type SilenceTotals,
  type WaitStage,
} from '../../contracts/call-measures.ts';
import { type ReplyFacts, stageAt, stageEdges } from './reply-facts.ts';
import { Spans, sweep } from './spans.ts';

/**
 * Every second of a call in which nobody is heard, attributed to who could have ended it: the caller, who thinks; the
 * wait for the end of a turn; speech to text, model, tool and voice, while the bot owes words; the carrier, where audio
 * is late, missing or on its way (docs/results.md, "Whose silence was it?").
 *
 * Facts arrive late: speech is known after it began, and whose pause it was after the next word. So the last seconds
 * stay open, and what lies before them is folded into sums; memory stays the same however long the call is.
 */
/** Nothing that is still to be learned reaches further back: forced end, wait for the text and both detectors together. */
const OPEN_MS = 15_000;
/** Stretches and replies after which the oldest are folded away. */
const FOLD_AT = 64;
/** With so many, everything up to now is folded, settled or not: a bound, in case something never ends. */
const FOLD_ALL_AT = 512;

type Share = SilenceOwner | 'caller_sounds' | 'bot_sounds' | 'both_sound';

/** The stages of a wait in the seven names of the sum. */
const OWNER_OF: { [stage in WaitStage]: SilenceOwner } = {
  carrier: 'carrier',
  turn_wait: 'turn_wait',
  stt: 'stt',
  llm: 'llm',
  clause: 'llm',
  tool: 'tool',
  tts: 'tts',
  pacing: 'tts',
  playout: 'carrier',
};

export class SilenceLedger {
  /** Speech of the caller. */
  readonly caller = new Spans();
  /** The bot as it is heard. */
  readonly bot = new Spans();
  /** The bot is paused until it is known what was meant. */
  readonly held = new Spans();
  /** Caller audio does not come. */
  readonly gaps = new Spans();
  /** The far end is at work: a transfer is being made. */
  readonly elsewhere = new Spans();
  private readonly beganMs: number;
  private replies: ReplyFacts[] = [];
  private readonly folded = new Map<Share, number>();
  private foldedToMs: number;

  constructor(beganMs: number) {
    this.beganMs = beganMs;
    this.foldedToMs = beganMs;
  }

  /** The bot owes this one; its facts go on changing where they are kept. */
  owe(facts: ReplyFacts): void {
    this.replies.push(facts);
  }

  /** The caller went on: the bot owed nothing, and the pause was theirs. */
  forgive(facts: ReplyFacts): void {
    this.replies = this.replies.filter((one) => one !== facts);
  }

  /** Called every now and then: keeps the open part short. */
  settle(nowMs: number): void {
    if (this.count < FOLD_AT) return;
    const oldestOwed = this.replies
      .filter((facts) => facts.endedMs === null)
      .reduce((oldest, facts) => Math.min(oldest, facts.owedFromMs), Number.POSITIVE_INFINITY);
    const toMs = this.count >= FOLD_ALL_AT ? nowMs : Math.min(nowMs - OPEN_MS, oldestOwed);
    if (toMs <= this.foldedToMs) return;
    this.add(this.folded, toMs);
    this.foldedToMs = toMs;
    for (const spans of this.spans) spans.forget(toMs);
    this.replies = this.replies.filter((facts) => facts.endedMs === null || facts.endedMs > toMs);
  }

  /** The sums up to a moment, in whole milliseconds; nothing is closed by asking. */
  totals(atMs: number): SilenceTotals {
    const sums = new Map(this.folded);
    this.add(sums, Math.max(atMs, this.foldedToMs));
    const whole = (share: Share) => Math.round(sums.get(share) ?? 0);
    const by = Object.fromEntries(
      SILENCE_OWNERS.map((owner) => [owner, whole(owner)]),
    ) as SilenceTotals['by'];
    const silenceMs = SILENCE_OWNERS.reduce((sum, owner) => sum + by[owner], 0);
    const sounds = {
      caller_ms: whole('caller_sounds'),
      bot_ms: whole('bot_sounds'),
      both_ms: whole('both_sound'),
    };
    return {
      total_ms: silenceMs + sounds.caller_ms + sounds.bot_ms + sounds.both_ms,
      silence_ms: silenceMs,
      by,
      ...sounds,
    };
  }

  /** Stretches and replies that are not folded yet. */
  get count(): number {
    return this.spans.reduce((sum, spans) => sum + spans.count, this.replies.length);
  }

  private get spans(): Spans[] {
    return [this.caller, this.bot, this.held, this.gaps, this.elsewhere];
  }

  private add(sums: Map<Share, number>, toMs: number): void {
    const edges = [...this.spans.flatMap((spans) => spans.edges()), ...this.replies.flatMap(stageEdges)];
    sweep(
      this.foldedToMs,
      toMs,
      edges,
      (atMs) => this.ownerAt(atMs),
      (owner, fromMs, untilMs) => sums.set(owner, (sums.get(owner) ?? 0) + untilMs - fromMs),
    );
  }

  private ownerAt(atMs: number): Share {
    const callerSounds = this.caller.covers(atMs);
    if (this.bot.covers(atMs)) return callerSounds ? 'both_sound' : 'bot_sounds';
    if (callerSounds) return 'caller_sounds';
    // A paused bot goes on as soon as it may; nothing that it prepares meanwhile holds it up.
    const stage = this.held.covers(atMs) ? 'turn_wait' : this.stageAt(atMs);
    if (stage !== null && stage !== 'turn_wait') return OWNER_OF[stage];
    // Without audio from the caller nobody can know whether they spoke.
    if (this.gaps.covers(atMs) || this.elsewhere.covers(atMs)) return 'carrier';
    return stage ?? 'caller';
  }

  /** The latest reply that owes something answers for the silence. */
  private stageAt(atMs: number): WaitStage | null {
    for (let i = this.replies.length - 1; i >= 0; i--) {
      const facts = this.replies[i];
      const stage = facts ? stageAt(facts, atMs) : null;
      if (stage) return stage;
    }
    return null;
  }

  /** When the call began, on the same clock. */
  get startedMs(): number {
    return this.beganMs;
  }
}
