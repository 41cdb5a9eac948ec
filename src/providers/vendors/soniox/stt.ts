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
import { sonioxDialect } from './dialect.ts';

const CHUNK_MS = 40;
/** It closes after 20 s without audio or keepalive; 5 s is usual. */
const KEEP_ALIVE_MS = 5_000;
/** Largest `context`, as JSON. */
const MAX_CONTEXT_CHARS = 10_000;
const CONTEXT_KEYS = ['general', 'text', 'terms', 'translation_terms'];

/**
 * Soniox: the key travels in the first message, tokens are final once and never again. The
 * call decides when a turn ends and asks the vendor to finalize; the vendor's own endpoint detection makes words final
 * sooner.
 *
 * Settings: `model` (stt-rt-v5), `language_hints` (the bot's language where absent), `strict_hints` (false),
 * `endpoint_detection` (true), `max_endpoint_delay_ms` (1000), `endpoint_sensitivity`, `context` {general, text,
 * terms, translation_terms}, `keyterms` (join the terms of the context), `interim`, `base_url`, `timeout_ms`.
 * Throws `bad_provider_config`.
 */
export async function createSoniox(
  known: SttModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<SpeechToText> {
  const settings = readSttSettings(known, config, context);
  const firstFrame = JSON.stringify(firstMessage(settings));
  const url = vendorUrl(settings.read, {
    transport: 'ws',
    standard: settings.known.baseUrl,
    path: '/transcribe-websocket',
  });
  return {
    name: 'soniox',
    model: settings.model,
    wantsSilence: true,
    open: (handlers) =>
      StreamSession.open(
        {
          settings,
          context,
          chunkMs: CHUNK_MS,
          // Tokens bring their own spaces.
          separator: '',
          waitsForReady: false,
          socket: {
            url,
            keepAlive: { idleMs: KEEP_ALIVE_MS, send: (socket) => socket.send('{"type":"keepalive"}') },
          },
          dialect: (session) => sonioxDialect(session, firstFrame),
        },
        handlers,
      ),
  };
}

function firstMessage(settings: SttSettings): Record<string, unknown> {
  const hints = settingTexts(settings, 'language_hints');
  const primary = primaryLanguage(settings);
  if (hints.length === 0 && primary !== undefined) hints.push(primary);
  const detectsEndpoints = settingFlag(settings, 'endpoint_detection');
  const context = readContext(settings);
  return {
    ...(settings.apiKey === undefined ? {} : { api_key: settings.apiKey }),
    model: settings.model,
    audio_format: 'pcm_s16le',
    sample_rate: settings.sampleRate,
    num_channels: 1,
    ...(hints.length === 0 ? {} : { language_hints: hints }),
    ...(hints.length > 0 && settingFlag(settings, 'strict_hints') ? { language_hints_strict: true } : {}),
    enable_endpoint_detection: detectsEndpoints,
    ...(detectsEndpoints
      ? {
          max_endpoint_delay_ms: settingNumber(settings, 'max_endpoint_delay_ms'),
          endpoint_sensitivity: settingNumber(settings, 'endpoint_sensitivity'),
        }
      : {}),
    ...(context === undefined ? {} : { context }),
  };
}

function readContext(settings: SttSettings): Record<string, unknown> | undefined {
  const { read, keyterms } = settings;
  const named = read.raw('context');
  if (named === undefined) return keyterms.length === 0 ? undefined : { terms: keyterms };
  const isObject = typeof named === 'object' && !Array.isArray(named);
  if (!isObject || !Object.keys(named as object).every((key) => CONTEXT_KEYS.includes(key))) {
    throw read.refusal('context', `must be an object of ${CONTEXT_KEYS.join(', ')}`);
  }
  const given = named as Record<string, unknown>;
  const terms = given.terms ?? [];
  if (!Array.isArray(terms) || !terms.every((term) => typeof term === 'string')) {
    throw read.refusal('context.terms', 'must be a list of texts');
  }
  const all = [...new Set([...terms, ...keyterms])];
  const context = { ...given, ...(all.length === 0 ? {} : { terms: all }) };
  if (JSON.stringify(context).length > MAX_CONTEXT_CHARS) {
    throw read.refusal('context', `must be at most ${MAX_CONTEXT_CHARS} characters long`);
  }
  return context;
}
