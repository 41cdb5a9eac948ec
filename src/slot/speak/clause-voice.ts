import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { TextToSpeech } from '../../providers/contract/text-to-speech.ts';
import { type LineCache, LineCapture } from './line-cache.ts';
import type { Pacer } from './pacer.ts';
import type { Reply, SpeakerHooks, SpokenClause } from './reply.ts';
import type { SpeechLedger } from './speech-ledger.ts';
import { type Speakable, type SpeakableOptions, SpeakableReply, toSpeakable } from './text/to-speakable.ts';

/** A reply as its voice knows it. */
export interface VoicedReply extends Reply {
  /** Of the pacer; a clause belongs to the one in which it was begun. */
  epoch: number;
  /** The voice is known to fail, so that only audio at hand and the engine of this host can speak this reply. */
  readonly withoutVoice: boolean;
  /** What its clauses have in common, such as code that begins in one and ends in another. */
  readonly speakable: SpeakableReply | null;
  /** Audio of its own has been queued. */
  spoke: boolean;
}

export interface ClauseVoiceOptions {
  tts: TextToSpeech;
  pacer: Pacer;
  ledger: SpeechLedger;
  hooks: Pick<
    SpeakerHooks,
    'onSynthesized' | 'onFiltered' | 'onClauseGiven' | 'onFirstByte' | 'onClauseDone'
  >;
  lines?: LineCache;
  /** Of the voice, for the engine that stands in for it. */
  language?: string | undefined;
  /** How texts are put into words for the voice; without it they are spoken as they are written. */
  speakable?: SpeakableOptions;
}

/** Audio queued ahead of the caller's ear before the voice is made to wait. */
const MAX_QUEUED_MS = 10_000;
const QUEUE_POLL_MS = 100;

/** Gives one clause after the other its audio: from what is at hand, from the voice, or from the engine of this host. */
export class ClauseVoice {
  private readonly options: ClauseVoiceOptions;

  constructor(options: ClauseVoiceOptions) {
    this.options = options;
  }

  /** A new reply's memory of its clauses. */
  speakableReply(): SpeakableReply | null {
    const { speakable } = this.options;
    return speakable ? new SpeakableReply(speakable) : null;
  }

  /**
   * Resolves when the last of the clause's audio is queued. Throws what the voice failed with. `isLast`: the text ends
   * here, so that what was kept back of it is spoken now or never.
   */
  async speak(
    reply: VoicedReply,
    clause: string,
    { isAside = false, isLast = false }: { isAside?: boolean; isLast?: boolean } = {},
  ): Promise<void> {
    // An aside comes between the clauses of an answer and is none of them.
    const { spoken, written: text } = isAside
      ? { spoken: this.wordsOf(clause), written: clause }
      : this.filtered(reply, clause, isLast);
    if (spoken === '') return;
    const atHand = await this.audioAtHand(reply, spoken);
    if (atHand) this.queue(reply, text, atHand, { spoken, isAside });
    else await this.synthesize(reply, { text, spoken, isAside });
  }

  /** Queues a line whose audio is there as a whole. */
  queue(
    reply: VoicedReply,
    text: string,
    audio: Int16Array,
    options: { spoken?: string; isAside?: boolean } = {},
  ): void {
    const { ledger, pacer, hooks } = this.options;
    const unit = ledger.add(reply.id, text, options);
    hooks.onClauseGiven?.(reply, unit.id);
    ledger.made(unit.id, audio.length);
    ledger.allMade(unit.id);
    hooks.onFirstByte?.(unit.id);
    hooks.onClauseDone?.(unit.id);
    pacer.push(reply.epoch, unit.id, audio);
    pacer.endUnit(reply.epoch, unit.id);
  }

  /** The audio of a line without asking the voice: from the disk, else by the engine of this host; null where neither. */
  async audioOnHost(text: string, inOwnVoice: boolean): Promise<Int16Array | null> {
    const { lines, language } = this.options;
    const spoken = this.wordsOf(text);
    if (inOwnVoice && lines?.isKept) return lines.audioOf(spoken);
    return lines?.audioOf(spoken) ?? (await lines?.lastResort(spoken, language)) ?? null;
  }

  /** A text that stands alone, in words. */
  private wordsOf(text: string): string {
    const { speakable } = this.options;
    return speakable ? toSpeakable(text, speakable).spoken : text;
  }

