import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { recordOf } from '../../../platform/json-shapes.ts';
import type { VendorRefusal } from '../../connect/vendor-refusal.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import type { FailureClass } from '../../contract/provider-error.ts';
import type { TextToSpeech } from '../../contract/text-to-speech.ts';
import type { ClauseStream } from '../../tts/clause-stream.ts';
import { type ContextNews, createContextVoice } from '../../tts/context-voice.ts';
import { type TtsModels, ttsModel } from '../../tts/tts-models.ts';
import { present, VoiceSettings } from '../../tts/voice-settings.ts';
import { type CharacterTimes, CharacterWords } from './character-words.ts';

/** Contexts of one socket; the vendor closes the socket at the sixth (reference 5.1). */
const MAX_CONTEXTS = 5;
/** Hosts by region (reference 7.2). */
const REGION_HOST = /^api(\.us|\.(eu|in|sg)\.residency)?\.elevenlabs\.io$/;

/**
 * Text to speech by ElevenLabs: its socket of many contexts, one socket per call and one context per clause.
 *
 * Settings: `voice` (id, required), `model` (eleven_flash_v2_5), `language`, `sample_rate` (the leg's), `stability`,
 * `similarity_boost`, `style`, `speaker_boost`, `speed`, `auto_mode` (true), `word_timing` (true),
 * `inactivity_timeout` (180 s), `seed`, `region_host`, `base_url`, `api_key`; ranges in vendor.ts. Throws
 * `bad_provider_config`.
 */
