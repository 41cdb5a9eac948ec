import { readWav } from '../../src/platform/wav.ts';
import { type Emulator, startEmulator } from './kit/emulator.ts';
import { checkValue, type Fields, readText } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import { Ears, kitOptions, type SttEmulatorOptions } from './kit/stt-emulator.ts';
import { readForm } from './multipart.ts';

export interface TranscriptionOptions extends Omit<SttEmulatorOptions, 'key'> {
  /** null: a local server that asks for none. */
  key?: string | null;
  /** Local servers often answer with the text and nothing else. */
  profile?: 'openai' | 'local';
  /** Models that are served; any where absent. */
  models?: readonly string[];
}

/** A file that was handed in, so that a test can compare it with what was said. */
export interface HeardFile {
  sampleRate: number;
  samples: number;
  text: string;
  filename: string;
  fields: Record<string, string>;
}

export interface TranscriptionEmulator extends Emulator {
  key: string | null;
  files: HeardFile[];
  /** The forms that came, as lines to compare two clients by. */
  formLines(): string[];
}

/** The form of `POST /v1/audio/transcriptions`. */
const FIELDS: Fields = {
  model: { type: 'string', required: true },
  language: {
    type: 'string',
    test: (code: string) => (/^[a-z]{2,3}$/.test(code) ? null : 'is no ISO 639 code'),
  },
  prompt: { type: 'string' },
  response_format: { type: 'string', oneOf: ['json', 'text', 'verbose_json', 'srt', 'vtt'] },
  temperature: { type: 'number', min: 0, max: 1 },
  stream: { type: 'boolean' },
};
/** Files that are shorter are refused by the vendor. */
const MIN_AUDIO_MS = 100;
const MAX_FILE_BYTES = 25 * 1024 * 1024;

/** Speech to text over the OpenAI-compatible transcription endpoint, at the vendor's or on a local server. */
export async function startTranscription(options: TranscriptionOptions = {}): Promise<TranscriptionEmulator> {
  const key = options.key === undefined ? 'openai-test-key' : options.key;
  const { key: _, ...common } = options;
  const ears = new Ears(common);
  const files: HeardFile[] = [];
  const emulator: Emulator = await startEmulator({
    vendor: 'openai transcription',
    ...kitOptions(common, key ?? '\0no key'),
    http: [{ method: 'POST', path: /\/v1\/audio\/transcriptions$/, handle }],
  });

  async function handle(exchange: HttpExchange): Promise<void> {
    if (key !== null && exchange.headers.authorization !== `Bearer ${key}`) {
      emulator.violations.add('openai transcription: the key is missing or wrong');
      exchange.reply(
        401,
        errorBody('Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'),
      );
      return;
    }
    const form = readForm(exchange.headers['content-type'], await exchange.body());
    if (typeof form === 'string') {
      refuse(exchange, [form]);
      return;
    }
    const problems: string[] = [];
    const fields: Record<string, string> = {};
    for (const part of form) {
      if (part.name === 'file') continue;
      const rule = Object.hasOwn(FIELDS, part.name) ? FIELDS[part.name] : undefined;
      const value = part.bytes.toString();
      if (!rule) problems.push(`form: unknown field ${part.name}`);
      else problems.push(...checkValue(readText(value, rule), rule, `form.${part.name}`));
      if (Object.hasOwn(fields, part.name)) problems.push(`form: ${part.name} stands twice`);
      fields[part.name] = value;
    }
    if (fields.model === undefined) problems.push('form: field model is missing');
    const asked = form.filter((part) => part.name === 'file');
    const file = asked[0];
    if (asked.length !== 1 || !file) problems.push(`form: ${asked.length} files`);
    else if (!file.filename || !/\.wav$/i.test(file.filename))
      problems.push('form.file has no name that ends in .wav');
    else if (file.bytes.length > MAX_FILE_BYTES) problems.push('form.file is over 25 MB');
    if (problems.length > 0 || !file) {
      refuse(exchange, problems);
      return;
    }
    if (options.models && !options.models.includes(fields.model ?? '')) {
      emulator.violations.add(`openai transcription: model ${fields.model} is unknown`);
      exchange.reply(
        404,
        errorBody(`The model ${fields.model} does not exist`, 'invalid_request_error', 'model_not_found'),
      );
      return;
    }
    const heard = hear(file.bytes, file.filename ?? '', fields);
    if (typeof heard === 'string') {
      refuse(exchange, [heard]);
      return;
    }
    files.push(heard);
    if (options.answerDelayMs) await emulator.clock.sleep(options.answerDelayMs);
    answer(exchange, heard);
  }

  function hear(bytes: Buffer, filename: string, fields: Record<string, string>): HeardFile | string {
    let wav: { sampleRate: number; samples: Int16Array };
    try {
      wav = readWav(bytes);
    } catch (error) {
      return `form.file is no WAV file: ${String(error)}`;
    }
    if ((wav.samples.length * 1000) / wav.sampleRate < MIN_AUDIO_MS) return 'form.file is too short';
    const reader = ears.reader(wav.sampleRate);
    // A pause inside the file does not end the turn that the file is.
    const text = reader.readAll(wav.samples)?.text ?? '';
    return { sampleRate: wav.sampleRate, samples: wav.samples.length, text, filename, fields };
  }

  function answer(exchange: HttpExchange, heard: HeardFile): void {
    if (heard.fields.response_format === 'text') {
      exchange.reply(200, `${heard.text}\n`, { 'content-type': 'text/plain; charset=utf-8' });
      return;
    }
    const seconds = heard.samples / heard.sampleRate;
    const usage =
      options.profile === 'local' ? {} : { usage: { type: 'duration', seconds: Math.ceil(seconds) } };
    const verbose =
      heard.fields.response_format === 'verbose_json'
        ? { task: 'transcribe', language: heard.fields.language ?? 'en', duration: seconds, segments: [] }
        : {};
    exchange.reply(200, { ...verbose, text: heard.text, ...usage });
  }

  function refuse(exchange: HttpExchange, problems: readonly string[]): void {
    emulator.violations.add(...problems.map((problem) => `openai transcription: ${problem}`));
    exchange.reply(400, errorBody(problems.join('; '), 'invalid_request_error', null));
  }

  const formLines = () =>
    files.map(({ fields, filename }) => {
      const named = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
      return `> form ${[...named, `file=${filename}`].sort().join('&')}`;
    });
  return Object.assign(emulator, { key, files, formLines });
}

function errorBody(message: string, type: string, code: string | null): unknown {
  return { error: { message, type, param: null, code } };
}
