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
  settingFlag,
  settingNumber,
  settingTexts,
} from '../../stt/stt-settings.ts';
import { readDeepgramClose, readDeepgramRefusal } from './errors.ts';
import { fluxDialect } from './flux-dialect.ts';

/** Strongly advised by the vendor. */
const CHUNK_MS = 80;
/** There is no KeepAlive message; silence keeps the socket from being closed after 10 s without audio. */
const KEEP_ALIVE_MS = 4_000;

/**
 * Deepgram Flux, `/v2/listen`: the vendor itself says when a turn begins, may be over and
 * is over. Uses the key of `deepgram`.
 *
 * Settings: `model` (flux-general-en, or flux-general-multi where the bot's language is not English),
 * `eot_threshold` (0.7), `eager_eot_threshold` (off), `eot_timeout_ms` (5000), `language_hints` (multi only),
 * `keyterms`, `numerals`, `profanity_filter`, `redact`, `tag`, `mip_opt_out`, `interim` (true), `base_url`,
 * `timeout_ms`, `force_end_turn` (false: the vendor must have enabled ForceEndTurn, else it closes the connection on
 * it). Throws `bad_provider_config`.
 */
export async function createDeepgramFlux(
  known: SttModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<SpeechToText> {
  const settings = readSttSettings(known, config, context);
  const language = primaryLanguage(settings);
  const isEnglish = settings.language === undefined || language === 'en';
  if (settings.read.raw('model') === undefined && !isEnglish) {
    settings.model = 'flux-general-multi';
  }
  const url = listenUrl(settings, language);
  const mayForceEnd = settingFlag(settings, 'force_end_turn');
  return {
    name: 'deepgram_flux',
    model: settings.model,
    wantsSilence: true,
    detectsTurns: true,
    open: (handlers) => {
      let sendSilence = () => {};
      return StreamSession.open(
        {
          settings,
          context,
          chunkMs: CHUNK_MS,
          separator: ' ',
          waitsForReady: true,
          socket: {
            url,
            headers: settings.apiKey === undefined ? {} : { authorization: `Token ${settings.apiKey}` },
            keepAlive: { idleMs: KEEP_ALIVE_MS, send: () => sendSilence() },
            readRefusal: readDeepgramRefusal,
            readClose: readDeepgramClose,
          },
          dialect: (session) => {
            const dialect = fluxDialect(session, { mayForceEnd, chunkMs: CHUNK_MS });
            sendSilence = dialect.sendSilence;
            return dialect;
          },
        },
        handlers,
      );
    },
  };
}

function listenUrl(settings: SttSettings, language: string | undefined): string {
  const { read, model } = settings;
  const eotThreshold = settingNumber(settings, 'eot_threshold') ?? 0.7;
  const eagerThreshold = settingNumber(settings, 'eager_eot_threshold');
  if (eagerThreshold !== undefined && eagerThreshold > eotThreshold) {
    throw read.refusal('eager_eot_threshold', `must not be above eot_threshold (${eotThreshold})`);
  }
  const takesHints = model !== 'flux-general-en';
  const named = settingTexts(settings, 'language_hints');
  if (named.length > 0 && !takesHints) {
    throw read.refusal('language_hints', 'is understood by the model flux-general-multi only');
  }
  const hints =
    named.length === 0 && language !== undefined && settings.known.languages?.includes(language)
      ? [language]
      : named;
  return vendorUrl(read, {
    transport: 'ws',
    standard: settings.known.baseUrl,
    path: '/v2/listen',
    query: {
      model,
      encoding: 'linear16',
      sample_rate: settings.sampleRate,
      eot_threshold: eotThreshold,
      eager_eot_threshold: eagerThreshold,
      eot_timeout_ms: settingNumber(settings, 'eot_timeout_ms'),
      keyterm: settings.keyterms,
      language_hint: takesHints ? hints : undefined,
      numerals: settingFlag(settings, 'numerals') || undefined,
      profanity_filter: settingFlag(settings, 'profanity_filter') || undefined,
      redact: settingTexts(settings, 'redact'),
      tag: settingTexts(settings, 'tag'),
      mip_opt_out: settingFlag(settings, 'mip_opt_out') || undefined,
    },
  });
}
