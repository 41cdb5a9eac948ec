import { providerError } from '../contract/provider-error.ts';
import type { SpeakHooks, WordTiming } from '../contract/text-to-speech.ts';
import { PcmSamples } from './pcm-samples.ts';

/** A clause is a sentence or two; a vendor that sends more audio than this for one clause has lost its way. */
const MAX_CLAUSE_SECONDS = 120;

/**
 * One clause between the socket that brings its audio and the call that takes it. The socket's side calls `bytes`,
 * `words`, `end` and `fail` at any time; after the end, or once the reader has left, they do nothing, so audio that
 * comes late for a clause is dropped here.
 */
export class ClauseStream {
  private readonly provider: string;
  private readonly maxSamples: number;
  private readonly hooks: SpeakHooks | undefined;
  private readonly blocks: Int16Array[] = [];
  private readonly pcm = new PcmSamples();
  private sampleCount = 0;
  private state: 'open' | 'ended' | 'left' = 'open';
  private failure: unknown;
  private wake: () => void = () => undefined;

  constructor(options: { provider: string; sampleRate: number; hooks?: SpeakHooks | undefined }) {
    this.provider = options.provider;
    this.maxSamples = options.sampleRate * MAX_CLAUSE_SECONDS;
    this.hooks = options.hooks;
  }

  /** Samples that arrived so far. */
  get samples(): number {
    return this.sampleCount;
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  /** Adds LINEAR16 bytes, little endian; a sample may be cut in two between chunks. The bytes are copied. */
  bytes(piece: Buffer): void {
    if (!this.isOpen || piece.length === 0) return;
    const block = this.pcm.push(piece);
    if (block.length === 0) return;
    this.sampleCount += block.length;
    if (this.sampleCount > this.maxSamples) {
      const message = `${this.provider} sent more than ${MAX_CLAUSE_SECONDS} s of audio for one clause`;
      const provider = this.provider;
      this.fail(providerError({ provider, family: 'tts', class: 'transient', status: null }, message));
      return;
    }
    this.blocks.push(block);
    this.wake();
  }

  words(words: readonly WordTiming[]): void {
    if (this.isOpen && words.length > 0) this.hooks?.onWords?.(words);
  }

  end(): void {
    this.finish(undefined);
  }

  /** Ends the clause with an error, which the reader gets behind the audio that came before it. */
  fail(error: unknown): void {
    this.finish(error);
  }

  /**
   * The blocks as they come, once. Throws what the clause failed with, or the reason of the signal, after which
   * nothing more is given. `left` is called once, when the reader has gone for whatever reason.
   */
  async *read(signal: AbortSignal, left: () => void): AsyncGenerator<Int16Array> {
    const onAbort = () => this.wake();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      while (true) {
        signal.throwIfAborted();
        const block = this.blocks.shift();
        if (block) {
          yield block;
          continue;
        }
        if (this.state === 'ended') {
          if (this.failure !== undefined) throw this.failure;
          return;
        }
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.state = 'left';
      this.blocks.length = 0;
      left();
    }
  }

  private finish(failure: unknown): void {
    if (!this.isOpen) return;
    this.state = 'ended';
    this.failure = failure;
    this.wake();
  }
}
