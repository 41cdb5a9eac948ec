import { listOf, numberOrNull, textOf } from '../../../platform/json-shapes.ts';
import { providerError } from '../../contract/provider-error.ts';
import type { StreamSession, SttDialect } from '../../stt/stream-session.ts';
import { confidenceOf, type VendorMessage } from '../../stt/vendor-message.ts';

/** How long a forced end of turn may take. */
const FORCE_END_LIMIT_MS = 1_000;
/** The vendor advances only while audio comes: a muted line would leave a turn open for ever (reference 3.2). */
const MUTED_AFTER_MS = 500;

/**
 * The turn events of Flux in our vocabulary. What a consumer sees always goes start, then eager_end and resumed in
 * turns, then end, whatever the vendor leaves out or repeats.
 */
export function fluxDialect(
  session: StreamSession,
  options: { mayForceEnd: boolean; chunkMs: number },
): SttDialect & { sendSilence(): void } {
  const { clock } = session.context;
  let lastSequence = -1;
  /** The newest turn of the vendor, and whether it is over. */
  let turnIndex = -1;
  let turnIsOver = true;
  /** What the consumer was told. */
  let told: 'idle' | 'started' | 'eager' = 'idle';
  /** Words of the vendor's turn that a flush or discard took already. */
  let takenWords = 0;
  let heardWords = 0;
  let lastAudioMs = clock.nowMs();
  let cancelMuteWatch: (() => void) | undefined;

  const tell = session.handlers.onTurn?.bind(session.handlers) ?? (() => undefined);
  const start = () => {
    if (told !== 'idle') return;
    told = 'started';
    tell({ type: 'start' });
  };

  const watchMute = (inMs: number) => {
    cancelMuteWatch = clock.after(inMs, () => {
      cancelMuteWatch = undefined;
      if (turnIsOver || session.isOver) return;
      const silentMs = clock.nowMs() - lastAudioMs;
      if (silentMs < MUTED_AFTER_MS) {
        watchMute(MUTED_AFTER_MS - silentMs);
        return;
      }
      session.outlet.sendSilence();
      watchMute(options.chunkMs);
    });
  };

  /** Opens the vendor's turn that a message speaks of; false where the message is about one that is over. */
  const enterTurn = (index: number): boolean => {
    if (index < turnIndex || (index === turnIndex && turnIsOver)) return false;
    if (index > turnIndex) {
      turnIndex = index;
      takenWords = 0;
      heardWords = 0;
    }
    turnIsOver = false;
    if (!cancelMuteWatch) watchMute(MUTED_AFTER_MS);
    return true;
  };

  const onEnd = (text: string, confidence: number | null, message: VendorMessage) => {
    turnIsOver = true;
    const language = textOf(listOf(message.languages)[0]) || null;
    const uptoSample = session.span(null, numberOrNull(message.audio_window_end))?.toSample ?? null;
    if (session.isFinishing) {
      session.settle({ text, confidence, uptoSample, language });
      told = 'idle';
      session.answered();
      return;
    }
    if (text !== '') start();
    session.text.clear();
    session.handlers.onFinal?.({ text, confidence, uptoSample, language });
    if (told === 'idle') return;
    told = 'idle';
    tell({ type: 'end', text, confidence });
  };

  const onTurnInfo = (message: VendorMessage) => {
    const index = numberOrNull(message.turn_index);
    if (index === null) return;
    // Updates come while nobody speaks, too; a turn begins with words or with its event.
    const isQuiet = message.event === 'Update' && textOf(message.transcript).trim() === '';
    if (isQuiet && (turnIsOver || index !== turnIndex)) return;
    if (!enterTurn(index)) return;
    const words = textOf(message.transcript).trim().split(/\s+/).filter(Boolean);
    heardWords = words.length;
    const text = words.slice(takenWords).join(' ');
    const confidence = meanConfidence(listOf(message.words).slice(takenWords));
    if (message.event === 'EndOfTurn') {
      onEnd(text, confidence, message);
      return;
    }
    if (message.event === 'StartOfTurn' || text !== '') start();
    session.guess(text);
    if (message.event === 'EagerEndOfTurn' && told === 'started') {
      told = 'eager';
      tell({ type: 'eager_end', text, confidence });
    } else if (message.event === 'TurnResumed' && told === 'eager') {
      told = 'started';
      tell({ type: 'resumed' });
    }
  };

  return {
    sendSilence: () => {
      if (!session.isOver) session.outlet.sendSilence();
    },
    onMessage(message) {
      const sequence = numberOrNull(message.sequence_id);
      if (sequence !== null) {
        // Numbers only grow, so one that does not is a message we had already.
        if (sequence <= lastSequence) return;
        lastSequence = sequence;
      }
      if (message.type === 'Connected') session.ready();
      else if (message.type === 'TurnInfo') onTurnInfo(message);
      else if (message.type === 'Error') session.fail(fatalError(message));
    },
    beforeAudio() {
      lastAudioMs = clock.nowMs();
    },
    finishTurn() {
      if (turnIsOver || !options.mayForceEnd) return 0;
      session.outlet.sendSilence();
      session.socket.send('{"type":"ForceEndTurn"}');
      return FORCE_END_LIMIT_MS;
    },
    onTaken() {
      if (!turnIsOver) takenWords = heardWords;
      told = 'idle';
    },
    farewell: () => '{"type":"CloseStream"}',
    onOver() {
      cancelMuteWatch?.();
      cancelMuteWatch = undefined;
    },
  };
}

/** How sure the vendor is of the words; its end_of_turn_confidence speaks of the pause instead. */
function meanConfidence(words: unknown[]): number | null {
  let sum = 0;
  let count = 0;
  for (const word of words) {
    const confidence = confidenceOf((word as VendorMessage | null)?.confidence);
    if (confidence === null) continue;
    sum += confidence;
    count++;
  }
  return count === 0 ? null : sum / count;
}

function fatalError(message: VendorMessage) {
  const code = textOf(message.code).slice(0, 100);
  // What we sent is wrong, which a second try does not change; everything else may go well on a new connection.
  const isOurs = /^DATA-|UNPARSABLE|INVALID|BAD_REQUEST/i.test(code);
  return providerError(
    {
      provider: 'deepgram_flux',
      family: 'stt',
      class: isOurs ? 'config' : 'transient',
      status: null,
      ...(code === '' ? {} : { vendorCode: code }),
    },
    `deepgram_flux (stt) failed: ${code} ${textOf(message.description).slice(0, 300)}`.trim(),
  );
}
