import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { checkFields, type Fields } from './kit/field-rules.ts';
import type { Violations } from './kit/violations.ts';
import { type ToneVoice, toneChunks } from './speech-tone.ts';

interface SarvamTtsSessionParts {
  socket: EmulatedSocket;
  voice: ToneVoice;
  flagged: string[];
  clock: ProviderClock;
  violations: Violations;
  model: string;
  completionEvent: boolean;
  idleMs: number;
}

const LANGUAGES = ['bn', 'en', 'gu', 'hi', 'kn', 'ml', 'mr', 'od', 'pa', 'ta', 'te'].map(
  (code) => `${code}-IN`,
);
const RATES = [8_000, 16_000, 22_050, 24_000];
export const SARVAM_VOICE_MODELS = ['bulbul:v2', 'bulbul:v3', 'bulbul:v4-flash'];
const SPEAKERS: Record<string, RegExp> = {
  // The newer model has 37 names; the list is open, so only the shape of a name and the older names are checked.
  'bulbul:v3': /^(?!(anushka|manisha|vidya|arya|abhilash|karun|hitesh)$)[a-z]+$/,
  'bulbul:v2': /^(anushka|manisha|vidya|arya|abhilash|karun|hitesh)$/,
  // A person, a language and a manner.
  'bulbul:v4-flash': /^[a-z]+_(bn|en|enhi|gu|hi|kn|ml|mr|od|pa|ta|te)(_[a-z]+)+$/,
};
/** Ranges of each model, and what it takes without effect (Sarvam's documentation). */
const KNOBS: Record<string, { ranges: Record<string, [number, number]>; idle: string[] }> = {
  'bulbul:v2': { ranges: { loudness: [0.3, 3] }, idle: ['temperature'] },
  'bulbul:v3': { ranges: { pace: [0.5, 2] }, idle: ['pitch', 'loudness'] },
  'bulbul:v4-flash': {
    ranges: { pace: [0.5, 2], pitch: [-0.5, 0.5], loudness: [0.1, 2.5] },
    idle: ['temperature'],
  },
};
const MAX_TEXT_CHARS = 2_500;

const CONFIG: Fields = {
  target_language_code: { type: 'string', oneOf: LANGUAGES },
  language_code: { type: 'string', oneOf: LANGUAGES },
  speaker: { type: 'string', required: true },
  model: { type: 'string', oneOf: SARVAM_VOICE_MODELS },
  speech_sample_rate: {
    type: 'any',
    test: (rate: unknown) => (RATES.includes(Number(rate)) ? null : `is none of ${RATES.join(', ')}`),
  },
  // Only what a call can use is spoken here; the others are the vendor's too.
  output_audio_codec: {
    type: 'string',
    required: true,
    oneOf: ['linear16', 'mulaw', 'alaw', 'opus', 'flac', 'aac', 'wav', 'mp3'],
  },
  output_audio_bitrate: { type: 'string', oneOf: ['32k', '64k', '96k', '128k', '192k'] },
  pace: { type: 'number', min: 0.3, max: 3 },
  pitch: { type: 'number', min: -0.75, max: 0.75 },
  loudness: { type: 'number', min: 0.1, max: 3 },
  temperature: { type: 'number', min: 0.01, max: 1 },
  enable_preprocessing: { type: 'boolean' },
  dict_id: { type: 'string', nullable: true },
  min_buffer_size: { type: 'integer', min: 1 },
  max_chunk_length: { type: 'integer', min: 1 },
};

const MESSAGES: Record<string, Fields> = {
  config: { type: { type: 'string' }, data: { type: 'object', required: true, fields: CONFIG } },
  text: {
    type: { type: 'string' },
    data: { type: 'object', required: true, fields: { text: { type: 'string', required: true } } },
  },
  flush: { type: { type: 'string' } },
  ping: { type: { type: 'string' } },
};

interface Config {
  speaker: string;
  speech_sample_rate?: number | string;
  min_buffer_size?: number;
  max_chunk_length?: number;
  [key: string]: unknown;
}

