import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import { type Emulator, startEmulator } from './kit/emulator.ts';
import { checkFields, type Fields } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import { DEFAULT_TONE_VOICE, type ToneVoice, toneChunks } from './speech-tone.ts';

export interface OpenAiSpeechOptions {
  /** Null for a local server that asks for none. */
  apiKey?: string | null;
  clock?: ProviderClock;
  tls?: boolean;
  voice?: Partial<ToneVoice>;
  contentType?: string;
}

export interface OpenAiSpeechEmulator extends Emulator {
  readonly apiKey: string | null;
  readonly voice: ToneVoice;
  /** What the bot's `base_url` is. */
  readonly baseUrl: string;
}

const PCM_RATE = 24_000;

const BODY: Fields = {
  model: { type: 'string', required: true },
  input: { type: 'string', required: true, maxLength: 4_096 },
  voice: { type: 'string', required: true },
  instructions: { type: 'string' },
  // The others exist and are not made here: only this one has a rate that is known.
  response_format: { type: 'string', required: true, oneOf: ['pcm'] },
  speed: { type: 'number', min: 0.25, max: 4 },
  stream_format: { type: 'string', oneOf: ['audio'] },
};

/** `POST /v1/audio/speech` of OpenAI and of local servers. */
export async function startOpenAiSpeech(options: OpenAiSpeechOptions = {}): Promise<OpenAiSpeechEmulator> {
  const apiKey = options.apiKey === undefined ? 'sk-test-1234567890' : options.apiKey;
  const voice: ToneVoice = { ...DEFAULT_TONE_VOICE, ...options.voice };
  const emulator: Emulator = await startEmulator({
    vendor: 'openai speech',
    secrets: apiKey === null ? [] : [apiKey],
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.tls ? { tls: true } : {}),
    http: [
      { method: 'OPTIONS', path: '/v1/audio/speech', handle: (exchange) => exchange.reply(405) },
      { method: 'POST', path: '/v1/audio/speech', handle: speak },
    ],
  });

  async function speak(exchange: HttpExchange): Promise<void> {
    if (apiKey !== null && exchange.headers.authorization !== `Bearer ${apiKey}`) {
      exchange.reply(401, speechError('invalid_api_key', 'Incorrect API key provided.'));
      return;
    }
    const body = await exchange.json();
    const problems = checkFields(body, BODY, 'openai speech');
    for (const key of exchange.query.keys()) problems.push(`openai speech: unknown query key ${key}`);
    if (problems.length > 0) {
      emulator.violations.add(...problems);
      exchange.reply(400, speechError('invalid_value', problems.join('; ')));
      return;
    }
    const stream = await exchange.stream(200, { 'content-type': options.contentType ?? 'audio/pcm' });
    const { input } = body as { input: string };
    const isWanted = () => stream.open;
    const speech = { sampleRate: PCM_RATE, voice, clock: emulator.clock, isWanted };
    for await (const chunk of toneChunks(input, speech)) {
      if (!(await stream.write(chunk.bytes))) return;
    }
    await stream.end();
  }

  return Object.assign(emulator, { apiKey, voice, baseUrl: `${emulator.httpUrl}/v1` });
}

export function speechError(code: string, message: string): Record<string, unknown> {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}