  private filtered(reply: VoicedReply, text: string, isLast: boolean): Pick<Speakable, 'spoken' | 'written'> {
    if (!reply.speakable) return { spoken: text, written: text };
    const speakable = reply.speakable.clause(text, { isLast });
    const { counts } = speakable;
    if (Object.values(counts).some((count) => count > 0)) this.options.hooks.onFiltered?.(reply, counts);
    return speakable;
  }

  private async synthesize(
    reply: VoicedReply,
    { text, spoken, isAside }: { text: string; spoken: string; isAside: boolean },
  ): Promise<void> {
    const { tts, pacer, ledger, lines, hooks } = this.options;
    const { epoch } = reply;
    const unit = ledger.add(reply.id, text, { spoken, isAside });
    const told = clauseRecord(spoken);
    const kept = lines?.wants(spoken) ? new LineCapture(lines, spoken) : null;
    const startedAtMs = monotonicMs();
    const toLine = lineResampler(tts.sampleRate);
    hooks.onClauseGiven?.(reply, unit.id);
    const take = (samples: Int16Array): boolean => {
      ledger.made(unit.id, samples.length);
      if (samples.length > 0 && !isAside) reply.spoke = true;
      kept?.add(samples);
      return pacer.push(epoch, unit.id, samples);
    };
    try {
      const voiceHooks = {
        onWords: (words: Parameters<SpeechLedger['timed']>[1]) => ledger.timed(unit.id, words),
        onServedBy: (provider: string, model: string | null) => {
          told.servedBy = { provider, model };
          kept?.servedBy(provider);
        },
      };
      for await (const block of tts.speak(spoken, reply.signal, voiceHooks)) {
        if (told.firstAudioMs === null) {
          told.firstAudioMs = monotonicMs() - startedAtMs;
          hooks.onFirstByte?.(unit.id);
        }
        if (!take(toLine ? toLine.process(block) : block)) return;
        await this.roomInQueue(reply.signal);
      }
      if (toLine) take(toLine.flush());
      ledger.allMade(unit.id);
      kept?.keep();
    } catch (error) {
      const hasAudio = unit.madeSamples > 0;
      ledger.truncate(unit.id);
      // A voice that could not even begin was sent nothing that counts.
      told.wasSent = hasAudio || reply.signal.aborted;
      if (reply.kind !== 'rescue' || hasAudio || reply.signal.aborted) throw error;
      if (!(await this.standIn(reply, text, spoken))) throw error;
    } finally {
      if (told.wasSent) hooks.onSynthesized(told);
      hooks.onClauseDone?.(unit.id);
      // A voice that broke off still gets its mark, so that the part which was spoken is accounted for.
      pacer.endUnit(epoch, unit.id);
    }
  }

  /** Audio that needs no voice; throws where the voice is known to fail and nothing else can speak. */
  private async audioAtHand(reply: VoicedReply, spoken: string): Promise<Int16Array | null> {
    const { lines, language } = this.options;
    const known = lines?.audioOf(spoken) ?? null;
    if (known || !reply.withoutVoice) return known;
    const local = (await lines?.lastResort(spoken, language)) ?? null;
    if (!local) throw new AppError('provider_failed', 'no voice can speak, nor is there audio on this host');
    return local;
  }

  /** Speaks a rescue line by the engine of this host; false where that cannot either. */
  private async standIn(reply: VoicedReply, text: string, spoken: string): Promise<boolean> {
    const { lines, language } = this.options;
    const audio = await lines?.lastResort(spoken, language);
    if (!audio || reply.signal.aborted) return false;
    this.queue(reply, text, audio, { spoken });
    return true;
  }

  private async roomInQueue(signal: AbortSignal): Promise<void> {
    while (this.options.pacer.queuedMs > MAX_QUEUED_MS) await sleepMs(QUEUE_POLL_MS, signal);
  }
}

function clauseRecord(spoken: string): SpokenClause & { wasSent: boolean } {
  return { characters: spoken.length, firstAudioMs: null, servedBy: null, wasSent: true };
}

/** Null where the voice already speaks at the line's rate. */
function lineResampler(sampleRate: number): Resampler | null {
  return sampleRate === LINE_RATE_HZ ? null : new (audioKernels().Resampler)(sampleRate, LINE_RATE_HZ);
}
