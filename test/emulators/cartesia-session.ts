import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import type { Violations } from './kit/violations.ts';
import { type ToneVoice, toneChunks, toneWords } from './speech-tone.ts';

const RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];
/** A context lives so long behind its last audio. */
const CONTEXT_LIFE_MS = 1_000;
const DEFAULT_BUFFER_DELAY_MS = 3_000;
/** From this version on the voice is a name or an object without mode. */
const VOICE_WITHOUT_MODE = '2026-08-14';

const REQUEST: Fields = {
  model_id: {
    type: 'string',
    required: true,
    test: (name: string) => (/^sonic-/.test(name) ? null : 'is unknown'),
  },
  transcript: { type: 'string', required: true },
  voice: { type: 'any', required: true },
  output_format: {
    type: 'object',
    required: true,
    fields: {
      container: { type: 'string', required: true, oneOf: ['raw'] },
      encoding: { type: 'string', required: true, oneOf: ['pcm_s16le'] },
      sample_rate: { type: 'integer', required: true, oneOf: RATES },
    },
  },
  context_id: { type: 'string', required: true },
  continue: { type: 'boolean' },
  flush: { type: 'boolean' },
  language: { type: 'string', maxLength: 2 },
  locale: { type: 'string' },
  add_timestamps: { type: 'boolean' },
  add_phoneme_timestamps: { type: 'boolean' },
  use_normalized_timestamps: { type: 'boolean' },
  max_buffer_delay_ms: { type: 'integer', min: 0, max: 5_000 },
  generation_config: {
    type: 'object',
    fields: {
      speed: { type: 'number', min: 0.6, max: 1.5 },
      volume: { type: 'number', min: 0.5, max: 2 },
      emotion: { type: 'string' },
    },
  },
  pronunciation_dict_id: { type: 'string' },
  normalization: { type: 'any' },
};

const CANCEL: Fields = {
  context_id: { type: 'string', required: true },
  cancel: { type: 'boolean', required: true, oneOf: [true] },
};

interface Request {
  transcript: string;
  context_id: string;
  output_format: { sample_rate: number };
  continue?: boolean;
  flush?: boolean;
  add_timestamps?: boolean;
  max_buffer_delay_ms?: number;
  [key: string]: unknown;
}

interface Context {
  id: string;
  /** What every further request must repeat. */
  identity: string;
  request: Request;
  buffered: string;
  queue: { text: string; flushId: number | null }[];
  working: boolean;
  ended: boolean;
  cancelled: boolean;
  flushes: number;
  spokenMs: number;
  stopTimer: () => void;
}

interface CartesiaSessionParts {
  socket: EmulatedSocket;
  voice: ToneVoice;
  clock: ProviderClock;
  violations: Violations;
  version: string;
  timestamps: 'before' | 'behind';
  maxContexts: number;
  idleMs: number;
}

/** One connection: its contexts, what they are asked, and the tones that they answer. */
export class CartesiaSession {
  private readonly options: CartesiaSessionParts;
  private readonly contexts = new Map<string, Context>();
  private readonly over = new Map<string, 'ended' | 'cancelled' | 'expired'>();
  private stopIdle: () => void = () => undefined;
  private ended = false;

  constructor(options: CartesiaSessionParts) {
    this.options = options;
    this.idle();
  }

  receive(json: unknown): void {
    this.idle();
    const fields = (json ?? {}) as Record<string, unknown>;
    const id = typeof fields.context_id === 'string' ? fields.context_id : undefined;
    const isCancel = 'cancel' in fields;
    const problems = checkFields(json, isCancel ? CANCEL : REQUEST, 'cartesia');
    if (!isCancel) problems.push(...this.requestProblems(fields));
    if (problems.length > 0) {
      this.refuse(problems.join('; '), 400, id);
      return;
    }
    if (isCancel) this.cancel(id ?? '');
    else this.speakFor(fields as Request);
  }

  end(): void {
    this.ended = true;
    this.stopIdle();
    for (const context of this.contexts.values()) context.stopTimer();
    this.contexts.clear();
  }

  private requestProblems(fields: Record<string, unknown>): string[] {
    const problems: string[] = [];
    if ('language' in fields && 'locale' in fields)
      problems.push('cartesia: language and locale stand together');
    const byMode = this.options.version < VOICE_WITHOUT_MODE;
    const voice: FieldRule = {
      type: 'object',
      fields: {
        id: { type: 'string', required: true },
        ...(byMode ? { mode: { type: 'string', required: true, oneOf: ['id'] } } : {}),
      },
    };
    if (byMode || typeof fields.voice !== 'string') {
      problems.push(...checkFields({ voice: fields.voice }, { voice }, 'cartesia'));
    }
    return problems;
  }

  private speakFor(request: Request): void {
    const id = request.context_id;
    const over = this.over.get(id);
    if (over) {
      this.refuse(`context ${id} has ${over} and is used again`, 400, id);
      return;
    }
    const context = this.contexts.get(id) ?? this.open(request);
    if (!context) return;
    if (identityOf(request) !== context.identity) {
      this.refuse(`context ${id} changes a field other than transcript, continue and flush`, 400, id);
      return;
    }
    if (request.flush && (request.transcript !== '' || request.continue !== true)) {
      this.refuse('a flush stands alone, with an empty transcript and continue true', 400, id);
      return;
    }
    context.stopTimer();
    context.buffered += request.transcript;
    if (request.continue !== true) context.ended = true;
    if (request.flush) {
      context.flushes += 1;
      this.generate(context, context.flushes);
    } else if (context.ended || request.max_buffer_delay_ms === 0) {
      this.generate(context, null);
    } else {
      const delayMs = request.max_buffer_delay_ms ?? DEFAULT_BUFFER_DELAY_MS;
      context.stopTimer = this.options.clock.after(delayMs, () => this.generate(context, null));
    }
  }

