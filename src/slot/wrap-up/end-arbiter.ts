import type { HangupTrigger } from '../../contracts/call-events.ts';
import type { DisconnectedBy } from '../../contracts/call-results.ts';
import { ENDED_BY_ORDER, type HangupCause } from '../../contracts/hangup-orders.ts';
import type { LineLoss } from '../transport/call-transport.ts';

/**
 * One arbiter decides `disconnected_by` (RT-25). Every way a call can end arrives here as a signal; the first one
 * that ends the call is the truth, and what follows from ending it (the line closing, the voice being cut) is not
 * taken for a cause of its own.
 */
export type EndSignal =
  /** The bot called `end_call`. */
  | { kind: 'end_call'; reason: string }
  /** The bot has said goodbye in words that end a call (RT-22). */
  | { kind: 'closure_phrase' }
  /** The caller is on another line, and ours is closed. */
  | { kind: 'transferred'; target: string | null; destination: string }
  /** A person at the agent desk has, or had, the call; `by` is who ended our part in it. */
  | { kind: 'handed_over'; by: 'bot' | 'customer' | 'agent'; reason: string; lineStands: boolean }
  /** The caller waited for a person, and none came. */
  | { kind: 'no_agent'; reason: string }
  /** An answering machine has taken the call. */
  | { kind: 'voicemail'; reason: string }
  /** The caller stayed silent through every prompt. */
  | { kind: 'caller_silent' }
  | { kind: 'max_duration' }
  /** The dialler said `stop`. */
  | { kind: 'stop'; reason: string }
  /** The line stands, and only a tone of the network is left on it. */
  | { kind: 'line_dead'; reason: string }
  | { kind: 'line_gone'; loss: LineLoss }
  | { kind: 'pipeline_error'; error: string }
  /** A dialled call got a final answer that is no 200 (RT-62). */
  | { kind: 'not_answered'; sipCode: number; sipStatus: string }
  /** It rang for as long as we let it. */
  | { kind: 'ringing_timeout' }
  /** No SIP answer came at all. */
  | { kind: 'not_dialled'; reason: string }
  /** The caller of an inbound call, or a visitor, left before the bot had answered. */
  | { kind: 'left_before_answer'; reason: string }
  /** A visitor was let in and did not come. */
  | { kind: 'never_came' }
  /** The room cannot be joined, or is gone. */
  | { kind: 'media_unavailable'; reason: string }
  /** Main asked for it: an operator, an overrun, the host. */
  | { kind: 'ordered'; cause: HangupCause; reason: string };

export interface EndVerdict {
  disconnectedBy: DisconnectedBy;
  /** Actor of the `disconnected` event. */
  by: string;
  trigger: HangupTrigger | null;
  reason: string;
  /** The same for machines: what ended the call (RT-84). */
  cause: string;
  /** Whether the line still stands, so that a goodbye can be heard and a hang-up sent. */
  lineStands: boolean;
}

/** `callerSpoke`: whether any words of the caller were understood, which tells `RNR` from dead air (RT-26). */
export function judgeEnd(signal: EndSignal, callerSpoke: boolean): EndVerdict {
  return { ...verdictOn(signal, callerSpoke), cause: causeOf(signal) };
}

function causeOf(signal: EndSignal): string {
  if (signal.kind === 'line_gone') return `line_${signal.loss.kind}`;
  // Whose order it was says more than that there was one.
  return signal.kind === 'ordered' && signal.cause !== 'host' ? signal.cause : signal.kind;
}

function verdictOn(signal: EndSignal, callerSpoke: boolean): Omit<EndVerdict, 'cause'> {
  switch (signal.kind) {
    case 'end_call':
      return verdict('bot', 'bot', 'end_call_tool', signal.reason || 'the bot ended the call', true);
    case 'closure_phrase':
      return verdict('bot', 'bot', 'closure_phrase', 'the bot said goodbye', true);
    case 'transferred':
      return verdict('bot', 'bot', null, `passed on to ${signal.target ?? 'another line'}`, false);
    case 'handed_over':
      return verdict('transfer_to_agent', signal.by, null, signal.reason, signal.lineStands);
    case 'no_agent':
      return verdict('no_agent', 'bot', null, signal.reason, true);
    case 'voicemail':
      return verdict('voicemail', 'bot', null, signal.reason || 'an answering machine took the call', true);
    case 'caller_silent':
      return callerSpoke
        ? verdict('bot', 'bot', 'dead_air_timeout', 'the caller fell silent', true)
        : verdict('RNR', 'bot', 'dead_air_timeout', 'the caller picked up and stayed silent', true);
    case 'max_duration':
      return verdict('timeout', 'bot', 'max_duration', 'the maximum call duration was reached', true);
    case 'stop':
      return verdict('customer', 'customer', null, signal.reason || 'the customer hung up', false);
    case 'line_dead':
      return verdict('customer', 'customer', null, `a ${signal.reason} tone: the other side is gone`, true);
    case 'line_gone':
      return lineGone(signal.loss);
    case 'pipeline_error':
      return verdict('error', 'error', null, signal.error, true);
    case 'not_answered':
      return notAnswered(signal.sipCode, signal.sipStatus);
    case 'ringing_timeout':
      return verdict('no_answer', 'customer', null, 'it rang and nobody answered', false);
    case 'not_dialled':
      return verdict('error', 'error', null, signal.reason, false);
    case 'left_before_answer':
      return verdict('customer', 'customer', null, signal.reason, false);
    case 'never_came':
      return verdict('customer', 'customer', null, 'the visitor never came into the room', false);
    case 'media_unavailable':
      return verdict('error', 'error', null, signal.reason, false);
    case 'ordered':
      return ordered(signal.cause, signal.reason);
  }
}

/** A person may end a call as the bot may; for its length it is ended by whoever notices, the slot or main (RT-24). */
function ordered(cause: HangupCause, reason: string): Omit<EndVerdict, 'cause'> {
  const by = cause === 'max_duration' ? 'bot' : cause;
  return verdict(ENDED_BY_ORDER[cause], by, cause === 'max_duration' ? 'max_duration' : null, reason, true);
}

/** `no_answer` is SIP 408 and 480, `rejected` is 486 and 603 (R101, R102). */
function notAnswered(sipCode: number, sipStatus: string): Omit<EndVerdict, 'cause'> {
  const said = `the telephone answered ${sipCode}${sipStatus === '' ? '' : ` ${sipStatus}`}`;
  if (sipCode === 408 || sipCode === 480) return verdict('no_answer', 'customer', null, said, false);
  if (sipCode === 486 || sipCode === 603) return verdict('rejected', 'customer', null, said, false);
  return verdict('error', 'error', null, said, false);
}

/** A line that closes, breaks or falls silent is a customer who left; one that we had to cut, or lost, is a fault. */
function lineGone(loss: LineLoss): Omit<EndVerdict, 'cause'> {
  const isFault = loss.kind === 'protocol' || loss.kind === 'stalled' || loss.isOurs === true;
  return verdict(isFault ? 'error' : 'customer', isFault ? 'error' : 'customer', null, loss.reason, false);
}

function verdict(
  disconnectedBy: DisconnectedBy,
  by: string,
  trigger: HangupTrigger | null,
  reason: string,
  lineStands: boolean,
): Omit<EndVerdict, 'cause'> {
  return { disconnectedBy, by, trigger, reason, lineStands };
}
