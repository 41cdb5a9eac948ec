import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import type { SpeechToText } from '../../contract/speech-to-text.ts';
import { StreamSession } from '../../stt/stream-session.ts';
import type { SttModels } from '../../stt/stt-models.ts';
import {
  primaryLanguage,
  readSttSettings,
  type SttSettings,
  settingChoice,
  settingNumber,
  settingText,
} from '../../stt/stt-settings.ts';
import { readSarvamClose, readSarvamRefusal } from './stt-errors.ts';
import { type SarvamHints, sarvamLegacy } from './stt-legacy.ts';
import { sarvamRealtimeDialect } from './stt-realtime.ts';

/** As large open clients send it. */
const CHUNK_MS = 50;
/** The vendor closes an idle socket, after a time that it does not name. */
const KEEP_ALIVE_MS = 5_000;
/** Of saaras:v4 (Sarvam's documentation, keyterm prompting). */
const MAX_KEYTERMS = 50;
const MAX_KEYTERM_CHARS = 64;

/**
 * Sarvam speech to text: its realtime socket, or with `endpoint: legacy` the older one,
 * which accounts without access to the realtime beta use.
 *
 * Settings: `model` (saaras:v3-realtime; legacy saaras:v3), `language` (auto where absent), `mode` (transcribe),
 * `stream_type` (balanced), `endpointing` (vad; manual lets the call's own turn model mark the utterances),
 * `threshold`, `prefix_padding_ms`, `silence_duration_ms`, `min_speech_duration_ms` (vad only), `prompt`, `keyterms`
 * (saaras:v4; for the others a prompt where none is named), `high_vad_sensitivity` (legacy), `interim`, `base_url`,
 * `timeout_ms`.
 * Throws `bad_provider_config`.
 */
export async function createSarvamStt(
  known: SttModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<SpeechToText> {
  const settings = readSttSettings(known, config, context);
  const language = readLanguage(settings);
  const isLegacy = settingChoice(settings, 'endpoint') === 'legacy';
  if (isLegacy && settings.read.raw('model') === undefined) settings.model = 'saaras:v3';
  // The newest model is the same on both sockets; the one before it has a name for each.
  if (isLegacy ? settings.model.endsWith('-realtime') : settings.model === 'saaras:v3') {
    const example = isLegacy ? 'saaras:v3' : 'saaras:v3-realtime';
    throw settings.read.refusal(
      'model',
      `"${settings.model}" is not a model of this endpoint; use one such as ${example}`,
    );
  }
  const headers = headersOf(settings);
  const asked = { language, ...hintsOf(settings) };
  if (isLegacy) return sarvamLegacy(settings, context, { ...asked, headers });
  const isManual = settingChoice(settings, 'endpointing') === 'manual';
  const url = realtimeUrl(settings, { ...asked, isManual });
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
            headers,
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

function realtimeUrl(
  settings: SttSettings,
  asked: SarvamHints & { language: string; isManual: boolean },
): string {
  const { language, prompt, keyterms, isManual } = asked;
  const ofVad = (key: string) => (isManual ? undefined : settingNumber(settings, key));
  return vendorUrl(settings.read, {
    transport: 'ws',
    standard: settings.known.baseUrl,
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
      prompt,
      keyterms,
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
  const known = settings.known.languages ?? [];
  if (!known.includes(code)) {
    throw settings.read.refusal('language', `"${settings.language}" is none of ${known.join(', ')}`);
  }
  return code;
}

/** The key goes into a header; the SDK's way of putting it into the subprotocol too would only show it twice. */
function headersOf(settings: SttSettings): Record<string, string> {
  return settings.apiKey === undefined ? {} : { 'api-subscription-key': settings.apiKey };
}

/**
 * The hints that go with the audio. The newest model takes terms as such, a few and short ones; to the others, and
 * beyond that, they are a prompt, where the bot has none of its own.
 */
function hintsOf(settings: SttSettings): SarvamHints {
  const takesTerms = settings.model === 'saaras:v4';
  const terms = [...new Set(settings.keyterms)];
  const taken = (takesTerms ? terms : [])
    .filter((term) => [...term].length <= MAX_KEYTERM_CHARS)
    .slice(0, MAX_KEYTERMS);
  const rest = terms.filter((term) => !taken.includes(term)).join(', ');
  return {
    prompt: settingText(settings, 'prompt') ?? (rest === '' ? undefined : rest),
    keyterms: taken.length === 0 ? undefined : JSON.stringify(taken),
  };
}
