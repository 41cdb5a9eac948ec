import { recordOf, textOf } from '../../../platform/json-shapes.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import type { SpeechToText } from '../../contract/speech-to-text.ts';
import { StreamSession, type SttDialect } from '../../stt/stream-session.ts';
import { type SttSettings, settingChoice, settingFlag } from '../../stt/stt-settings.ts';
import { statusOf, type VendorMessage } from '../../stt/vendor-message.ts';
import { readSarvamClose, readSarvamRefusal, sarvamFailure } from './stt-errors.ts';

const CHUNK_MS = 50;
/** It closes after 60 s without audio, and only audio counts. */
const KEEP_ALIVE_MS = 20_000;
/** p99 of its final is 1.17 s (reference 2). */
const FINAL_LIMIT_MS = 1_700;

/** What the vendor is told to expect; `keyterms` is a list as JSON. */
export interface SarvamHints {
  prompt: string | undefined;
  keyterms: string | undefined;
}

/**
 * The older socket of Sarvam: one final for each utterance, no partials, no time stamps.
 * `asked.language` is in the realtime socket's spelling.
 */
export function sarvamLegacy(
  settings: SttSettings,
  context: ProviderContext,
  asked: SarvamHints & { language: string; headers: Record<string, string> },
): SpeechToText {
  const { language, prompt, keyterms, headers } = asked;
  const url = vendorUrl(settings.read, {
    transport: 'ws',
    standard: settings.known.baseUrl,
    path: '/speech-to-text/ws',
    query: {
      // Odia has another name here, and so has "find out yourself".
      'language-code': language === 'auto' ? 'unknown' : language === 'or-IN' ? 'od-IN' : language,
      model: settings.model,
      mode: settingChoice(settings, 'mode'),
      sample_rate: settings.sampleRate,
      input_audio_codec: 'pcm_s16le',
      high_vad_sensitivity: settingFlag(settings, 'high_vad_sensitivity') || undefined,
      vad_signals: true,
      flush_signal: true,
      keyterms,
    },
  });
  return {
    name: 'sarvam',
    model: settings.model,
    wantsSilence: true,
    open: (handlers) => {
      let sendSilence = () => {};
      return StreamSession.open(
        {
          settings,
          context,
          chunkMs: CHUNK_MS,
          separator: ' ',
          waitsForReady: false,
          socket: {
            url,
            headers,
            keepAlive: { idleMs: KEEP_ALIVE_MS, send: () => sendSilence() },
            readRefusal: readSarvamRefusal,
            readClose: readSarvamClose,
          },
          dialect: (session) => {
            sendSilence = () => session.outlet.sendSilence();
            return legacyDialect(session, prompt);
          },
        },
        handlers,
      );
    },
  };
}

function legacyDialect(session: StreamSession, prompt: string | undefined): SttDialect {
  /** Speech that the vendor has heard and not yet written down. */
  let isOpen = false;
  let lastData = '';

  const onData = (data: VendorMessage, raw: string) => {
    // Finals carry no number; one that is equal in every byte, without speech since, is a repetition.
    if (raw === lastData && !isOpen) return;
    lastData = raw;
    isOpen = false;
    session.settle({
      text: textOf(data.transcript),
      confidence: null,
      uptoSample: null,
      language: textOf(data.language_code) || null,
    });
    session.answered();
  };

  return {
    onOpen(socket) {
      if (prompt !== undefined) socket.send(JSON.stringify({ type: 'config', prompt }));
    },
    onMessage(message, raw) {
      const data = recordOf(message.data);
      if (message.type === 'data') onData(data, raw);
      else if (message.type === 'events' && data.signal_type === 'START_SPEECH') isOpen = true;
      else if (message.type === 'error') {
        session.fail(
          sarvamFailure(
            { code: textOf(data.code), message: textOf(data.error), status: statusOf(data.code) },
            [session.settings.apiKey],
          ),
        );
      }
    },
    // The rate of a message may be 16000 or more only; at 8 kHz the rate of the connection is what counts.
    wrapAudio: (chunk) =>
      `{"audio":{"data":"${chunk.toString('base64')}","sample_rate":16000,"encoding":"audio/wav"}}`,
    finishTurn() {
      session.outlet.flush();
      if (!isOpen && !session.text.isEmpty) return 0;
      session.socket.send('{"type":"flush"}');
      return FINAL_LIMIT_MS;
    },
  };
}
