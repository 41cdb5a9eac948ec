import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { checkFields, type Fields } from './kit/field-rules.ts';
import type { Violations } from './kit/violations.ts';
import { type ToneVoice, toneChunks } from './speech-tone.ts';

/** How this ElevenLabs behaves where the vendor's builds differ, or where a test wants its bad side. */
export interface ElevenLabsQuirks {
  /** Both spellings of each occur. */
  startKey: 'charStartTimesMs' | 'charsStartTimesMs';
  durationKey: 'charDurationsMs' | 'charsDurationsMs';
  contextKey: 'contextId' | 'context_id';
  finalKey: 'isFinal' | 'is_final';
  /** Messages with `audio: null` and `flush_done` ones between the others. */
  extras: boolean;
  /** Chunks of a context that still come after it was closed in the middle. */
  lateChunks: number;
  /**
   * A close that follows its text before there is any audio of it overtakes the text: nothing is spoken and no end is
   * told (pipecat-ai/pipecat issues 4681, 5271 and 5282).
   */
  closeOvertakes: boolean;
}

const MAX_CONTEXTS = 5;

const MESSAGE: Fields = {
  text: { type: 'string' },
  context_id: { type: 'string', maxLength: 100 },
  flush: { type: 'boolean' },
  try_trigger_generation: { type: 'boolean' },
  close_context: { type: 'boolean' },
  close_socket: { type: 'boolean' },
  voice_settings: {
    type: 'object',
    fields: {
      stability: { type: 'number', min: 0, max: 1 },
      similarity_boost: { type: 'number', min: 0, max: 1 },
      style: { type: 'number', min: 0, max: 1 },
      use_speaker_boost: { type: 'boolean' },
      speed: { type: 'number', min: 0.7, max: 1.2 },
    },
  },
  generation_config: {
    type: 'object',
    fields: {
      chunk_length_schedule: { type: 'array', items: { type: 'integer', min: 50, max: 500 }, maxItems: 16 },
    },
  },
  pronunciation_dictionary_locators: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        pronunciation_dictionary_id: { type: 'string', required: true },
        version_id: { type: 'string' },
      },
    },
  },
};

type Message = {
  text?: string;
  context_id?: string;
  flush?: boolean;
  close_context?: boolean;
  close_socket?: boolean;
  voice_settings?: object;
};

interface Context {
  id: string;
  buffered: string;
  /** Texts whose audio is being made or waits for it. */
  queue: string[];
  working: boolean;
  closed: boolean;
  flushed: boolean;
  /** Some of its audio has left. */
  sounded: boolean;
  chunksLeft: number;
}

interface ElevenLabsSessionParts {
  socket: EmulatedSocket;
  voice: ToneVoice;
  quirks: ElevenLabsQuirks;
  clock: ProviderClock;
  violations: Violations;
  sampleRate: number;
  autoMode: boolean;
  syncAlignment: boolean;
  inactivityMs: number;
}

/** One connection: its contexts, what they are asked, and the tones that they answer. */
export class ElevenLabsSession {
  private readonly options: ElevenLabsSessionParts;
  private readonly contexts = new Map<string, Context>();
  private readonly closedIds = new Set<string>();
  private stopIdle: () => void = () => undefined;
  private ended = false;

  constructor(options: ElevenLabsSessionParts) {
    this.options = options;
    this.idle();
  }

  receive(json: unknown): void {
    this.idle();
    const problems = checkFields(json, MESSAGE, 'message');
    const message = json as Message;
    if (problems.length > 0) this.refuse(problems.join('; '));
    else if (message.close_socket) this.closeSocket();
    else if (message.context_id === undefined) this.refuse('a message without context_id');
    else this.forContext(message.context_id, message);
  }

  /** Closes as the vendor does on a policy violation, and notes the trespass. */
  refuse(problem: string, error = 'policy_violation'): void {
    this.options.violations.add(problem);
    this.fail(problem, error);
  }

  end(): void {
    this.ended = true;
    this.stopIdle();
    this.contexts.clear();
  }

  private forContext(id: string, message: Message): void {
    const context = this.contexts.get(id);
    if (message.close_context) {
      if (context && !context.closed) this.closeContext(context);
      return;
    }
    if (this.closedIds.has(id)) {
      this.refuse(`context ${id} was closed and is used again`);
      return;
    }
    if (!context) {
      this.open(id, message);
      return;
    }
    if (message.voice_settings) this.refuse('voice_settings stand behind the first message of a context');
    else this.take(context, message);
  }

