import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { TextToSpeech } from '../../providers/text-to-speech.ts';
import type { Pacer } from './pacer.ts';
import type { SpeechLedger, Unit } from './speech-ledger.ts';

/**
 * Speaks replies, one at a time: clauses to the voice, its audio to the pacer, every clause followed by a mark. A
 * reply ends played, cut or failed, and nothing of it leaves afterwards.
 */
export type ReplyEnd = 'played' | 'cut' | 'failed';

export interface Reply {
  readonly id: number;
  readonly kind: 'opening' | 'answer' | 'prompt';
  /** Cancels the thinking and the voice behind this reply. */
  readonly signal: AbortSignal;
  /** Settles when the reply has been heard, cut or given up; never rejects. */
  readonly ended: Promise<ReplyEnd>;
}

export interface SpeakerHooks {
  /** The first frame of a reply has left. */
  onFirstAudio(reply: Reply): void;
  /** What the caller heard of a reply has changed. */
  onHeard(reply: Reply): void;
  onSynthesized(clause: { characters: number; firstAudioMs: number | null }): void;
  onFailure(reply: Reply, error: Error): void;
  sendMark(name: string): void;
  sendClear(): void;
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
  clausesDone: boolean;
  firstAudioSent: boolean;
  failed: boolean;
}

export class Speaker {
  private readonly tts: TextToSpeech;
  private readonly pacer: Pacer;
  private readonly ledger: SpeechLedger;
  private readonly hooks: SpeakerHooks;
  private current: LiveReply | undefined;
  private nextReplyId = 1;

  constructor(options: { tts: TextToSpeech; pacer: Pacer; ledger: SpeechLedger; hooks: SpeakerHooks }) {
    this.tts = options.tts;
    this.pacer = options.pacer;
    this.ledger = options.ledger;
    this.hooks = options.hooks;
  }

  /** Whether a reply is being made or heard. */
  get isBusy(): boolean {
    return this.current !== undefined;
  }

  /** Begins a reply; one that still runs is cut. `clauses` gets the signal that cancels it. */
  say(kind: Reply['kind'], clauses: (signal: AbortSignal) => AsyncIterable<string>): Reply {
    this.cut();
    const abort = new AbortController();
    let settle: (end: ReplyEnd) => void = () => undefined;
    const ended = new Promise<ReplyEnd>((resolve) => {
      settle = resolve;
    });
    const reply: LiveReply = {
      id: this.nextReplyId++,
      kind,
      signal: abort.signal,
      ended,
      epoch: this.pacer.epoch,
      abort,
      settle,
      clausesDone: false,
      firstAudioSent: false,
      failed: false,
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
    const reply = this.current;
    if (!reply) return null;
    const hadAudio = reply.firstAudioSent;
    this.pacer.clear();
    if (hadAudio) this.hooks.sendClear();
    this.end(reply, 'cut');
    this.ledger.cut(reply.id, monotonicMs());
    this.hooks.onHeard(reply);
    return reply;
  }

  /** The pacer sent a frame of a unit. */
  onFrame(unitId: number, playAtMs: number, samples: number): void {
    const unit = this.ledger.get(unitId);
    if (!unit) return;
    unit.playStartMs ??= playAtMs;
    unit.sentSamples += samples;
    const reply = this.current;
    if (reply && !reply.firstAudioSent && unit.replyId === reply.id) {
      reply.firstAudioSent = true;
      this.hooks.onFirstAudio(reply);
    }
  }

  /** The pacer sent a unit's last frame. */
  onUnitSent(unitId: number, playEndMs: number): void {
    const unit = this.ledger.get(unitId);
    if (!unit) return;
    unit.playEndMs = playEndMs;
    this.hooks.sendMark(markName(unitId));
  }

  /** The far end echoed a mark. */
  onMark(name: string): void {
    const unit = this.ledger.markEchoed(unitIdOf(name));
    if (unit) this.settled(unit);
  }

  /** Several times a second: units whose mark never came count as played once their time is over. */
  tick(): void {
    const reply = this.current;
    if (!reply) return;
    const now = monotonicMs();
    for (const unit of this.ledger.ofReply(reply.id)) {
      if (unit.heard || unit.playEndMs === null || now < unit.playEndMs + MARK_GRACE_MS) continue;
      if (this.ledger.assumePlayed(unit.id)) this.settled(unit);
    }
    this.endWhenPlayed(reply);
  }

  private async run(reply: LiveReply, clauses: AsyncIterable<string>): Promise<void> {
    try {
      for await (const clause of clauses) {
        if (reply.signal.aborted) return;
        await this.speakClause(reply, clause);
      }
      reply.clausesDone = true;
      this.endWhenPlayed(reply);
    } catch (error) {
      if (reply.signal.aborted) return;
      // What has been said stays said; the rest of the reply is given up.
      reply.clausesDone = true;
      reply.failed = true;
      this.hooks.onFailure(reply, error as Error);
      this.endWhenPlayed(reply);
    }
  }

  private async speakClause(reply: LiveReply, clause: string): Promise<void> {
    const unit = this.ledger.add(reply.id, clause);
    const startedAtMs = monotonicMs();
    let firstAudioMs: number | null = null;
    const toLine = lineResampler(this.tts.sampleRate);
    let queuedSamples = 0;
    const queue = (samples: Int16Array): boolean => {
      queuedSamples += samples.length;
      return this.pacer.push(reply.epoch, unit.id, samples);
    };
    try {
      for await (const block of this.tts.speak(clause, reply.signal)) {
        firstAudioMs ??= monotonicMs() - startedAtMs;
        if (!queue(toLine ? toLine.process(block) : block)) return;
        await this.roomInQueue(reply.signal);
      }
      if (toLine) queue(toLine.flush());
      unit.synthesisDone = true;
      this.hooks.onSynthesized({ characters: clause.length, firstAudioMs });
    } catch (error) {
      this.ledger.truncate(unit.id, queuedSamples);
      throw error;
    } finally {
      // A voice that broke off still gets its mark, so that the part which was spoken is accounted for.
      this.pacer.endUnit(reply.epoch, unit.id);
    }
  }

  private async roomInQueue(signal: AbortSignal): Promise<void> {
    while (this.pacer.queuedMs > MAX_QUEUED_MS) await sleepMs(QUEUE_POLL_MS, signal);
  }

  private settled(unit: Unit): void {
    const reply = this.current;
    if (!reply || unit.replyId !== reply.id) return;
    this.hooks.onHeard(reply);
    this.endWhenPlayed(reply);
  }

  private endWhenPlayed(reply: LiveReply): void {
    if (!reply.clausesDone || this.current !== reply) return;
    if (this.ledger.ofReply(reply.id).every((unit) => unit.heard))
      this.end(reply, reply.failed ? 'failed' : 'played');
  }

  private end(reply: LiveReply, how: ReplyEnd): void {
    if (this.current === reply) this.current = undefined;
    reply.abort.abort(new DOMException('the reply is over', 'AbortError'));
    reply.settle(how);
  }
}

/** Null where the voice already speaks at the line's rate. */
function lineResampler(sampleRate: number): Resampler | null {
  return sampleRate === LINE_RATE_HZ ? null : new (audioKernels().Resampler)(sampleRate, LINE_RATE_HZ);
}

function markName(unitId: number): string {
  return `unit-${unitId}`;
}

function unitIdOf(name: string): number {
  const match = /^unit-(\d{1,9})$/.exec(name);
  return match ? Number(match[1]) : -1;
}
