import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { describeError } from '../../platform/app-error.ts';
import { findEngine } from '../../platform/engine-programs.ts';
import type { Logger } from '../../platform/logger.ts';
import { type RenderedLine, renderLine } from '../../providers/spoken-lines/render-line.ts';
import { isKeptVoice, type SpeechCache, speechKey } from '../../providers/spoken-lines/speech-cache.ts';
import { type SpeakableOptions, toSpeakable } from './text/to-speakable.ts';

/** A line that is rendered ahead must come within this, or another call renders it. */
const RENDER_TIMEOUT_MS = 8_000;
/** The local engine speaks a line in some 50 ms; when it hangs, the call ends instead of waiting. */
const LAST_RESORT_TIMEOUT_MS = 1_500;

/**
 * Lines of a call that are known before they are needed: the opening, what bridges a wait, and what is said when a
 * provider fails. Their audio comes from the cache on disk, and what is missing there is learnt from the voice when it speaks them.
 */
export class LineCache {
  private readonly cache: SpeechCache;
  private readonly voice: ProviderConfig;
  private readonly logger: Logger;
  private readonly onRendered: ((line: RenderedLine) => void) | undefined;
  private readonly texts: ReadonlySet<string>;
  private readonly audio = new Map<string, Int16Array>();
  /** Whether the bot's voice is worth keeping; else it is an engine of this host, which speaks at once. */
  readonly isKept: boolean;

  constructor(options: {
    cache: SpeechCache;
    voice: ProviderConfig;
    texts: readonly string[];
    /** How the voice is given the texts: they are kept, and asked for, by what is spoken. */
    speakable?: SpeakableOptions;
    /** The voice was asked for a line that no reply had need of. */
    onRendered?: (line: RenderedLine) => void;
    logger: Logger;
  }) {
    const { speakable } = options;
    const spoken = options.texts.map((text) => (speakable ? toSpeakable(text, speakable).spoken : text));
    this.cache = options.cache;
    this.voice = options.voice;
    this.logger = options.logger;
    this.onRendered = options.onRendered;
    this.isKept = isKeptVoice(options.voice);
    this.texts = new Set(spoken.filter((text) => text.trim() !== ''));
  }

  /** Reads what the disk has. Never rejects. */
  async load(): Promise<void> {
    if (!this.isKept) return;
    await Promise.all(
      [...this.texts].map(async (text) => {
        const speech = await this.cache.get(this.keyOf(text));
        if (speech?.sampleRate === LINE_RATE_HZ) this.audio.set(text, speech.samples);
      }),
    );
  }

  /** The whole audio at line rate; null where it has to be spoken. */
  audioOf(text: string): Int16Array | null {
    return this.audio.get(text) ?? null;
  }

  /** Whether the audio of this text should be handed to `learn` once it was spoken to its end. */
  wants(text: string): boolean {
    return this.isKept && this.texts.has(text) && !this.audio.has(text);
  }

  /** Whether audio of this provider is the bot's own voice. */
  isOwnVoice(provider: string): boolean {
    return provider === this.voice.provider;
  }

  /** Keeps a line at line rate in the bot's own voice, for this call and for later ones. */
  learn(text: string, samples: Int16Array): void {
    this.audio.set(text, samples);
    this.cache.put(this.keyOf(text), { sampleRate: LINE_RATE_HZ, samples }).catch((error) => {
      this.logger.warn({ err: describeError(error) }, 'a spoken line cannot be kept on disk');
    });
  }

  /** Renders what is still missing, one line after the other. Never rejects; stops at the first failure. */
  async renderMissing(signal?: AbortSignal): Promise<void> {
    for (const text of this.texts) {
      if (!this.wants(text)) continue;
      const timeout = AbortSignal.timeout(RENDER_TIMEOUT_MS);
      try {
        const both = signal ? AbortSignal.any([signal, timeout]) : timeout;
        const { samples } = await renderLine(this.voice, text, LINE_RATE_HZ, both, this.onRendered);
        if (this.wants(text)) this.learn(text, samples);
      } catch (error) {
        if (!signal?.aborted) {
          this.logger.warn({ err: describeError(error) }, 'a line could not be rendered ahead');
        }
        return;
      }
    }
  }

  /** The line by the engine of this host, where one is installed; another voice is better than none. Never rejects. */
  async lastResort(text: string, language: string | undefined): Promise<Int16Array | null> {
    if (!findEngine('espeak-ng')) return null;
    const voice = { provider: 'espeak', voice: localVoice(language) };
    const signal = AbortSignal.timeout(LAST_RESORT_TIMEOUT_MS);
    try {
      return (await renderLine(voice, text, LINE_RATE_HZ, signal)).samples;
    } catch (error) {
      this.logger.warn({ err: describeError(error) }, 'the local engine cannot stand in for the voice');
      return null;
    }
  }

  private keyOf(text: string): string {
    return speechKey(this.voice, text, LINE_RATE_HZ);
  }
}

/** The first part of a language tag names a voice of espeak-ng for every language that we have lines in. */
function localVoice(language: string | undefined): string {
  return /^[A-Za-z]{2,3}(?=[-_]|$)/.exec(language ?? '')?.[0].toLowerCase() ?? 'en';
}

/**
 * Collects the audio of one line while it is spoken, so that it need not be asked for again. Audio of another provider
 * spoils it: the line would sound different from the bot for ever.
 */
export class LineCapture {
  private readonly lines: LineCache;
  private readonly text: string;
  private readonly blocks: Int16Array[] = [];
  private samples = 0;
  private isOwnVoice = true;

  constructor(lines: LineCache, text: string) {
    this.lines = lines;
    this.text = text;
  }

  servedBy(provider: string): void {
    this.isOwnVoice &&= this.lines.isOwnVoice(provider);
  }

  /** Audio at line rate. The pacer reads the same block and changes it as little as this does. */
  add(samples: Int16Array): void {
    if (!this.isOwnVoice) return;
    this.blocks.push(samples);
    this.samples += samples.length;
  }

  /** The line was spoken to its end. */
  keep(): void {
    if (!this.isOwnVoice || this.samples === 0) return;
    const whole = new Int16Array(this.samples);
    let at = 0;
    for (const block of this.blocks) {
      whole.set(block, at);
      at += block.length;
    }
    this.lines.learn(this.text, whole);
  }
}
