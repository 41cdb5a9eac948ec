import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { listOf, numberOrNull, recordOf, textOf } from '../../../platform/json-shapes.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import type { SpeechToText } from '../../contract/speech-to-text.ts';
import { StreamSession, type SttDialect } from '../../stt/stream-session.ts';
import type { SttModels } from '../../stt/stt-models.ts';
import {
  readSttSettings,
  type SttSettings,
  settingFlag,
  settingNumber,
  settingTexts,
} from '../../stt/stt-settings.ts';
import { confidenceOf, type VendorMessage } from '../../stt/vendor-message.ts';
import { readDeepgramClose, readDeepgramRefusal } from './errors.ts';

/** The vendor advises 20 to 100 ms; a longer chunk would delay interim results. */
const CHUNK_MS = 40;
/** It closes after 10 s without audio or KeepAlive and advises 3 to 5 s. */
const KEEP_ALIVE_MS = 4_000;
/** It may not answer a Finalize at all where nothing was buffered. */
const FINALIZE_LIMIT_MS = 1_000;
/** The same where it had ended the utterance itself: whatever it still buffers is most likely silence. */
const FINALIZE_SETTLED_MS = 350;

/**
 * Deepgram streaming, `/v1/listen`: the call decides when a turn ends and asks the vendor
 * to finalize it. Works with Deepgram's own servers and self-hosted ones (`base_url`).
 *
 * Settings: `model` (nova-3), `language`, `endpointing_ms` (300, with language `multi` 100), `utterance_end_ms` (1000;
 * 0 off), `smart_format` (true), `numerals`, `profanity_filter`, `redact`, `keyterms`, `interim` (true), `tag`,
 * `mip_opt_out`, `base_url`, `timeout_ms`. Throws `bad_provider_config`.
 */
export async function createDeepgram(
  known: SttModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<SpeechToText> {
  const settings = readSttSettings(known, config, context);
  const url = listenUrl(settings);
  return {
    name: 'deepgram',
    model: settings.model,
    wantsSilence: true,
    open: (handlers) =>
      StreamSession.open(
        {
          settings,
          context,
          chunkMs: CHUNK_MS,
          separator: ' ',
          waitsForReady: false,
          socket: {
            url,
            headers: settings.apiKey === undefined ? {} : { authorization: `Token ${settings.apiKey}` },
            keepAlive: {
              idleMs: KEEP_ALIVE_MS,
              send: (socket) => socket.send('{"type":"KeepAlive"}'),
            },
            readRefusal: readDeepgramRefusal,
            readClose: readDeepgramClose,
          },
          dialect: listenDialect,
        },
        handlers,
      ),
  };
}

function listenUrl(settings: SttSettings): string {
  const { read, model, keyterms } = settings;
  // Here `multi` is what other vendors call auto.
  const language = ['auto', 'unknown'].includes(settings.language ?? '') ? 'multi' : settings.language;
  const utteranceEndMs = settingNumber(settings, 'utterance_end_ms') ?? 0;
  if (utteranceEndMs > 0 && utteranceEndMs < 1_000) {
    throw read.refusal('utterance_end_ms', 'must be 0 (off) or a whole number from 1000 to 5000');
  }
  const takesKeyterms = model.startsWith('nova-3');
  return vendorUrl(read, {
    transport: 'ws',
    standard: settings.known.baseUrl,
    path: '/v1/listen',
    query: {
      model,
      language,
      encoding: 'linear16',
      sample_rate: settings.sampleRate,
      channels: 1,
      interim_results: settings.interim,
      // The vendor advises a shorter pause where languages mix.
      endpointing: settingNumber(settings, 'endpointing_ms', language === 'multi' ? 100 : undefined),
      utterance_end_ms: settings.interim && utteranceEndMs > 0 ? utteranceEndMs : undefined,
      smart_format: settingFlag(settings, 'smart_format'),
      numerals: settingFlag(settings, 'numerals') || undefined,
      profanity_filter: settingFlag(settings, 'profanity_filter') || undefined,
      redact: settingTexts(settings, 'redact'),
      // Older models know boosted keywords instead of key terms.
      keyterm: takesKeyterms ? keyterms : undefined,
      keywords: takesKeyterms ? undefined : keyterms,
      tag: settingTexts(settings, 'tag'),
      mip_opt_out: settingFlag(settings, 'mip_opt_out') || undefined,
    },
  });
}

function listenDialect(session: StreamSession): SttDialect {
  /** End of the newest final on the vendor's clock: a final that lies before it is a repetition. */
  let settledSeconds = 0;
  /** The vendor ended the utterance that the turn's newest words belong to, and heard no word since. */
  let utteranceIsOver = false;

  const onResults = (message: VendorMessage) => {
    const start = numberOrNull(message.start);
    const end = start === null ? null : start + (numberOrNull(message.duration) ?? 0);
    const heard = recordOf(listOf(recordOf(message.channel).alternatives)[0]);
    const text = newText(session, heard);
    if (message.is_final !== true) {
      // An empty interim result says only that the newest audio is silent.
      if (text === '' || (end !== null && end <= settledSeconds)) return;
      utteranceIsOver = false;
      session.guess(text);
      return;
    }
    const isRepeated = end !== null && end <= settledSeconds;
    if (!isRepeated) {
      if (end !== null) settledSeconds = end;
      if (text !== '') utteranceIsOver = message.speech_final === true;
      else if (message.speech_final === true && !session.text.isEmpty) utteranceIsOver = true;
      session.settle({
        text,
        confidence: text === '' ? null : confidenceOf(heard.confidence),
        uptoSample: session.span(start, end)?.toSample ?? null,
        language: textOf(listOf(heard.languages)[0]) || null,
      });
    }
    if (message.from_finalize === true) session.answered();
  };

  return {
    onMessage(message) {
      // SpeechStarted and UtteranceEnd say nothing that the finals do not; Metadata comes after our goodbye.
      if (message.type === 'Results') onResults(message);
    },
    finishTurn() {
      session.outlet.flush();
      session.socket.send('{"type":"Finalize"}');
      return utteranceIsOver && session.text.guess === '' ? FINALIZE_SETTLED_MS : FINALIZE_LIMIT_MS;
    },
    onTaken() {
      utteranceIsOver = false;
    },
    farewell: () => '{"type":"CloseStream"}',
  };
}

/** The transcript without the words that the call has already, which a late answer to a Finalize may bring again. */
function newText(session: StreamSession, heard: VendorMessage): string {
  const words = listOf(heard.words).map(recordOf);
  const isNew = (word: VendorMessage) =>
    !session.isSettled(session.span(numberOrNull(word.start), numberOrNull(word.end)));
  if (words.every(isNew)) return textOf(heard.transcript);
  return words
    .filter(isNew)
    .map((word) => textOf(word.punctuated_word) || textOf(word.word))
    .join(' ');
}