  private open(id: string, message: Message): void {
    // One that was closed counts until it has come to its end.
    if (this.contexts.size >= MAX_CONTEXTS) {
      this.refuse('Maximum simultaneous contexts exceeded (5)', 'max_active_conversations');
      return;
    }
    if (message.text === '')
      this.options.violations.add(`context ${id}: a keep-alive before its first message`);
    else if (message.text !== ' ') this.options.violations.add(`context ${id} does not begin with text " "`);
    const context: Context = {
      id,
      buffered: '',
      queue: [],
      working: false,
      closed: false,
      flushed: false,
      sounded: false,
      chunksLeft: Number.POSITIVE_INFINITY,
    };
    this.contexts.set(id, context);
    if (message.text?.trim()) this.take(context, message);
  }

  private take(context: Context, message: Message): void {
    const { violations, autoMode } = this.options;
    const text = message.text ?? '';
    if (text !== '') {
      if (autoMode && !text.endsWith(' ')) violations.add('auto_mode: a text ends inside a word');
      context.buffered += text;
      context.flushed = false;
    }
    if (message.flush || (autoMode && text !== '')) this.generate(context);
    if (message.flush) context.flushed = true;
  }

  private generate(context: Context): void {
    const text = context.buffered.trim();
    context.buffered = '';
    if (text !== '') context.queue.push(text);
    void this.work(context);
  }

  private closeContext(context: Context): void {
    const { quirks } = this.options;
    context.closed = true;
    this.closedIds.add(context.id);
    if (quirks.closeOvertakes && !context.sounded) {
      context.chunksLeft = 0;
      context.queue.length = 0;
      return;
    }
    if (!context.flushed) {
      context.queue.length = 0;
      context.chunksLeft = quirks.lateChunks;
    }
    void this.work(context);
  }

  private async work(context: Context): Promise<void> {
    if (context.working) return;
    context.working = true;
    for (let text = context.queue.shift(); text !== undefined; text = context.queue.shift()) {
      await this.speak(context, text);
    }
    context.working = false;
    const { closeOvertakes, contextKey, finalKey } = this.options.quirks;
    if (!context.closed || this.ended || !this.contexts.delete(context.id)) return;
    if (closeOvertakes && !context.sounded) return;
    this.send({ [finalKey]: true, [contextKey]: context.id });
  }

  private async speak(context: Context, text: string): Promise<void> {
    const { sampleRate, voice, clock, quirks } = this.options;
    const isWanted = () => !this.ended && context.chunksLeft > 0;
    const id = { [quirks.contextKey]: context.id };
    for await (const chunk of toneChunks(text, { sampleRate, voice, clock, isWanted })) {
      context.chunksLeft -= 1;
      context.sounded = true;
      if (quirks.extras) this.send({ audio: null, [quirks.finalKey]: null, ...id });
      const alignment = this.options.syncAlignment
        ? this.alignment(text, chunk.first, chunk.first + chunk.samples)
        : null;
      const audio = chunk.bytes.toString('base64');
      this.send({
        audio,
        [quirks.finalKey]: null,
        alignment,
        normalizedAlignment: alignment,
        ...id,
      });
    }
    if (quirks.extras && isWanted()) this.send({ type: 'flush_done', ...id });
  }

  /** The characters that begin in this piece of the tone, in times from the piece's own start. */
  private alignment(text: string, from: number, to: number): Record<string, unknown> {
    const { sampleRate, voice, quirks } = this.options;
    const toMs = (samples: number) => (samples * 1_000) / sampleRate;
    const all = [...text].map((char, index) => ({ char, startMs: index * voice.msPerChar }));
    const here = all.filter(({ startMs }) => startMs >= toMs(from) && startMs < toMs(to));
    return {
      chars: here.map(({ char }) => char),
      [quirks.startKey]: here.map(({ startMs }) => Math.round(startMs - toMs(from))),
      [quirks.durationKey]: here.map(() => voice.msPerChar),
    };
  }

  private send(message: Record<string, unknown>): void {
    if (!this.ended) this.options.socket.answer(message);
  }

  private closeSocket(): void {
    this.end();
    this.options.socket.close(1000, '');
  }

  private fail(message: string, error: string): void {
    if (this.ended) return;
    this.options.socket.send({ message, error, code: 1008 });
    this.end();
    // A close reason holds at most 123 bytes.
    this.options.socket.close(1008, message.slice(0, 100));
  }

  private idle(): void {
    this.stopIdle();
    if (this.ended) return;
    const { clock, inactivityMs } = this.options;
    const sentence = `no new text within ${inactivityMs / 1_000} seconds`;
    this.stopIdle = clock.after(inactivityMs, () => this.fail(sentence, 'input_timeout_exceeded'));
  }
}
