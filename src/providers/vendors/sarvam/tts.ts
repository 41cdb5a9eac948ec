import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError } from '../../../platform/app-error.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import type { ProviderFailure } from '../../contract/provider-error.ts';
import type { TextToSpeech } from '../../contract/text-to-speech.ts';
import { ClauseStream } from '../../tts/clause-stream.ts';
import { textPieces, worthSaying } from '../../tts/spoken-text.ts';
import type { SettingRange, TtsModels } from '../../tts/tts-models.ts';
import { closedError } from '../../tts/voice-line.ts';
import { present, VoiceSettings } from '../../tts/voice-settings.ts';
import { type SarvamConnection, SarvamConnections } from './tts-connections.ts';

/** A socket that was opened this long ago was open before its clause came. */
const IDLE_FROM_MS = 1_000;
/** What a model has beside or in place of what v3 has (Sarvam's documentation, choosing a model). */
interface ModelTraits {
  voice: string;
  pace?: SettingRange;
  /** Null where the model has none of it. */
  pitch: SettingRange | null;
  loudness: SettingRange | null;
  temperature: boolean;
}

const V2: ModelTraits = {
  voice: 'anushka',
  pace: { minimum: 0.3, maximum: 3, fallback: 1 },
  pitch: { minimum: -0.75, maximum: 0.75, fallback: null },
  loudness: { minimum: 0.3, maximum: 3, fallback: null },
  temperature: false,
};
const V3: ModelTraits = { voice: 'shubh', pitch: null, loudness: null, temperature: true };
/** The vendor fixes its temperature. */
const V4_FLASH: ModelTraits = {
  voice: 'shubh_enhi_ads',
  pitch: { minimum: -0.5, maximum: 0.5, fallback: null },
  loudness: { minimum: 0.1, maximum: 2.5, fallback: null },
  temperature: false,
};
/** Of one message. */
const MAX_TEXT_CHARS = 2_500;

/**
 * Text to speech by Sarvam. Its socket knows neither contexts nor a cancel, so a socket speaks one clause at a time; a
 * clause that is stopped costs its socket, and a warm spare takes the next one.
 *
 * Settings: `voice` (shubh), `model` (bulbul:v3), `language` (required), `sample_rate` (the leg's), `pace` or `speed`
 * (1), `temperature` (0.6; v3), `pitch` and `loudness` (v2 and v4-flash), `min_buffer_size` (50), `max_chunk_length`
 * (150), `warm_spare` (true), `base_url`, `api_key`; ranges in vendor.ts. Throws `bad_provider_config`.
 */
export async function createSarvamTts(
  known: TtsModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<TextToSpeech> {
  const settings = new VoiceSettings(known, config);
  const model = settings.model();
  const sampleRate = settings.rate(context.sampleRate);
  const apiKey = settings.key() ?? '';
  const url = vendorUrl(settings, {
    transport: 'ws',
    standard: known.baseUrl,
    path: '/text-to-speech/ws',
    query: { model, send_completion_event: true },
  });
  const provider = 'sarvam';
  const connections = new SarvamConnections({
    url,
    apiKey,
    clock: context.clock,
    onAccepted: context.accepted,
    opening: JSON.stringify({ type: 'config', data: configData(settings, known, model, sampleRate) }),
    warmSpare: settings.flag('warm_spare', true),
  });

  async function* sayOnce(
    connection: SarvamConnection,
    text: string,
    audio: ClauseStream,
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array> {
    let isDone = false;
    try {
      connection.clause = audio;
      if (!connection.socket.isOpen) audio.fail(closedError(provider));
      for (const piece of textPieces(text, MAX_TEXT_CHARS)) {
        const message = { type: 'text', data: { text: piece } };
        await connection.socket.sendWhenClear(JSON.stringify(message), signal);
      }
      connection.socket.send(JSON.stringify({ type: 'flush' }));
      yield* audio.read(signal, () => undefined);
      isDone = true;
    } finally {
      connections.giveBack(connection, isDone);
    }
  }

  return {
    name: provider,
    model,
    sampleRate,

    async *speak(text, signal, hooks) {
      signal.throwIfAborted();
      if (!worthSaying(text)) return;
      const connection = await connections.take(signal);
      const audio = new ClauseStream({ provider, sampleRate, hooks });
      try {
        yield* sayOnce(connection, text.trim(), audio, signal);
      } catch (error) {
        // The close of a socket that was idle may cross the clause; nothing of it was heard, so it may be said again.
        const ageMs = context.clock.nowMs() - connection.openedMs;
        if (ageMs < IDLE_FROM_MS || audio.samples > 0 || signal.aborted || !isPlainClose(error)) throw error;
        context.report({ event: 'provider_reconnected', provider, family: 'tts', after: 'idle' });
        const again = new ClauseStream({ provider, sampleRate, hooks });
        yield* sayOnce(await connections.take(signal), text.trim(), again, signal);
      }
    },

    warm: () => connections.warm(),
    close: () => connections.close(),
  };
}

function configData(
  settings: VoiceSettings,
  known: TtsModels,
  model: string,
  sampleRate: number,
): Record<string, unknown> {
  const traits = model.startsWith('bulbul:v2') ? V2 : model.startsWith('bulbul:v4') ? V4_FLASH : V3;
  const paceKey = settings.raw('pace') === undefined ? 'speed' : 'pace';
  const language = vendorLanguage(settings, known);
  return present({
    // Guides and SDK disagree about the name; both are sent with one value (reference 5.3).
    target_language_code: language,
    language_code: language,
    speaker: settings.voice(traits.voice).toLowerCase(),
    model,
    speech_sample_rate: sampleRate,
    // The vendor's default is mp3.
    output_audio_codec: 'linear16',
    pace: settings.ranged(paceKey, traits.pace ?? settings.range('pace')),
    pitch: traits.pitch ? settings.ranged('pitch', traits.pitch) : undefined,
    loudness: traits.loudness ? settings.ranged('loudness', traits.loudness) : undefined,
    temperature: traits.temperature ? settings.ranged('temperature') : undefined,
    min_buffer_size: settings.ranged('min_buffer_size'),
    max_chunk_length: settings.ranged('max_chunk_length'),
  });
}

/** `hi` and `hi-IN` are both Hindi of India; Odia is `or` everywhere else and `od` here. */
function vendorLanguage(settings: VoiceSettings, known: TtsModels): string {
  const base = settings.baseLanguage();
  const code = `${base === 'or' ? 'od' : base}-IN`;
  if (!known.languages.includes(code)) {
    throw settings.refusal('language', `must be one of ${known.languages.join(', ')}`);
  }
  return code;
}

function isPlainClose(error: unknown): boolean {
  const { status } = error instanceof AppError ? (error.details as Partial<ProviderFailure>) : {};
  return typeof status === 'number' && status >= 1000 && status <= 1006;
}
