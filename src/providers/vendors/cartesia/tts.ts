import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { isRecord, recordOf } from '../../../platform/json-shapes.ts';
import type { VendorRefusal } from '../../connect/vendor-refusal.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { classOfStatus, type FailureClass } from '../../contract/provider-error.ts';
import type { TextToSpeech, WordTiming } from '../../contract/text-to-speech.ts';
import { type ContextNews, type ContextRefusal, createContextVoice } from '../../tts/context-voice.ts';
import type { TtsModels } from '../../tts/tts-models.ts';
import { present, VoiceSettings } from '../../tts/voice-settings.ts';

/** Pinned: structured errors, the voice as an object (reference 5.2). */
const DEFAULT_VERSION = '2026-03-01';
/** From here on the voice has no `mode`. */
const VOICE_WITHOUT_MODE = '2026-08-14';
/** Of the widest plan; below it the vendor's own 429 tells. */
const MAX_CONTEXTS = 15;

/**
 * Text to speech by Cartesia: one socket per call and one context per clause, which is said in one message and
 * generated at once.
 *
 * Settings: `voice` (id, required), `model` (sonic-3.5), `language`, `sample_rate` (the leg's), `speed`, `volume`,
 * `emotion`, `max_buffer_delay_ms` (0), `word_timing` (true), `api_version` (2026-03-01), `base_url`, `api_key`; ranges
 * in vendor.ts. Throws `bad_provider_config`.
 */
export async function createCartesia(
  known: TtsModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<TextToSpeech> {
  const settings = new VoiceSettings(known, config);
  const model = settings.model();
  const sampleRate = settings.rate(context.sampleRate);
  const apiKey = settings.key() ?? '';
  const version =
    settings.text('api_version', { maximumLength: 10, pattern: /^\d{4}-\d{2}-\d{2}$/ }) ?? DEFAULT_VERSION;
  const voice = settings.voice();
  const generation = present({
    speed: settings.ranged('speed'),
    volume: settings.ranged('volume'),
    emotion: settings.text('emotion', { maximumLength: 64 }),
  });
  const fixed = present({
    model_id: model,
    voice: version < VOICE_WITHOUT_MODE ? { mode: 'id', id: voice } : { id: voice },
    output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: sampleRate },
    language: settings.baseLanguage(),
    add_timestamps: settings.flag('word_timing', true),
    max_buffer_delay_ms: settings.ranged('max_buffer_delay_ms'),
    generation_config: Object.keys(generation).length > 0 ? generation : undefined,
  });
  return createContextVoice(
    {
      provider: 'cartesia',
      model,
      sampleRate,
      socket: {
        url: vendorUrl(settings, {
          transport: 'ws',
          standard: known.baseUrl,
          path: '/tts/websocket',
        }),
        headers: { 'X-API-Key': apiKey, 'Cartesia-Version': version },
        secrets: [apiKey],
        readRefusal: ({ status, body }) => readRefusal(status, body),
      },
      maxContexts: MAX_CONTEXTS,
      clauseMessages: (context_id, transcript) => [{ ...fixed, transcript, context_id, continue: false }],
      stopMessage: (context_id) => ({ context_id, cancel: true }),
      read: readMessage,
      // After five minutes of silence; which code it closes with is not documented.
      redialAfter: ({ status }) =>
        typeof status === 'number' && status >= 1000 && status <= 1006 ? 'idle' : null,
    },
    context,
  );
}

const CLASSES: Readonly<Record<string, FailureClass>> = {
  concurrency_limited: 'rate_limit',
  quota_exceeded: 'quota',
};

/** `{error_code, title, message, request_id}`: of a refused handshake and of an error frame alike. */
function readError(fields: Record<string, unknown>): VendorRefusal {
  const { error_code: code, title, message, request_id: requestId } = fields;
  const known = typeof code === 'string' && Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
  const said = [title, message].filter((part) => typeof part === 'string').join(': ');
  return {
    ...(known ? { class: known } : {}),
    ...(typeof code === 'string' ? { vendorCode: code } : {}),
    ...(typeof requestId === 'string' ? { requestId } : {}),
    ...(said === '' ? {} : { message: said }),
  };
}

function readRefusal(status: number, body: string): VendorRefusal {
  try {
    const fields: unknown = JSON.parse(body);
    return isRecord(fields) ? { class: classOfStatus(status), ...readError(fields) } : {};
  } catch {
    return {};
  }
}

function readMessage(message: Record<string, unknown>): ContextNews | null {
  const contextId = typeof message.context_id === 'string' ? message.context_id : null;
  switch (message.type) {
    case 'chunk':
      if (typeof message.data !== 'string') throw new Error('a chunk without its audio');
      return { contextId, audio: Buffer.from(message.data, 'base64') };
    case 'timestamps': {
      const words = readWords(message.word_timestamps);
      return { contextId, words: (clause) => clause.words(words) };
    }
    case 'done':
      return { contextId, isLast: true };
    case 'error':
      return { contextId, error: readErrorFrame(message) };
    default:
      // `flush_done`, `phoneme_timestamps` and what the vendor may add.
      return null;
  }
}

function readErrorFrame(message: Record<string, unknown>): ContextRefusal {
  const status = typeof message.status_code === 'number' ? message.status_code : null;
  return { class: status === null ? 'transient' : classOfStatus(status), ...readError(message), status };
}

/** Seconds from the start of the context, which is the start of the clause. */
function readWords(timestamps: unknown): WordTiming[] {
  const { words, start, end } = recordOf(timestamps);
  if (!Array.isArray(words) || !Array.isArray(start) || !Array.isArray(end)) return [];
  const timings: WordTiming[] = [];
  for (const [index, text] of words.entries()) {
    const from = start[index];
    const to = end[index];
    if (typeof text !== 'string' || typeof from !== 'number' || typeof to !== 'number') continue;
    timings.push({ text, startMs: from * 1_000, endMs: to * 1_000 });
  }
  return timings;
}