export async function createElevenLabs(
  known: TtsModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<TextToSpeech> {
  const settings = new VoiceSettings(known, config);
  const model = settings.model();
  const sampleRate = settings.rate(context.sampleRate);
  const apiKey = settings.key() ?? '';
  const wordTiming = settings.flag('word_timing', true);
  const region = settings.text('region_host', { maximumLength: 100, pattern: REGION_HOST });
  const language = ttsModel(known, model)?.takesLanguage ? settings.baseLanguage() : undefined;
  const voiceSettings = present({
    stability: settings.ranged('stability'),
    similarity_boost: settings.ranged('similarity_boost'),
    style: settings.ranged('style'),
    use_speaker_boost: optionalFlag(settings, 'speaker_boost'),
    speed: settings.ranged('speed'),
  });
  const url = vendorUrl(settings, {
    transport: 'ws',
    standard: region === undefined ? known.baseUrl : `wss://${region}`,
    path: `/v1/text-to-speech/${encodeURIComponent(settings.voice())}/multi-stream-input`,
    query: {
      model_id: model,
      language_code: language,
      // The vendor's default is mp3.
      output_format: `pcm_${sampleRate}`,
      auto_mode: settings.flag('auto_mode', true),
      sync_alignment: wordTiming,
      // A caller may think for longer than the vendor's 20 s, and a warm socket is the point of warming it.
      inactivity_timeout: settings.ranged('inactivity_timeout'),
      seed: settings.ranged('seed'),
    },
  });
  const words = new WeakMap<ClauseStream, CharacterWords>();
  /** Contexts that were closed and are still spoken. */
  const closing = new Set<string>();

  return createContextVoice(
    {
      provider: 'elevenlabs',
      model,
      sampleRate,
      socket: {
        url,
        headers: { 'xi-api-key': apiKey },
        secrets: [apiKey],
        readRefusal: ({ body }) => readDetail(body),
        readClose: (code, reason) =>
          /no new text|timeout/i.test(reason) ? named(IDLE) : { ...ofSocket(code), ...namedIn(reason) },
      },
      maxContexts: MAX_CONTEXTS,
      clauseMessages: (context_id, text) => [
        {
          text: ' ',
          context_id,
          ...(Object.keys(voiceSettings).length > 0 ? { voice_settings: voiceSettings } : {}),
        },
        // The space says that the last word is whole.
        { text: `${text} `, context_id, flush: true },
      ],
      // One that was closed is spoken to its end; ids are never used again, so what still comes is dropped.
      stopMessage: (contextId) => closeOnce(closing, contextId),
      farewell: { close_socket: true },
      read: (message) => readMessage(message, { sampleRate, wordTiming, words, closing }),
      countsUntilLast: true,
      redialAfter: ({ vendorCode, status, class: kind }) => {
        if (vendorCode === IDLE || status === 1000) return 'idle';
        return status === POLICY_VIOLATION && kind === 'transient' ? 'policy' : null;
      },
    },
    context,
  );
}

/** The vendor's name for a socket that was idle for longer than `inactivity_timeout`. */
const IDLE = 'input_timeout_exceeded';

/**
 * The close code, also in an error message, with which the vendor gives a socket up whose contexts have got into
 * disorder (RFC 6455: policy violation). What was asked is right all the same, and a new socket takes it.
 */
const POLICY_VIOLATION = 1_008;

function ofSocket(code: unknown): { class?: FailureClass; status?: number } {
  return code === POLICY_VIOLATION ? { class: 'transient', status: POLICY_VIOLATION } : {};
}

/** The vendor's own error names; those that are not here are mapped by their status or close code. */
const CLASSES: Readonly<Record<string, FailureClass>> = {
  invalid_api_key: 'auth',
  missing_api_key: 'auth',
  'only_for_creator+': 'auth',
  quota_exceeded: 'quota',
  voice_not_found: 'config',
  max_character_limit_exceeded: 'config',
  too_many_concurrent_requests: 'rate_limit',
  system_busy: 'rate_limit',
  // The contexts of one socket; a new one has none.
  max_active_conversations: 'transient',
  [IDLE]: 'transient',
};

function named(code: unknown): VendorRefusal {
  if (typeof code !== 'string') return {};
  const known = Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
  return { vendorCode: code, ...(known ? { class: known } : {}) };
}

/** `{"detail": {"status": ..., "message": ...}}` of a refused handshake. */
function readDetail(body: string): VendorRefusal {
  try {
    const { detail } = JSON.parse(body);
    const message = typeof detail?.message === 'string' ? { message: detail.message } : {};
    return { ...named(detail?.status), ...message };
  } catch {
    return {};
  }
}

/** A close frame has room for a sentence only; where it holds a known name, that tells more than its code. */
function namedIn(reason: string): VendorRefusal {
  return named(Object.keys(CLASSES).find((name) => reason.includes(name)));
}

function readMessage(
  message: Record<string, unknown>,
  options: {
    sampleRate: number;
    wordTiming: boolean;
    words: WeakMap<ClauseStream, CharacterWords>;
    closing: Set<string>;
  },
): ContextNews | null {
  const id = message.contextId ?? message.context_id;
  const contextId = typeof id === 'string' ? id : null;
  if (typeof message.error === 'string') {
    const said = typeof message.message === 'string' ? { message: message.message } : {};
    const refusal = { ...ofSocket(message.code), ...named(message.error), ...said };
    return { contextId, error: { class: 'config', ...refusal } };
  }
  if (contextId === null) return null;
  const isLast = (message.isFinal ?? message.is_final) === true;
  if (isLast) options.closing.delete(contextId);
  const audio = typeof message.audio === 'string' ? Buffer.from(message.audio, 'base64') : null;
  const close = audio && audio.length > 0 && !isLast ? closeOnce(options.closing, contextId) : null;
  const times = options.wordTiming ? readAlignment(message.alignment) : null;
  return {
    contextId,
    isLast,
    ...(audio ? { audio } : {}),
    ...(close ? { reply: close } : {}),
    words: (clause) => {
      if (!options.wordTiming) return;
      const collector = options.words.get(clause) ?? new CharacterWords();
      options.words.set(clause, collector);
      // The chunk's audio begins where what came before it ends, and its times count from there.
      const offsetMs = (clause.samples * 1_000) / options.sampleRate;
      if (times) clause.words(collector.push(times, offsetMs));
      if (isLast) clause.words(collector.flush());
    },
  };
}

/**
 * Closes a context, once. Only a closed context is answered with `isFinal`, and what was flushed before is spoken to its
 * end; but the vendor can lose a text that the close follows at once, so the close waits for the first audio of it.
 */
function closeOnce(closing: Set<string>, contextId: string): object | null {
  if (closing.has(contextId)) return null;
  closing.add(contextId);
  return { context_id: contextId, close_context: true };
}

/** The vendor spells the times in two ways. Null where there is no usable alignment. */
function readAlignment(alignment: unknown): CharacterTimes | null {
  const fields = recordOf(alignment);
  const { chars } = fields;
  const startsMs = fields.charStartTimesMs ?? fields.charsStartTimesMs;
  const durationsMs = fields.charDurationsMs ?? fields.charsDurationsMs;
  if (!isListOf(chars, 'string') || !isListOf(startsMs, 'number') || !isListOf(durationsMs, 'number'))
    return null;
  return { chars, startsMs, durationsMs } as CharacterTimes;
}

function optionalFlag(settings: VoiceSettings, key: string): boolean | undefined {
  return settings.raw(key) === undefined ? undefined : settings.flag(key, true);
}

function isListOf(value: unknown, type: 'string' | 'number'): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === type);
}