/** One connection: no contexts, no cancel; what is buffered is spoken in order. */
export class SarvamTtsSession {
  private readonly parts: SarvamTtsSessionParts;
  private config: Config | null = null;
  private buffered = '';
  private readonly queue: ({ text: string } | 'final')[] = [];
  private working = false;
  private stopIdle: () => void = () => undefined;
  private ended = false;

  constructor(parts: SarvamTtsSessionParts) {
    this.parts = parts;
    this.idle();
  }

  receive(json: unknown): void {
    this.idle();
    const message = json as { type?: string; data?: Record<string, unknown> } | undefined;
    const fields = MESSAGES[message?.type ?? ''];
    if (!message || !fields) {
      this.refuse(`unknown message type ${message?.type}`);
      return;
    }
    const problems = checkFields(message, fields, `sarvam tts ${message.type}`);
    if (problems.length > 0) this.refuse(problems.join('; '));
    else if (message.type === 'config') this.configure(message.data as Config);
    else if (message.type === 'ping') return;
    else if (!this.config) this.refuse(`${message.type} before config`);
    else if (message.type === 'text') this.text(String(message.data?.text));
    else this.flush();
  }

  end(): void {
    this.ended = true;
    this.stopIdle();
  }

  private configure(config: Config): void {
    const { model, flagged } = this.parts;
    const { ranges = {}, idle = [] } = KNOBS[model] ?? {};
    const problems: string[] = [];
    if (!config.language_code && !config.target_language_code) problems.push('config names no language');
    if (config.model !== undefined && config.model !== model)
      problems.push('config and query name two models');
    if (!SPEAKERS[model]?.test(config.speaker)) problems.push(`${config.speaker} does not speak ${model}`);
    for (const [key, [least, most]] of Object.entries(ranges)) {
      const value = config[key];
      if (typeof value === 'number' && (value < least || value > most))
        problems.push(`${key} is out of range`);
    }
    if (problems.length > 0) {
      this.refuse(problems.join('; '));
      return;
    }
    for (const key of idle) {
      if (key in config) flagged.push(`${key} has no effect on ${model}`);
    }
    // A second config takes effect behind what is buffered.
    if (this.config) this.speakBuffered();
    this.config = config;
  }

  private text(text: string): void {
    if (text.length > MAX_TEXT_CHARS) {
      this.refuse(`a text of more than ${MAX_TEXT_CHARS} characters`);
      return;
    }
    this.buffered += text;
    if (this.buffered.length >= (this.config?.min_buffer_size ?? 50)) this.speakBuffered();
  }

  private flush(): void {
    this.speakBuffered();
    this.queue.push('final');
    void this.work();
  }

  private speakBuffered(): void {
    const longest = this.config?.max_chunk_length ?? 150;
    for (let rest = this.buffered; rest !== ''; rest = rest.slice(longest)) {
      this.queue.push({ text: rest.slice(0, longest) });
    }
    this.buffered = '';
    void this.work();
  }

  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    for (let next = this.queue.shift(); next && !this.ended; next = this.queue.shift()) {
      if (next !== 'final') await this.speak(next.text);
      else if (this.parts.completionEvent) {
        const timestamp = new Date().toISOString();
        this.send({ type: 'event', data: { event_type: 'final', message: 'done', timestamp } });
      }
    }
    this.working = false;
  }

  private async speak(text: string): Promise<void> {
    const { voice, clock } = this.parts;
    const sampleRate = Number(this.config?.speech_sample_rate ?? 24_000);
    const isWanted = () => !this.ended;
    for await (const chunk of toneChunks(text, { sampleRate, voice, clock, isWanted })) {
      const audio = chunk.bytes.toString('base64');
      this.send({ type: 'audio', data: { content_type: 'audio/raw', audio, request_id: 'req_emulated' } });
    }
  }

  private refuse(problem: string): void {
    this.parts.violations.add(problem);
    this.parts.socket.send({
      type: 'error',
      data: { message: problem, code: 422, request_id: 'req_emulated' },
    });
  }

  private send(message: Record<string, unknown>): void {
    if (!this.ended) this.parts.socket.answer(message);
  }

  private idle(): void {
    this.stopIdle();
    if (this.ended) return;
    const { clock, idleMs, socket } = this.parts;
    this.stopIdle = clock.after(idleMs, () => {
      this.end();
      socket.close(1000, 'idle');
    });
  }
}
