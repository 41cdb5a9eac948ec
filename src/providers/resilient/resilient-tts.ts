import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import { providerError } from '../contract/provider-error.ts';
import type { SpeakHooks, TextToSpeech, WordTiming } from '../contract/text-to-speech.ts';
import { abandonStream, linkedAbort, nextWithin } from './next-within.ts';
import type { ChainLink, ProviderChain } from './provider-chain.ts';
import { MS_PER_CHARACTER, restOfText } from './rest-of-text.ts';

/** RT-47. */
export const FIRST_BYTE_MS = 1_500;
export const NEXT_BYTE_MS = 1_000;
/** For the last provider that can be asked: waiting a little longer is better than nothing. */
export const LAST_FIRST_BYTE_MS = 2_500;
/** The weight of the latest clause in what is known of a voice's pace. */
const PACE_WEIGHT = 0.3;

/**
 * Text to speech over a bot's provider and its fallbacks. A voice that does not begin in time, pauses too long or
 * breaks is replaced in the middle of the clause; the next one speaks only what was not given yet. The voice that
 * took over stays for a while, so that a reply does not change its voice with every clause.
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

  constructor(chain: ProviderChain<TextToSpeech>, options: ClauseOptions) {
    this.chain = chain;
    this.options = options;
  }

  async *speak(): AsyncGenerator<Int16Array> {
    const { signal, text } = this.options;
    const places = this.places();
    let rest = text;
    let firstError: unknown;
    let from: ChainLink | null = null;
    for (const [at, link] of places.entries()) {
      signal.throwIfAborted();
      const part: SpokenPart = { fromMs: this.givenMs, words: [] };
      try {
        if (from !== null && from.index !== link.index) this.chain.switched(from.index, link.index, 'failed');
        yield* this.speakWith(link, rest, part, at === places.length - 1);
        return;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const kind = this.chain.failed(link.index, error, { given_ms: Math.round(this.givenMs) });
        firstError ??= error;
        from = link;
        const pace = this.options.paces.get(link.key) ?? MS_PER_CHARACTER;
        rest = restOfText(rest, this.givenMs - part.fromMs, part.words, pace);
        if (rest === '') return;
        if (this.chain.length === 1 && at === 0) {
          if (kind !== 'transient') break;
          this.chain.context.report({
            event: 'provider_retried',
            provider: link.config.provider,
            family: 'tts',
            class: kind,
          });
        }
      }
    }
    throw firstError;
  }

  /** A provider without fallbacks gets a second try. */
  private places(): ChainLink[] {
    const order = this.chain.order();
    return order.length === 1 ? [...order, ...order] : order;
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
}

function resampler(from: number, to: number): Resampler | null {
  return from === to ? null : new (audioKernels().Resampler)(from, to);
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
