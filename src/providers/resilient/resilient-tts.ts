import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import { type FailureClass, providerError } from '../contract/provider-error.ts';
import type { SpeakHooks, TextToSpeech, WordTiming } from '../contract/text-to-speech.ts';
import { abandonStream, linkedAbort, nextWithin } from './next-within.ts';
import type { ChainLink, ProviderChain } from './provider-chain.ts';
import { rateLimitWaitMs } from './rate-limit-wait.ts';
import { MS_PER_CHARACTER, restOfText } from './rest-of-text.ts';

/** RT-47. */
export const FIRST_BYTE_MS = 1_500;
export const NEXT_BYTE_MS = 1_000;
/** For the last provider that can be asked: waiting a little longer is better than nothing. */
export const LAST_FIRST_BYTE_MS = 2_500;
/** The weight of the latest clause in what is known of a voice's pace. */
const PACE_WEIGHT = 0.3;
/** What no voice may leave out without a sound. */
const HAS_WORDS = /[\p{L}\p{N}]/u;

/**
 * Text to speech over a bot's provider and its fallbacks. A voice that does not begin in time, pauses too long, breaks
 * or ends without a sound is replaced in the middle of the clause; the next one speaks only what was not given yet. The
 * voice that took over stays for a while, so that a reply does not change its voice with every clause.
 *
 * `sampleRate` is the first provider's and stays; the others are resampled to it.
 */
export function createResilientTts(chain: ProviderChain<TextToSpeech>, first: TextToSpeech): TextToSpeech {
  const paces = new Map<string, number>();
  return {
    name: first.name,
    model: first.model,
    sampleRate: first.sampleRate,
    speak: (text, signal, hooks) =>
      new Clause(chain, { text, sampleRate: first.sampleRate, signal, hooks: hooks ?? {}, paces }).speak(),
    async warm() {
      await (await chain.client(0)).warm?.();
    },
    close: () => chain.close(),
  };
}

interface ClauseOptions {
  text: string;
  sampleRate: number;
  signal: AbortSignal;
  hooks: SpeakHooks;
  /** Milliseconds per character of each voice, as measured in this call. */
  paces: Map<string, number>;
}

/** One clause on its way through the providers. */
class Clause {
  private readonly chain: ProviderChain<TextToSpeech>;
  private readonly options: ClauseOptions;
  /** Of the whole clause, given to the consumer. */
  private givenMs = 0;
  /** Voices that were asked once more. */
  private readonly repeated = new Set<number>();
  /** The only voice is asked too much: since when, and how often it said so. */
  private limit: { sinceMs: number; times: number } | null = null;

  constructor(chain: ProviderChain<TextToSpeech>, options: ClauseOptions) {
    this.chain = chain;
    this.options = options;
  }

  async *speak(): AsyncGenerator<Int16Array> {
    const { signal, text } = this.options;
    const waiting = this.chain.order();
    let rest = text;
    let firstError: unknown;
    let from: ChainLink | null = null;
    let link = waiting.shift();
    while (link) {
      signal.throwIfAborted();
      const part: SpokenPart = { fromMs: this.givenMs, words: [], isMute: false };
      try {
        if (from !== null && from.index !== link.index) this.chain.switched(from.index, link.index, 'failed');
        yield* this.speakWith(link, rest, part, waiting.length === 0);
        return;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const kind = this.chain.failed(link.index, error, { given_ms: Math.round(this.givenMs) });
        firstError ??= error;
        from = link;
        const pace = this.options.paces.get(link.key) ?? MS_PER_CHARACTER;
        rest = restOfText(rest, this.givenMs - part.fromMs, part.words, pace);
        if (rest === '' || (this.givenMs > 0 && !HAS_WORDS.test(rest))) return;
        const pauseMs = this.repeatPauseMs(link, { kind, error, isMute: part.isMute });
        if (pauseMs === null) link = waiting.shift();
        else await this.pauseBefore(link, kind, pauseMs);
      }
    }
    throw firstError;
  }

  /**
   * How long to wait before the same voice is asked once more; null where the next one is asked. One without fallbacks
   * gets a second try, and waits out what it names when it is asked too much; one that ended without a sound gets a
   * second try in any case.
   */
  private repeatPauseMs(
    link: ChainLink,
    { kind, error, isMute }: { kind: FailureClass; error: unknown; isMute: boolean },
  ): number | null {
    const isAlone = this.chain.length === 1;
    if (kind === 'rate_limit' && isAlone) {
      const nowMs = this.chain.context.clock.nowMs();
      this.limit ??= { sinceMs: nowMs, times: 0 };
      return rateLimitWaitMs(error, nowMs - this.limit.sinceMs, this.limit.times++);
    }
    if (kind !== 'transient' || (!isAlone && !isMute) || this.repeated.has(link.index)) return null;
    this.repeated.add(link.index);
    return 0;
  }

