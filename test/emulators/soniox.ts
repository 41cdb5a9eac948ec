import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { type Emulator, startEmulator } from './kit/emulator.ts';
import { IdleWatch } from './kit/idle-watch.ts';
import type { HeardWord, SpeechTick } from './kit/speech-reader.ts';
import { type Ear, Ears, kitOptions, type SttEmulator, type SttEmulatorOptions } from './kit/stt-emulator.ts';
import { readSonioxConfig, type SonioxConfig, sonioxControlProblems } from './soniox-rules.ts';

export interface SonioxOptions extends SttEmulatorOptions {
  /** Streams at once beyond which 429 is answered; the vendor's default is 10. */
  maxStreams?: number;
  /** Errors carry their code as a text, as is sometimes seen. */
  codesAsText?: boolean;
  quirks?: {
    /** The last token that is not final yet is cut short, and so changes in the next message. On by default. */
    steadyTokens?: boolean;
  };
}

export interface SonioxEmulator extends SttEmulator {
  /** Ends a live stream with an error, such as 503 `Cannot continue request`. */
  fail(connection: number, code: number, message: string, type?: string): void;
}

/** Without audio or keep-alive for so long the stream ends with 408 (reference 3.4). */
const IDLE_MS = 20_000;
const ANSWER_EVERY_MS = 200;
/** A word becomes final this long after its end at the latest. */
const FINAL_AFTER_MS = 1_000;
/** Silence after which the end of an utterance is seen, unless `max_endpoint_delay_ms` is shorter. */
const ENDPOINT_SILENCE_MS = 700;
const MAX_STREAMS = 10;
/** Longer words come as two tokens. */
const TOKEN_CHARS = 4;

/**
 * Soniox's `/transcribe-websocket` (D-35). Without a script it transcribes: tokens that are
 * not final yet come again and may change, final ones come once, and `<end>` and `<fin>` mark ends.
 */
export async function startSoniox(options: SonioxOptions = {}): Promise<SonioxEmulator> {
  const key = options.key ?? 'soniox-test-key';
  const ears = new Ears(options);
  const sessions = new Map<number, SonioxSession>();
  const streaming = new Set<number>();
  const emulator: Emulator = await startEmulator({
    vendor: 'soniox',
    ...kitOptions(options, key),
    sockets: [
      {
        path: /\/transcribe-websocket$/,
        admit(request) {
          if (request.query.size === 0) return undefined;
          emulator.violations.add(`soniox: query: unknown key ${[...request.query.keys()].join(', ')}`);
          return { status: 400, body: { error_code: 400, error_message: 'no query is known' } };
        },
        session(socket, request) {
          const bearer = /^Bearer (.+)$/.exec(String(request.headers.authorization ?? ''))?.[1];
          socket.delayAllMs = options.answerDelayMs ?? 0;
          sessions.set(
            socket.index,
            new SonioxSession({ socket, bearer, key, ears, streaming, emulator, options }),
          );
        },
      },
    ],
  });
  return Object.assign(emulator, {
    key,
    audio: (index: number) => ears.truth(index),
    fail(connection: number, code: number, message: string, type?: string) {
      sessions.get(connection)?.fail(code, message, type);
    },
  });
}

interface SessionParts {
  socket: EmulatedSocket;
  /** The key of the handshake, where there is one. */
  bearer: string | undefined;
  key: string;
  ears: Ears;
  /** Connections whose stream has begun and not ended, as the vendor's limit counts them. */
  streaming: Set<number>;
  emulator: Emulator;
  options: SonioxOptions;
}

interface Token {
  text: string;
  start_ms?: number;
  end_ms?: number;
  confidence: number;
  is_final: boolean;
  language?: string;
}

