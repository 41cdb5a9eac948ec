import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { ClauseVoice, type ClauseVoiceOptions, type VoicedReply } from './clause-voice.ts';
import { FarEndDelay } from './far-end-delay.ts';
import type { Pacer } from './pacer.ts';
import type { Clause, Reply, ReplyEnd, ReplyFailure, SpeakerHooks } from './reply.ts';
import type { HeardSoFar, SpeechLedger, Unit } from './speech-ledger.ts';
import { markName, unitOfMark } from './unit-mark.ts';

export type { Clause, Reply, ReplyEnd, ReplyFailure, SpeakerHooks, SpokenClause } from './reply.ts';

/** A mark that has not come back this long after its audio must have ended never will. */
const MARK_GRACE_MS = 300;
/** A question mark, and what may close behind it. */
const QUESTION_END = /[?？؟]["'”’»)\]\s]*$/u;

interface LiveReply extends VoicedReply {
  readonly abort: AbortController;
  readonly settle: (end: ReplyEnd) => void;
  readonly settleMade: (ok: boolean) => void;
  clausesDone: boolean;
  firstAudioSent: boolean;
  failed: boolean;
}

export interface SpeakerOptions extends Omit<ClauseVoiceOptions, 'hooks'> {
  hooks: SpeakerHooks;
  /** What was handed to the line and is not heard yet, where the line keeps a clock of its own. */
  unplayedMs?: () => number | undefined;
}

/**
 * Speaks replies, one at a time: clauses to the voice, its audio to the pacer, every clause followed by a mark. A
 * reply ends played, cut or failed, and nothing of it leaves afterwards.
 */
export class Speaker {
  private readonly pacer: Pacer;
  private readonly ledger: SpeechLedger;
  private readonly hooks: SpeakerHooks;
  private readonly voice: ClauseVoice;
  private readonly unplayedMs: () => number | undefined;
  private readonly delay = new FarEndDelay();
  private current: LiveReply | undefined;
  /** A rescue line that plays out while the answer behind it is being made. */
  private leading: LiveReply | undefined;
  private nextReplyId = 1;

  constructor(options: SpeakerOptions) {
    this.pacer = options.pacer;
    this.ledger = options.ledger;
    this.hooks = options.hooks;
    this.voice = new ClauseVoice(options);
    this.unplayedMs = options.unplayedMs ?? (() => undefined);
  }

  /** Whether a reply is being made or heard. */
  get isBusy(): boolean {
    return this.current !== undefined || this.leading !== undefined;
  }

  /** The reply that has not been given all its words and audio yet. */
  get replyAtWork(): Reply | null {
    return this.current && !this.current.clausesDone ? this.current : null;
  }

  /** What is still to be heard of the reply, where it has all its words and ends with a question; else null. */
  get questionLeftMs(): number | null {
    const reply = this.current;
    if (!reply?.clausesDone) return null;
    const text = this.ledger.ofReply(reply.id).findLast((unit) => !unit.isAside)?.text ?? '';
    return QUESTION_END.test(text) ? this.ledger.leftMs(reply.id, this.heardUntilMs()) : null;
  }

  /**
   * Begins a reply; one that still runs is cut, unless it is a rescue line, behind which the new reply waits.
   * `clauses` gets the signal that cancels it, and the reply, which is asked for its words before this returns.
   */
  say(
    kind: Reply['kind'],
    clauses: (signal: AbortSignal, reply: Reply) => AsyncIterable<Clause>,
    options: { withoutVoice?: boolean } = {},
  ): Reply {
    const before = this.current;
    if (before?.kind === 'rescue' && before.clausesDone && !this.leading) {
      this.leading = before;
      this.current = undefined;
    } else if (before || !this.leading) {
      this.cut();
    }
    const abort = new AbortController();
    const { promise: ended, resolve: settle } = Promise.withResolvers<ReplyEnd>();
    const { promise: made, resolve: settleMade } = Promise.withResolvers<boolean>();
    const reply: LiveReply = {
      id: this.nextReplyId++,
      kind,
      signal: abort.signal,
      made,
      ended,
      epoch: this.pacer.epoch,
      speakable: this.voice.speakableReply(),
      abort,
      settle,
      settleMade,
      spoke: false,
      clausesDone: false,
      firstAudioSent: false,
      failed: false,
      withoutVoice: options.withoutVoice ?? false,
    };
    this.current = reply;
    void this.run(reply, clauses(abort.signal, reply));
    return reply;
  }

  /**
   * Silences the bot now. Returns the reply that was cut, or null where none ran. The far end is told to drop what it
   * has not played, unless nothing of the reply had left. A pause is over with that.
   */
  cut(): Reply | null {
    const replies = [this.leading, this.current].filter((reply) => reply !== undefined);
    if (replies.length === 0) {
      if (this.pacer.isPaused) this.pacer.clear(false);
      return null;
    }
    const heardUntilMs = this.heardUntilMs();
    const hadAudio = replies.some((reply) => reply.firstAudioSent);
    this.pacer.clear(hadAudio);
    if (hadAudio) this.hooks.sendClear();
    for (const reply of replies) {
      this.end(reply, 'cut');
      this.ledger.cut(reply.id, heardUntilMs);
      this.hooks.onHeard(reply);
    }
    return replies.at(-1) ?? null;
  }

  /**
   * Drops what the reply at work has said so far and the caller has not heard, as they need no more of it; the reply
   * goes on with what comes next.
   */
  hush(): void {
    const reply = this.current;
    if (!reply || reply.clausesDone || !this.pacer.isSpeaking) return;
    const heardUntilMs = this.heardUntilMs();
    this.pacer.clear();
    this.hooks.sendClear();
    reply.epoch = this.pacer.epoch;
    this.ledger.cut(reply.id, heardUntilMs);
    this.hooks.onHeard(reply);
  }

  /**
   * Lets the caller hear a line before what the reply at work still has to say, because that is late. Resolves to
   * false, and nothing is heard, where the line has no audio on this host or the reply has come on by itself.
   * `inOwnVoice`: the line is not worth another voice.
   */
  async interject(text: string, { inOwnVoice = false } = {}): Promise<boolean> {
    const reply = this.current;
    const isWanted = () =>
      reply !== undefined && this.current === reply && !reply.clausesDone && this.lineIsQuiet();
    if (!reply || !isWanted()) return false;
    const audio = await this.voice.audioOnHost(text, inOwnVoice);
    if (!audio || !isWanted()) return false;
    this.voice.queue(reply, text, audio, { isAside: true });
    return true;
  }

  /**
   * Pauses the bot in the middle of a word; the far end drops what it has not played. What is being made meanwhile
   * waits behind it. A bot that says nothing is paused too: it does not begin.
   */
  pause(): void {
    if (this.pacer.pause(this.heardUntilMs())) this.hooks.sendClear();
  }

  /** Goes on from the exact frame at which the caller heard the bot stop. */
  resume(): void {
    this.pacer.resume();
  }

  get isPaused(): boolean {
    return this.pacer.isPaused;
  }

  /** A frame that had left was not heard, and is sent again later. */
  onUnsent(unitId: number, samples: number): void {
    this.ledger.unsent(unitId, samples);
  }

  /** The pacer sent a frame of a unit. */
  onFrame(unitId: number, playAtMs: number, samples: number): void {
    const unit = this.ledger.get(unitId);
    if (!unit) return;
    // Counted back from this frame, so that a pause in the middle of a unit does not count as heard.
    unit.playStartMs = playAtMs - (unit.sentSamples * 1000) / LINE_RATE_HZ;
    unit.sentSamples += samples;
    const reply = this.liveReply(unit.replyId);
    if (reply && !reply.firstAudioSent) {
      reply.firstAudioSent = true;
      this.hooks.onFirstAudio(reply);
    }
  }

  /** The pacer sent a unit's last frame. */
  onUnitSent(unitId: number, playEndMs: number): void {
    const unit = this.ledger.get(unitId);
    if (!unit) return;
    unit.playEndMs = playEndMs;
    this.hooks.sendMark(markName(unit));
  }

  /** The far end echoed a mark. */
  onMark(name: string): void {
    const { unitId, sending } = unitOfMark(name);
    // A far end may echo the mark of what it was told to drop; that sending was not heard.
    if (this.ledger.get(unitId)?.sending !== sending) return;
    const unit = this.ledger.markEchoed(unitId);
    if (!unit) return;
    if (unit.playEndMs !== null) {
      const delayMs = Math.max(0, monotonicMs() - unit.playEndMs);
      this.delay.echoed(delayMs);
      this.hooks.onMarkEchoed?.(delayMs);
    }
    this.settled(unit);
  }

  /** How far the replies have come that are being heard. */
  heardSoFar(): { reply: Reply; heard: HeardSoFar }[] {
    const untilMs = this.heardUntilMs();
    return [this.leading, this.current].flatMap((reply) =>
      reply?.firstAudioSent ? [{ reply, heard: this.ledger.heardSoFar(reply.id, untilMs) }] : [],
    );
  }

  /** Several times a second: units whose mark never came count as played once their time is over. */
  tick(): void {
    const now = monotonicMs();
    for (const reply of [this.leading, this.current]) {
      if (!reply) continue;
      for (const unit of this.ledger.ofReply(reply.id)) {
        if (unit.heard || unit.playEndMs === null || now < unit.playEndMs + MARK_GRACE_MS) continue;
        if (this.ledger.assumePlayed(unit.id)) this.settled(unit);
      }
      this.endWhenPlayed(reply);
    }
  }

  private async run(reply: LiveReply, clauses: AsyncIterable<Clause>): Promise<void> {
    let stage: ReplyFailure['stage'] = 'words';
    try {
      for await (const clause of clauses) {
        if (reply.signal.aborted) return;
        stage = 'voice';
        await this.speakClause(reply, clause);
        stage = 'words';
      }
      stage = 'voice';
      await this.speakClause(reply, { text: '', isLast: true });
      reply.clausesDone = true;
      reply.settleMade(true);
      this.endWhenPlayed(reply);
    } catch (error) {
      if (reply.signal.aborted) return;
      // What has been said stays said; the rest of the reply is given up.
      reply.clausesDone = true;
      reply.failed = true;
      reply.settleMade(false);
      this.hooks.onFailure(reply, { error: error as Error, stage, spoke: reply.spoke });
      this.endWhenPlayed(reply);
    }
  }

  private async speakClause(reply: LiveReply, clause: Clause): Promise<void> {
    const {
      text,
      isAside = false,
      audio,
      isLast = false,
    } = typeof clause === 'string' ? { text: clause } : clause;
    // A line that only bridges a wait has nothing to bridge while something is heard.
    if (isAside && (!this.lineIsQuiet() || this.hooks.wantsAside?.(reply, text) === false)) return;
    try {
      if (audio) this.voice.queue(reply, text, audio, { isAside });
      else await this.voice.speak(reply, text, { isAside, isLast });
      if (isAside) this.hooks.onAside?.(reply, text);
    } catch (error) {
      // What comes behind the aside says by itself whether the voice has failed.
      if (!isAside || reply.signal.aborted) throw error;
    }
  }

  /** Up to when the caller has heard what was sent: by the line's own clock, and by how late its echoes come. */
  private heardUntilMs(): number {
    const byEchoes = monotonicMs() - this.delay.ms;
    const unplayedMs = this.unplayedMs();
    return unplayedMs === undefined ? byEchoes : Math.min(byEchoes, this.pacer.sentEndMs - unplayedMs);
  }

  private lineIsQuiet(): boolean {
    return !this.pacer.isSpeaking && !this.pacer.isPaused;
  }

  private settled(unit: Unit): void {
    const reply = this.liveReply(unit.replyId);
    if (!reply) return;
    this.hooks.onHeard(reply);
    this.endWhenPlayed(reply);
  }

  private liveReply(id: number): LiveReply | undefined {
    return [this.leading, this.current].find((reply) => reply?.id === id);
  }

  private endWhenPlayed(reply: LiveReply): void {
    if (!reply.clausesDone || !this.liveReply(reply.id)) return;
    if (this.ledger.ofReply(reply.id).every((unit) => unit.heard))
      this.end(reply, reply.failed ? 'failed' : 'played');
  }

  private end(reply: LiveReply, how: ReplyEnd): void {
    if (this.current === reply) this.current = undefined;
    if (this.leading === reply) this.leading = undefined;
    reply.abort.abort(new DOMException('the reply is over', 'AbortError'));
    reply.settleMade(false);
    reply.settle(how);
  }
}
