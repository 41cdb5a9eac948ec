import { numberOrNull, textOf } from '../../../platform/json-shapes.ts';
import type { StreamSession, SttDialect } from '../../stt/stream-session.ts';
import { statusOf, type VendorMessage } from '../../stt/vendor-message.ts';
import { sarvamFailure } from './stt-errors.ts';

/** The vendor's own voice activity decides when an utterance ends; p99 of its final is about 1 s (reference 2). */
const FINAL_LIMIT_MS = 1_500;
/** The call heard speech and the vendor nothing yet. */
const FIRST_SIGN_LIMIT_MS = 1_000;

/**
 * The realtime socket of Sarvam: JSON both ways, audio as base64. Under `vad` the vendor
 * finds the utterances and takes no request to finish one; under `manual` we mark their beginning and end.
 */
export function sarvamRealtimeDialect(session: StreamSession, isManual: boolean): SttDialect {
  /** Utterances that the vendor finished, by their number. */
  let lastFinal = -1;
  /** An utterance of the vendor is under way. */
  let isOpen = false;
  /** We marked the beginning of an utterance (manual). */
  let isMarked = false;

  const onFinal = (message: VendorMessage) => {
    const index = numberOrNull(message.utterance_idx);
    if (index !== null) {
      if (index <= lastFinal) return;
      lastFinal = index;
    }
    isOpen = false;
    const span = session.span(numberOrNull(message.start_s), numberOrNull(message.end_s));
    session.settle({
      text: session.isSettled(span) ? '' : textOf(message.text),
      confidence: null,
      uptoSample: span?.toSample ?? null,
      language: textOf(message.language) || null,
    });
    session.answered();
  };

  const isOld = (message: VendorMessage) =>
    (numberOrNull(message.utterance_idx) ?? lastFinal + 1) <= lastFinal;

  const onError = (message: VendorMessage) => {
    // A refused change of settings leaves the session as it was.
    if (message.is_fatal !== true) return;
    session.fail(
      sarvamFailure(
        {
          code: textOf(message.code),
          message: textOf(message.message),
          status: statusOf(message.status_code),
        },
        [session.settings.apiKey],
      ),
    );
  };

  return {
    onMessage(message) {
      switch (message.event) {
        case 'session.begin':
          session.ready();
          break;
        case 'vad.speech_start':
          if (!isOld(message)) isOpen = true;
          break;
        case 'transcript.partial':
          if (isOld(message)) break;
          isOpen = true;
          session.guess(textOf(message.text));
          break;
        case 'transcript.final':
          onFinal(message);
          break;
        case 'error':
          onError(message);
          break;
      }
    },
    wrapAudio: (chunk) => `{"event":"audio_input","audio":"${chunk.toString('base64')}"}`,
    beforeAudio() {
      if (!isManual || isMarked) return;
      isMarked = true;
      session.socket.send('{"event":"speech_start"}');
    },
    finishTurn() {
      session.outlet.flush();
      if (isManual) {
        if (!isMarked) return 0;
        isMarked = false;
        session.socket.send('{"event":"speech_end"}');
        return FINAL_LIMIT_MS;
      }
      if (isOpen) return FINAL_LIMIT_MS;
      return session.text.isEmpty ? FIRST_SIGN_LIMIT_MS : 0;
    },
    farewell: () => '{"event":"end"}',
  };
}