  private async pauseBefore(link: ChainLink, kind: FailureClass, pauseMs: number): Promise<void> {
    const { context } = this.chain;
    context.report({
      event: 'provider_retried',
      provider: link.config.provider,
      family: 'tts',
      class: kind,
      ...(pauseMs > 0 ? { after_ms: pauseMs } : {}),
    });
    if (pauseMs > 0) await context.clock.sleep(pauseMs, this.options.signal);
  }

  private async *speakWith(
    link: ChainLink,
    text: string,
    part: SpokenPart,
    isLast: boolean,
  ): AsyncGenerator<Int16Array> {
    const chain = this.chain;
    const { clock } = chain.context;
    const { controller, release } = linkedAbort(this.options.signal);
    chain.begin(link.index);
    let stream: AsyncIterator<Int16Array> | undefined;
    let firstMs: number | null = null;
    let outcome: 'running' | 'spoken' | 'failed' = 'running';
    try {
      const client = await chain.client(link.index);
      this.options.hooks.onServedBy?.(client.name, client.model);
      const toRate = resampler(client.sampleRate, this.options.sampleRate);
      const startedAtMs = clock.nowMs();
      const onWords = (words: readonly WordTiming[]) => this.onWords(part, words);
      stream = client.speak(text, controller.signal, { onWords })[Symbol.asyncIterator]();
      for (;;) {
        const limitMs = firstMs !== null ? NEXT_BYTE_MS : isLast ? LAST_FIRST_BYTE_MS : FIRST_BYTE_MS;
        const step = await nextWithin(stream, limitMs, clock);
        if (step === 'late') {
          chain.renew(link.index);
          throw lateError(link, firstMs === null, limitMs);
        }
        if (step.done) break;
        if (step.value.length === 0) continue;
        firstMs ??= clock.nowMs() - startedAtMs;
        yield* this.give(toRate ? toRate.process(step.value) : step.value);
      }
      if (toRate) yield* this.give(toRate.flush());
      part.isMute = this.givenMs === part.fromMs && HAS_WORDS.test(text);
      if (part.isMute) throw muteError(link);
      this.learnPace(link, text, this.givenMs - part.fromMs);
      outcome = 'spoken';
    } catch (error) {
      outcome = 'failed';
      throw error;
    } finally {
      release();
      controller.abort(new DOMException('the clause is over', 'AbortError'));
      if (stream) abandonStream(stream);
      // A failure is told by `failed`, unless it is our own abort.
      if (outcome !== 'failed' || this.options.signal.aborted) {
        chain.ended(link.index, firstMs === null ? 'abandoned' : { result: 'ok', ms: firstMs });
      }
    }
  }

  private *give(samples: Int16Array): Generator<Int16Array> {
    if (samples.length === 0) return;
    this.givenMs += (samples.length * 1000) / this.options.sampleRate;
    yield samples;
  }

  /** Timings count from the first sample of the clause, whoever speaks the part. */
  private onWords(part: SpokenPart, words: readonly WordTiming[]): void {
    part.words.push(...words);
    const shift = part.fromMs;
    this.options.hooks.onWords?.(
      shift === 0
        ? words
        : words.map(({ text, startMs, endMs }) => ({ text, startMs: startMs + shift, endMs: endMs + shift })),
    );
  }

  private learnPace(link: ChainLink, text: string, ms: number): void {
    if (text.length === 0 || ms <= 0) return;
    const { paces } = this.options;
    const known = paces.get(link.key);
    const measured = ms / text.length;
    paces.set(link.key, known === undefined ? measured : known + (measured - known) * PACE_WEIGHT);
  }
}

/** What one provider spoke of a clause. */
interface SpokenPart {
  /** Where in the clause it began. */
  fromMs: number;
  /** Its timings, from its own first sample. */
  words: WordTiming[];
  /** It came to its end without a sample. */
  isMute: boolean;
}

function resampler(from: number, to: number): Resampler | null {
  return from === to ? null : new (audioKernels().Resampler)(from, to);
}

/** The vendor says that it has spoken, and nothing was heard. */
function muteError(link: ChainLink): Error {
  const { provider } = link.config;
  return providerError(
    { provider, family: 'tts', class: 'transient', status: null },
    `${provider} ended a clause without any audio`,
  );
}

function lateError(link: ChainLink, isFirst: boolean, limitMs: number): Error {
  const { provider } = link.config;
  return providerError(
    { provider, family: 'tts', class: 'transient', status: null },
    isFirst
      ? `${provider} gave no audio within ${limitMs} ms`
      : `${provider} paused for ${limitMs} ms in the middle of a clause`,
    'provider_timeout',
  );
}