class SonioxSession {
  private readonly parts: SessionParts;
  private readonly idle: IdleWatch;
  private config: SonioxConfig | null = null;
  private ear: Ear | null = null;
  private finished = false;
  private finalWords = 0;
  private finalMs = 0;
  private answeredMs = 0;
  private spoke = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
    const { socket, emulator } = parts;
    this.idle = new IdleWatch(emulator.clock, IDLE_MS, () => this.fail(408, 'Request timeout.'));
    socket.onClose(() => {
      this.idle.stop();
      this.parts.streaming.delete(socket.index);
    });
    socket.onBinary((bytes) => this.heard(bytes));
    socket.onText((json, text) => this.told(json, text));
  }

  fail(code: number, message: string, type?: string): void {
    const { socket, options, streaming } = this.parts;
    this.finished = true;
    streaming.delete(socket.index);
    socket.send({
      error_code: options.codesAsText ? String(code) : code,
      ...(type === undefined ? {} : { error_type: type }),
      error_message: message,
    });
    socket.close(1000);
  }

  private told(json: unknown, text: string): void {
    this.idle.touch();
    if (!this.config) {
      this.begin(json);
      return;
    }
    if (this.finished) {
      this.trespass(`a frame after the end of audio: ${text.slice(0, 80)}`);
    } else if (text === '') {
      this.finish();
    } else {
      const problems = sonioxControlProblems(json);
      if (problems.length > 0) this.refuse(problems);
      else if ((json as { type: string }).type === 'finalize') this.finalize();
    }
  }

  private begin(json: unknown): void {
    const { socket, bearer, key, ears, streaming, emulator, options } = this.parts;
    const config = readSonioxConfig(json, bearer);
    if (Array.isArray(config)) {
      this.refuse(config);
      return;
    }
    if (config.api_key !== key) {
      this.trespass('the key is wrong');
      this.fail(401, 'Incorrect API key provided.', 'unauthenticated');
      return;
    }
    if (streaming.size >= (options.maxStreams ?? MAX_STREAMS)) {
      this.fail(429, 'Rate limit exceeded.', 'limit_exceeded');
      return;
    }
    this.config = config;
    streaming.add(socket.index);
    this.ear = ears.open(socket, {
      sampleRate: config.sample_rate ?? 16_000,
      encoding: config.audio_format ?? 'pcm_s16le',
      clock: emulator.clock,
    });
  }

  private heard(bytes: Buffer): void {
    this.idle.touch();
    if (this.finished) {
      this.trespass('audio after the end of audio');
      return;
    }
    if (!this.ear) {
      this.refuse(['audio before the config']);
      return;
    }
    if (bytes.length === 0) {
      this.finish();
      return;
    }
    const samples = this.ear.audio.add(bytes);
    if (!samples) {
      this.refuse(['audio of odd length']);
      return;
    }
    for (const tick of this.ear.reader.read(samples)) this.tick(tick, this.ear);
  }

  private tick(tick: SpeechTick, ear: Ear): void {
    const limitMs = Math.min(this.config?.max_endpoint_delay_ms ?? 2_000, ENDPOINT_SILENCE_MS);
    if (this.config?.enable_endpoint_detection && tick.open && tick.silenceMs >= limitMs) {
      this.answer([...this.rest(ear), marker('<end>')], []);
      return;
    }
    if (tick.atMs - this.answeredMs < ANSWER_EVERY_MS) return;
    const words = ear.reader.words().slice(this.finalWords);
    const ready = words.filter((word) => tick.atMs - word.endMs >= FINAL_AFTER_MS);
    this.finalWords += ready.length;
    this.answer(
      ready.flatMap((word) => this.tokens(word, true)),
      this.unsure(words.slice(ready.length)),
    );
  }

  /** Words that may still change: of the last one, only its beginning is there yet. */
  private unsure(words: readonly HeardWord[]): Token[] {
    const tokens = words.flatMap((word) => this.tokens(word, false));
    const last = tokens.at(-1);
    if (last && last.text.length > 2 && !this.parts.options.quirks?.steadyTokens)
      tokens[tokens.length - 1] = { ...last, text: last.text.slice(0, -1) };
    return tokens;
  }

  /** Everything that was said and is not final yet, now final. */
  private rest(ear: Ear): Token[] {
    const words = ear.reader.take()?.words.slice(this.finalWords) ?? [];
    this.finalWords = 0;
    return words.flatMap((word) => this.tokens(word, true));
  }

  private finalize(): void {
    if (!this.ear) return;
    this.parts.emulator.count('finalizes');
    this.answer([...this.rest(this.ear), marker('<fin>')], []);
  }

  private finish(): void {
    const { socket } = this.parts;
    if (!this.ear) return;
    this.finished = true;
    this.parts.streaming.delete(socket.index);
    this.answer(this.rest(this.ear), []);
    const heardMs = this.ear.reader.heardMs;
    socket.answer({
      tokens: [],
      final_audio_proc_ms: heardMs,
      total_audio_proc_ms: heardMs,
      finished: true,
    });
    if (!socket.scripted) socket.close(1000);
  }

  private answer(finals: Token[], unsure: Token[]): void {
    const heardMs = this.ear?.reader.heardMs ?? 0;
    this.answeredMs = heardMs;
    if (finals.length > 0) {
      const ends = finals.map((token) => token.end_ms ?? heardMs);
      this.finalMs = Math.max(this.finalMs, ...ends);
    }
    this.parts.socket.answer({
      tokens: [...finals, ...unsure],
      final_audio_proc_ms: this.finalMs,
      total_audio_proc_ms: heardMs,
    });
  }

  /** A word as one token or two. Spaces are part of the text; only the first word of all has none before it. */
  private tokens(word: HeardWord, isFinal: boolean): Token[] {
    const spaced = this.spoke || this.hasWordBefore(word) ? ` ${word.word}` : word.word;
    if (isFinal) this.spoke = true;
    const at =
      word.word.length > TOKEN_CHARS ? spaced.length - word.word.length + TOKEN_CHARS - 1 : spaced.length;
    const halfMs = Math.round((word.startMs + word.endMs) / 2);
    const identified = this.config?.enable_language_identification
      ? { language: this.config.language_hints?.[0] ?? 'en' }
      : {};
    const token = (text: string, startMs: number, endMs: number): Token => ({
      text,
      start_ms: startMs,
      end_ms: endMs,
      confidence: 0.97,
      is_final: isFinal,
      ...identified,
    });
    if (at >= spaced.length) return [token(spaced, word.startMs, word.endMs)];
    return [token(spaced.slice(0, at), word.startMs, halfMs), token(spaced.slice(at), halfMs, word.endMs)];
  }

  private hasWordBefore(word: HeardWord): boolean {
    return (this.ear?.reader.words() ?? []).some((other) => other.endMs <= word.startMs);
  }

  private refuse(problems: readonly string[]): void {
    this.trespass(...problems);
    this.fail(400, problems.join('; ').slice(0, 200), 'bad_request');
  }

  private trespass(...whats: string[]): void {
    this.parts.emulator.violations.add(...whats.map((what) => `soniox: ${what}`));
  }
}

function marker(text: '<end>' | '<fin>'): Token {
  return { text, confidence: 1, is_final: true };
}