  private open(request: Request): Context | null {
    const id = request.context_id;
    if (this.contexts.size >= this.options.maxContexts) {
      this.error('Too many concurrent requests', { status: 429, code: 'concurrency_limited', id });
      return null;
    }
    const context: Context = {
      id,
      identity: identityOf(request),
      request,
      buffered: '',
      queue: [],
      working: false,
      ended: false,
      cancelled: false,
      flushes: 0,
      spokenMs: 0,
      stopTimer: () => undefined,
    };
    this.contexts.set(id, context);
    return context;
  }

  private generate(context: Context, flushId: number | null): void {
    if (context.buffered !== '' || flushId !== null) context.queue.push({ text: context.buffered, flushId });
    context.buffered = '';
    void this.work(context);
  }

  /** What has not begun is dropped; what is being made still comes. */
  private cancel(id: string): void {
    const context = this.contexts.get(id);
    if (!context) return;
    context.cancelled = true;
    context.queue.length = 0;
    context.stopTimer();
    void this.work(context);
  }

  private async work(context: Context): Promise<void> {
    if (context.working) return;
    context.working = true;
    for (let piece = context.queue.shift(); piece; piece = context.queue.shift()) {
      await this.speak(context, piece.text);
      if (piece.flushId !== null) {
        const flush = { flush_id: piece.flushId, flush_done: true };
        this.send({ type: 'flush_done', done: false, status_code: 206, context_id: context.id, ...flush });
      }
    }
    context.working = false;
    if (this.ended || !this.contexts.has(context.id)) return;
    if (context.ended || context.cancelled) {
      this.leave(context, context.cancelled ? 'cancelled' : 'ended');
      this.send({ type: 'done', done: true, status_code: 200, context_id: context.id });
    } else {
      context.stopTimer = this.options.clock.after(CONTEXT_LIFE_MS, () => this.leave(context, 'expired'));
    }
  }

  private async speak(context: Context, text: string): Promise<void> {
    const { voice, clock, timestamps } = this.options;
    const sampleRate = context.request.output_format.sample_rate;
    const startMs = context.spokenMs;
    const isWanted = () => !this.ended;
    const speech = { sampleRate, voice, clock, isWanted };
    for await (const chunk of toneChunks(text, speech)) {
      const fromMs = (chunk.first * 1_000) / sampleRate;
      const toMs = fromMs + (chunk.samples * 1_000) / sampleRate;
      const words = toneWords(text, voice.msPerChar).filter(
        (word) => word.startMs >= fromMs && word.startMs < toMs,
      );
      if (timestamps === 'before') this.words(context, words, startMs);
      this.send({
        type: 'chunk',
        data: chunk.bytes.toString('base64'),
        done: false,
        status_code: 206,
        step_time: 12.5,
        context_id: context.id,
        ...(context.flushes > 0 ? { flush_id: context.flushes } : {}),
      });
      if (timestamps === 'behind') this.words(context, words, startMs);
    }
    context.spokenMs += [...text].length * voice.msPerChar;
  }

  private words(
    context: Context,
    words: { text: string; startMs: number; endMs: number }[],
    startMs: number,
  ): void {
    if (context.request.add_timestamps !== true || words.length === 0) return;
    this.send({
      type: 'timestamps',
      done: false,
      status_code: 206,
      context_id: context.id,
      word_timestamps: {
        words: words.map((word) => word.text),
        start: words.map((word) => (startMs + word.startMs) / 1_000),
        end: words.map((word) => (startMs + word.endMs) / 1_000),
      },
    });
  }

  private leave(context: Context, how: 'ended' | 'cancelled' | 'expired'): void {
    context.stopTimer();
    this.contexts.delete(context.id);
    this.over.set(context.id, how);
  }

  private refuse(problem: string, status: number, id: string | undefined): void {
    this.options.violations.add(problem);
    this.error(problem, { status, code: 'invalid_request', id });
  }

  private error(message: string, what: { status: number; code: string; id: string | undefined }): void {
    this.options.socket.send({
      type: 'error',
      title: 'Request refused',
      message,
      error_code: what.code,
      status_code: what.status,
      request_id: 'req_emulated',
      done: true,
      ...(what.id === undefined ? {} : { context_id: what.id }),
    });
  }

  private send(message: Record<string, unknown>): void {
    if (!this.ended) this.options.socket.answer(message);
  }

  private idle(): void {
    this.stopIdle();
    if (this.ended) return;
    const { clock, idleMs, socket } = this.options;
    this.stopIdle = clock.after(idleMs, () => {
      this.end();
      socket.close(1000, 'idle');
    });
  }
}

function identityOf(request: Request): string {
  const { transcript: _, continue: __, flush: ___, ...rest } = request;
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}
