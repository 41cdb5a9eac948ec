import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import type { ProviderContext } from '../provider-context.ts';
import type { SpeechToText } from '../speech-to-text.ts';
import { vendorUrl } from '../vendor-url.ts';
import { readSarvamClose, readSarvamRefusal } from './sarvam-errors.ts';
import { sarvamLegacy } from './sarvam-legacy.ts';
import { sarvamRealtimeDialect } from './sarvam-realtime.ts';
import { sarvamHeaders, sarvamPrompt } from './sarvam-settings.ts';
import { StreamSession } from './stream-session.ts';
import { SARVAM_LANGUAGES } from './stt-models.ts';
import {
  primaryLanguage,
  readSttSettings,
  type SttSettings,
  settingChoice,
  settingNumber,
} from './stt-settings.ts';

/** As large open clients send it. */
const CHUNK_MS = 50;
/** The vendor closes an idle socket, after a time that it does not name. */
const KEEP_ALIVE_MS = 5_000;

/**
 * Sarvam speech to text: its realtime socket, or with `endpoint: legacy` the older one,
 * which accounts without access to the realtime beta use.
 *
 * Settings: `model` (saaras:v3-realtime; legacy saaras:v3), `language` (auto where absent), `mode` (transcribe),
 * `stream_type` (balanced), `endpointing` (vad; manual lets the call's own turn model mark the utterances),
 * `threshold`, `prefix_padding_ms`, `silence_duration_ms`, `min_speech_duration_ms` (vad only), `prompt`, `keyterms`
 * (a prompt where none is named), `high_vad_sensitivity` (legacy), `interim`, `base_url`, `timeout_ms`.
 * Throws `bad_provider_config`.
 */
export async function createSarvamStt(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<SpeechToText> {
  const settings = readSttSettings('sarvam', config, context);
  const language = readLanguage(settings);
  const isLegacy = settingChoice(settings, 'endpoint') === 'legacy';
  if (isLegacy && settings.read.raw('model') === undefined) settings.model = 'saaras:v3';
  if (settings.model.endsWith('-realtime') === isLegacy) {
    const example = isLegacy ? 'saaras:v3' : 'saaras:v3-realtime';
    throw settings.read.refusal(
      'model',
      `"${settings.model}" is not a model of this endpoint; use one such as ${example}`,
    );
  }
  if (isLegacy) return sarvamLegacy(settings, context, language);
  const isManual = settingChoice(settings, 'endpointing') === 'manual';
  const url = realtimeUrl(settings, language, isManual);
  return {
    name: 'sarvam',
    model: settings.model,
    // Under manual endpointing the vendor wants utterances and no silence between them.
    wantsSilence: !isManual,
    open: (handlers) =>
      StreamSession.open(
        {
          settings,
          context,
          chunkMs: CHUNK_MS,
          separator: ' ',
          waitsForReady: true,
          socket: {
            url,
            headers: sarvamHeaders(settings),
            keepAlive: { idleMs: KEEP_ALIVE_MS, send: (socket) => socket.send('{"event":"ping"}') },
            readRefusal: readSarvamRefusal,
            readClose: readSarvamClose,
          },
          dialect: (session) => sarvamRealtimeDialect(session, isManual),
        },
        handlers,
      ),
  };
}

function realtimeUrl(settings: SttSettings, language: string, isManual: boolean): string {
  const ofVad = (key: string) => (isManual ? undefined : settingNumber(settings, key));
  return vendorUrl(settings.read, {
    transport: 'ws',
    standard: 'wss://api.sarvam.ai',
    path: '/speech-to-text-realtime/ws',
    query: {
      language_code: language,
      model: settings.model,
      stream_type: settingChoice(settings, 'stream_type'),
      mode: settingChoice(settings, 'mode'),
      endpointing: isManual ? 'manual' : 'vad',
      encoding: 'linear16',
      sample_rate: settings.sampleRate,
      // They tell which audio need not be heard again when the connection breaks.
      return_timestamps: true,
      prompt: sarvamPrompt(settings),
      threshold: ofVad('threshold'),
      prefix_padding_ms: ofVad('prefix_padding_ms'),
      silence_duration_ms: ofVad('silence_duration_ms'),
      min_speech_duration_ms: ofVad('min_speech_duration_ms'),
    },
  });
}

/** `en`, `en-US` and `en-IN` are one to this vendor; `od` and `or` are both Odia. */
function readLanguage(settings: SttSettings): string {
  const primary = primaryLanguage(settings);
  if (primary === undefined) return 'auto';
  const code = `${primary === 'od' ? 'or' : primary}-IN`;
  if (!SARVAM_LANGUAGES.includes(code)) {
    const known = SARVAM_LANGUAGES.join(', ');
    throw settings.read.refusal('language', `"${settings.language}" is none of ${known}`);
  }
  return code;
}
