import type { AppError } from '../../../platform/app-error.ts';
import { listOf, numberOrNull, recordOf, textOf } from '../../../platform/json-shapes.ts';
import { tidyVendorText } from '../../connect/vendor-refusal.ts';
import { classOfStatus, providerError } from '../../contract/provider-error.ts';
import type { AudioSpan, StreamSession, SttDialect } from '../../stt/stream-session.ts';
import { confidenceOf, statusOf, type VendorMessage } from '../../stt/vendor-message.ts';

/** How long `<fin>` may take (reference 2: p99 of a final is 0.35 s). */
const FINALIZE_LIMIT_MS = 1_000;
/** So close to the newest audio, everything counts as settled. */
const SETTLED_WITHIN_MS = 100;

/** Tokens that mark an endpoint or the answer to `finalize`; nobody said them. */
const MARKERS = ['<end>', '<fin>'];

/** The messages of Soniox: tokens that are final once, and tokens that are guessed anew each time. */
export function sonioxDialect(session: StreamSession, firstFrame: string): SttDialect {
  let settledMs = 0;
  let lastWithFinals = '';

  const onTokens = (message: VendorMessage, raw: string) => {
    const tokens = listOf(message.tokens).map(recordOf);
    const finals = tokens.filter((token) => token.is_final === true);
    if (finals.length > 0) {
      // A final token comes once; a message that is equal in every byte, its clocks included, is a repetition.
      if (raw === lastWithFinals) return;
      lastWithFinals = raw;
    }
    const settled = settle(session, finals);
    const processedMs = numberOrNull(message.final_audio_proc_ms) ?? 0;
    const uptoMs = Math.max(settledMs, processedMs, settled.endMs);
    if (settled.text !== '' || uptoMs > settledMs) {
      session.settle({
        text: settled.text,
        confidence: settled.confidence,
        uptoSample: spanOf(session, uptoMs, uptoMs)?.toSample ?? null,
        language: settled.language,
      });
      settledMs = uptoMs;
    }
    const guessed = tokens.filter((token) => token.is_final !== true && isSpoken(session, token));
    session.guess(guessed.map((token) => textOf(token.text)).join(''));
    if (finals.some((token) => token.text === '<fin>')) session.answered();
  };

  return {
    onOpen(socket) {
      socket.send(firstFrame);
    },
    onMessage(message, raw) {
      if ((message.error_code ?? message.error_message ?? null) !== null) {
        session.fail(failureOf(message, session.settings.apiKey));
      } else onTokens(message, raw);
    },
    finishTurn() {
      session.outlet.flush();
      const sentMs = (session.outlet.sentSamples * 1000) / session.outlet.sampleRate;
      // Nothing is left to be settled; asking too often is what the vendor warns of.
      if (session.text.guess === '' && settledMs >= sentMs - SETTLED_WITHIN_MS) return 0;
      session.socket.send('{"type":"finalize"}');
      return FINALIZE_LIMIT_MS;
    },
    // An empty frame is the end of the audio.
    farewell: () => '',
  };
}

/** The words among final tokens, without those that the call has already. */
function settle(session: StreamSession, finals: VendorMessage[]) {
  let text = '';
  let endMs = 0;
  let sure = 0;
  let chars = 0;
  let language: string | null = null;
  for (const token of finals) {
    if (!isSpoken(session, token)) continue;
    const said = textOf(token.text);
    text += said;
    endMs = Math.max(endMs, numberOrNull(token.end_ms) ?? 0);
    language = textOf(token.language) || language;
    const confidence = confidenceOf(token.confidence);
    if (confidence === null) continue;
    sure += confidence * said.length;
    chars += said.length;
  }
  return { text, endMs, confidence: chars === 0 ? null : sure / chars, language };
}

function isSpoken(session: StreamSession, token: VendorMessage): boolean {
  if (MARKERS.includes(textOf(token.text)) || token.translation_status === 'translation') return false;
  const startMs = numberOrNull(token.start_ms);
  const endMs = numberOrNull(token.end_ms);
  return startMs === null || endMs === null || !session.isSettled(spanOf(session, startMs, endMs));
}

function spanOf(session: StreamSession, fromMs: number, toMs: number): AudioSpan | null {
  return session.span(fromMs / 1000, toMs / 1000);
}

/** Statuses as of HTTP, as a number or as text; 503 means "start again at once". */
function failureOf(message: VendorMessage, apiKey: string | undefined): AppError {
  const status = statusOf(message.error_code);
  const vendorCode = textOf(message.error_type).slice(0, 100);
  const said = tidyVendorText(textOf(message.error_message), { secrets: [apiKey] });
  return providerError(
    {
      provider: 'soniox',
      family: 'stt',
      class: status === null ? 'transient' : classOfStatus(status),
      status,
      ...(vendorCode === '' ? {} : { vendorCode }),
    },
    `soniox (stt) failed with ${status ?? 'an error'}${said === '' ? '' : `: ${said}`}`,
  );
}
