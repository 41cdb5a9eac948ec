import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { TextToSpeech } from '../../providers/text-to-speech.ts';
import { Keepsake } from './keepsake.ts';
import type { KnownLines } from './known-lines.ts';
import type { Pacer } from './pacer.ts';
import type { SpeechLedger, Unit } from './speech-ledger.ts';

/**
 * Speaks replies, one at a time: clauses to the voice, its audio to the pacer, every clause followed by a mark. A
 * reply ends played, cut or failed, and nothing of it leaves afterwards.
 */
export type ReplyEnd = 'played' | 'cut' | 'failed';

export interface Reply {
  readonly id: number;
  readonly kind: 'opening' | 'answer' | 'prompt' | 'rescue';
  /** Cancels the thinking and the voice behind this reply. */
  readonly signal: AbortSignal;
  /** Settles once all words and audio of the reply are there; false where it came to less than that. */
  readonly made: Promise<boolean>;
  /** Settles when the reply has been heard, cut or given up; never rejects. */
  readonly ended: Promise<ReplyEnd>;
}

export interface SpeakerHooks {
  /** The first frame of a reply has left. */
  onFirstAudio(reply: Reply): void;
  /** What the caller heard of a reply has changed. */
  onHeard(reply: Reply): void;
  /** A voice was given a clause; not called for a line whose audio was at hand. */
  onSynthesized(clause: SpokenClause): void;
  onFailure(reply: Reply, failure: ReplyFailure): void;
  sendMark(name: string): void;
  sendClear(): void;
}

export interface SpokenClause {
  characters: number;
  firstAudioMs: number | null;
  /** The provider whose audio it was; null where the voice does not say. */
  servedBy: { provider: string; model: string | null } | null;
}

export interface ReplyFailure {
  error: Error;
  /** Who failed: the voice, or who gives the words. */
  stage: 'voice' | 'words';
  /** Whether some of its own audio came before. */
  spoke: boolean;
}

/** Audio queued ahead of the caller's ear before the voice is made to wait. */
const MAX_QUEUED_MS = 10_000;
const QUEUE_POLL_MS = 100;
/** A mark that has not come back this long after its audio must have ended never will. */
const MARK_GRACE_MS = 300;

interface LiveReply extends Reply {
  epoch: number;
  abort: AbortController;
  settle: (end: ReplyEnd) => void;
  settleMade: (ok: boolean) => void;
  spoke: boolean;
  clausesDone: boolean;
  firstAudioSent: boolean;
  failed: boolean;
  /** The voice is known to fail, so that only audio at hand and the engine of this host can speak this reply. */
  withoutVoice: boolean;
}

export class Speaker {
  private readonly tts: TextToSpeech;
  private readonly pacer: Pacer;
  private readonly ledger: SpeechLedger;
  private readonly hooks: SpeakerHooks;
  private readonly lines: KnownLines | null;
  private readonly language: string | undefined;
  private current: LiveReply | undefined;
  /** A rescue line that plays out while the answer behind it is being made. */
  private leading: LiveReply | undefined;
  private nextReplyId = 1;

  constructor(options: {
    tts: TextToSpeech;
    pacer: Pacer;
    ledger: SpeechLedger;
    hooks: SpeakerHooks;
    lines?: KnownLines;
    /** Of the voice, for the engine that stands in for it. */
    language?: string | undefined;
  }) {
    this.tts = options.tts;
    this.pacer = options.pacer;
    this.ledger = options.ledger;
    this.hooks = options.hooks;
    this.lines = options.lines ?? null;
    this.language = options.language;
  }

  /** Whether a reply is being made or heard. */
  get isBusy(): boolean {
    return this.current !== undefined || this.leading !== undefined;
  }

  /** The reply that has not been given all its words and audio yet. */
  get replyAtWork(): Reply | null {
    return this.current && !this.current.clausesDone ? this.current : null;
  }

  /**
   * Begins a reply; one that still runs is cut, unless it is a rescue line, behind which the new reply waits.
   * `clauses` gets the signal that cancels it.
   */
  say(
    kind: Reply['kind'],
    clauses: (signal: AbortSignal) => AsyncIterable<string>,
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
    void this.run(reply, clauses(abort.signal));
    return reply;
  }

  /**
   * Silences the bot now. Returns the reply that was cut, or null where none ran. The far end is told to drop what it
   * has not played, unless nothing of the reply had left.
   */
  cut(): Reply | null {
    const replies = [this.leading, this.current].filter((reply) => reply !== undefined);
    if (replies.length === 0) return null;
    const hadAudio = replies.some((reply) => reply.firstAudioSent);
    this.pacer.clear();
    if (hadAudio) this.hooks.sendClear();
    for (const reply of replies) {
      this.end(reply, 'cut');
      this.ledger.cut(reply.id, monotonicMs());
      this.hooks.onHeard(reply);
    }
    return replies.at(-1) ?? null;
  }

  /**
   * Lets the caller hear a line before what the reply at work still has to say, because that is late. Resolves to
   * false, and nothing is heard, where the line has no audio on this host or the reply has come on by itself.
   */
  async interject(text: string): Promise<boolean> {
    const reply = this.current;
    const isWanted = () =>
      reply !== undefined && this.current === reply && !reply.clausesDone && !this.pacer.isSpeaking;
    if (!reply || !isWanted()) return false;
    const audio = this.lines?.audioOf(text) ?? (await this.lines?.lastResort(text, this.language));
    if (!audio || !isWanted()) return false;
    this.speakAudio(reply, text, audio, { isAside: true });
    return true;
  }

