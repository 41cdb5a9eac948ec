import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/**
 * Leaves a message on a mailbox (RT-28): waits for its beep, speaks 300 ms after it or after 2 s of silence, and hangs
 * up once the message has been heard to its end. Pure data and one function; time is the line clock at 8 kHz.
 */
export interface MessageDrop {
  phase: 'waiting' | 'speaking' | 'over';
  sinceSample: number;
  /** End of the beep, -1 while none was heard. */
  beepEndSample: number;
  /** -1 while the mailbox speaks. */
  quietSinceSample: number;
  /** The message began without a beep; a beep that comes later makes it begin once more. */
  beganWithoutBeep: boolean;
  canBeginAgain: boolean;
}

export type DropEvent =
  | { type: 'beep'; endSample: number }
  | { type: 'speech_start' }
  | { type: 'speech_stop'; lastSample: number }
  /** Busy or another tone of the network: there is nobody any more. */
  | { type: 'line_dead' }
  /** The far end has heard the whole message. */
  | { type: 'played' }
  | { type: 'failed' }
  | { type: 'tick' };

export type DropAction =
  | { type: 'speak' }
  /** The mailbox had not been recording: cut, and say the message from its beginning. */
  | { type: 'speak_again' }
  | {
      type: 'hang_up';
      wasLeft: boolean;
      why: 'no_message' | 'left' | 'no_beep' | 'line_dead' | 'failed' | 'stuck';
    };

export interface DropStart {
  nowSample: number;
  /** From the verdict: the beep may be over already. */
  beepEndSample: number | null;
  isSpeaking: boolean;
  /** End of what the mailbox said last. */
  lastSpeechSample: number;
}

const AFTER_BEEP_SAMPLES = 0.3 * LINE_RATE_HZ;
const SILENCE_SAMPLES = 2 * LINE_RATE_HZ;
/** A greeting that goes on for longer takes no messages (D-39). */
const MAX_WAIT_SAMPLES = 20 * LINE_RATE_HZ;

/** Longer than any message that fits a bot (2000 characters): its end was never reported. */
const MAX_SPEAKING_SAMPLES = 240 * LINE_RATE_HZ;

/** Begin this on the verdict `voicemail`, once the bot has stopped; then give it every event, and `tick` each frame. */
export function createMessageDrop(start: DropStart): MessageDrop {
  return {
    phase: 'waiting',
    sinceSample: start.nowSample,
    beepEndSample: start.beepEndSample ?? -1,
    quietSinceSample: start.isSpeaking ? -1 : Math.max(0, start.lastSpeechSample),
    beganWithoutBeep: false,
    canBeginAgain: true,
  };
}

/** What is to be done now, if anything. `hasMessage`: the mailbox takes one and the bot has one. */
export function stepMessageDrop(
  drop: MessageDrop,
  event: DropEvent,
  nowSample: number,
  hasMessage: boolean,
): DropAction | null {
  if (drop.phase === 'over') return null;
  if (!hasMessage) return over(drop, false, 'no_message');
  switch (event.type) {
    case 'line_dead':
      return over(drop, false, 'line_dead');
    case 'played':
      return drop.phase === 'speaking' ? over(drop, true, 'left') : null;
    case 'failed':
      return over(drop, false, 'failed');
    case 'speech_start':
      drop.quietSinceSample = -1;
      return null;
    case 'speech_stop':
      drop.quietSinceSample = event.lastSample;
      return null;
    case 'beep':
      drop.beepEndSample = event.endSample;
      return drop.phase === 'speaking' ? beginAgain(drop) : null;
    case 'tick':
      return drop.phase === 'waiting' ? wait(drop, nowSample) : guard(drop, nowSample);
  }
}

function wait(drop: MessageDrop, nowSample: number): DropAction | null {
  if (drop.beepEndSample >= 0) {
    return nowSample - drop.beepEndSample >= AFTER_BEEP_SAMPLES ? speak(drop, nowSample, false) : null;
  }
  const isQuiet = drop.quietSinceSample >= 0 && nowSample - drop.quietSinceSample >= SILENCE_SAMPLES;
  if (isQuiet) return speak(drop, nowSample, true);
  return nowSample - drop.sinceSample >= MAX_WAIT_SAMPLES ? over(drop, false, 'no_beep') : null;
}

function guard(drop: MessageDrop, nowSample: number): DropAction | null {
  return nowSample - drop.sinceSample >= MAX_SPEAKING_SAMPLES ? over(drop, true, 'stuck') : null;
}

function speak(drop: MessageDrop, nowSample: number, withoutBeep: boolean): DropAction {
  drop.phase = 'speaking';
  drop.sinceSample = nowSample;
  drop.beganWithoutBeep = withoutBeep;
  return { type: 'speak' };
}

/** Once only: a mailbox that goes on beeping gets its message all the same. */
function beginAgain(drop: MessageDrop): DropAction | null {
  if (!drop.beganWithoutBeep || !drop.canBeginAgain) return null;
  drop.canBeginAgain = false;
  drop.beganWithoutBeep = false;
  return { type: 'speak_again' };
}

function over(
  drop: MessageDrop,
  wasLeft: boolean,
  why: (DropAction & { type: 'hang_up' })['why'],
): DropAction {
  drop.phase = 'over';
  return { type: 'hang_up', wasLeft, why };
}