  /**
   * Pauses the bot in the middle of a word; the far end drops what it has not played. What is being made meanwhile
   * waits behind it. A bot that says nothing is paused too: it does not begin.
   */
  hold(): void {
    if (this.pacer.hold()) this.hooks.sendClear();
  }

  /** Goes on from the exact frame at which the caller heard the bot stop. */
  resume(): void {
    this.pacer.resume();
  }

  get isHeld(): boolean {
    return this.pacer.isHeld;
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
    if (unit) this.settled(unit);
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

  private async run(reply: LiveReply, clauses: AsyncIterable<string>): Promise<void> {
    let stage: ReplyFailure['stage'] = 'words';
    try {
      for await (const clause of clauses) {
        if (reply.signal.aborted) return;
        stage = 'voice';
        await this.speakClause(reply, clause);
        stage = 'words';
      }
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

  private async speakClause(reply: LiveReply, clause: string): Promise<void> {
    const atHand = await this.audioAtHand(reply, clause);
    if (atHand) {
      this.speakAudio(reply, clause, atHand);
      return;
    }
    const unit = this.ledger.add(reply.id, clause);
    const told = clauseRecord(clause);
    const kept = this.lines?.wants(clause) ? new Keepsake(this.lines, clause) : null;
    const startedAtMs = monotonicMs();
    const toLine = lineResampler(this.tts.sampleRate);
    let queuedSamples = 0;
    const take = (samples: Int16Array): boolean => {
      queuedSamples += samples.length;
      if (samples.length > 0) reply.spoke = true;
      kept?.add(samples);
      return this.pacer.push(reply.epoch, unit.id, samples);
    };
    try {
      const hooks = {
        onServedBy: (provider: string, model: string | null) => {
          told.servedBy = { provider, model };
          kept?.servedBy(provider);
        },
      };
      for await (const block of this.tts.speak(clause, reply.signal, hooks)) {
        told.firstAudioMs ??= monotonicMs() - startedAtMs;
        if (!take(toLine ? toLine.process(block) : block)) return;
        await this.roomInQueue(reply.signal);
      }
      if (toLine) take(toLine.flush());
      unit.synthesisDone = true;
      kept?.keep();
    } catch (error) {
      this.ledger.truncate(unit.id, queuedSamples);
      // A voice that could not even begin was sent nothing that counts.
      told.wasSent = queuedSamples > 0 || reply.signal.aborted;
      if (reply.kind !== 'rescue' || queuedSamples > 0 || reply.signal.aborted) throw error;
      if (!(await this.standIn(reply, clause))) throw error;
    } finally {
      if (told.wasSent) this.hooks.onSynthesized(told);
      // A voice that broke off still gets its mark, so that the part which was spoken is accounted for.
      this.pacer.endUnit(reply.epoch, unit.id);
    }
  }

  /** Audio that needs no voice; throws where the voice is known to fail and nothing else can speak. */
  private async audioAtHand(reply: LiveReply, clause: string): Promise<Int16Array | null> {
    const known = this.lines?.audioOf(clause) ?? null;
    if (known || !reply.withoutVoice) return known;
    const local = (await this.lines?.lastResort(clause, this.language)) ?? null;
    if (!local) throw new AppError('provider_failed', 'no voice can speak, nor is there audio on this host');
    return local;
  }

  /** Speaks a rescue line by the engine of this host; false where that cannot either. */
  private async standIn(reply: LiveReply, clause: string): Promise<boolean> {
    const audio = await this.lines?.lastResort(clause, this.language);
    if (!audio || reply.signal.aborted) return false;
    this.speakAudio(reply, clause, audio);
    return true;
  }

  /** Queues a line whose audio is there as a whole. */
  private speakAudio(
    reply: LiveReply,
    text: string,
    audio: Int16Array,
    options: { isAside?: boolean } = {},
  ): void {
    const unit = this.ledger.add(reply.id, text, options);
    unit.synthesisDone = true;
    this.pacer.push(reply.epoch, unit.id, audio);
    this.pacer.endUnit(reply.epoch, unit.id);
  }

  private async roomInQueue(signal: AbortSignal): Promise<void> {
    while (this.pacer.queuedMs > MAX_QUEUED_MS) await sleepMs(QUEUE_POLL_MS, signal);
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

function clauseRecord(clause: string): SpokenClause & { wasSent: boolean } {
  return { characters: clause.length, firstAudioMs: null, servedBy: null, wasSent: true };
}

/** Null where the voice already speaks at the line's rate. */
function lineResampler(sampleRate: number): Resampler | null {
  return sampleRate === LINE_RATE_HZ ? null : new (audioKernels().Resampler)(sampleRate, LINE_RATE_HZ);
}

function markName(unit: Unit): string {
  return `unit-${unit.id}${unit.sending > 1 ? `.${unit.sending}` : ''}`;
}

function unitOfMark(name: string): { unitId: number; sending: number } {
  const match = /^unit-(\d{1,9})(?:\.(\d{1,4}))?$/.exec(name);
  return match ? { unitId: Number(match[1]), sending: Number(match[2] ?? 1) } : { unitId: -1, sending: 0 };
}
