import type { HangupTrigger } from '../../contracts/call-events.ts';
import type { DisconnectedBy } from '../../contracts/call-results.ts';
import type { LineLoss } from '../transport/call-transport.ts';

/**
 * One arbiter decides `disconnected_by` (RT-25). Every way a call can end arrives here as a signal; the first one
 * that ends the call is the truth, and what follows from ending it (the line closing, the voice being cut) is not
 * taken for a cause of its own.
 */
export type EndSignal =
  /** The bot called `end_call`. */
  | { kind: 'end_call'; reason: string }
  /** The caller stayed silent through every prompt. */
  | { kind: 'caller_silent' }
  | { kind: 'max_duration' }
  /** The dialler said `stop`. */
  | { kind: 'stop'; reason: string }
  | { kind: 'line_gone'; loss: LineLoss }
  | { kind: 'pipeline_error'; error: string }
  /** Main asked for it: an overrun, an operator. */
  | { kind: 'ordered'; reason: string };

export interface EndVerdict {
  disconnectedBy: DisconnectedBy;
  /** Actor of the `disconnected` event. */
  by: string;
  trigger: HangupTrigger | null;
  reason: string;
  /** Whether the line still stands, so that a goodbye can be heard and a hang-up sent. */
  lineStands: boolean;
}

/** `callerSpoke`: whether any words of the caller were understood, which tells `RNR` from dead air (RT-26). */
export function judgeEnd(signal: EndSignal, callerSpoke: boolean): EndVerdict {
  switch (signal.kind) {
    case 'end_call':
      return verdict('bot', 'bot', 'end_call_tool', signal.reason || 'the bot ended the call', true);
    case 'caller_silent':
      return callerSpoke
        ? verdict('bot', 'bot', 'dead_air_timeout', 'the caller fell silent', true)
        : verdict('RNR', 'bot', 'dead_air_timeout', 'the caller picked up and stayed silent', true);
    case 'max_duration':
      return verdict('timeout', 'bot', 'max_duration', 'the maximum call duration was reached', true);
    case 'stop':
      return verdict('customer', 'customer', null, signal.reason || 'the customer hung up', false);
    case 'line_gone':
      return lineGone(signal.loss);
    case 'pipeline_error':
      return verdict('error', 'error', null, signal.error, true);
    case 'ordered':
      return verdict('error', 'operator', null, signal.reason, true);
  }
}

/** A line that closes, breaks or falls silent is a customer who left; one that we had to cut is a fault. */
function lineGone(loss: LineLoss): EndVerdict {
  const isFault = loss.kind === 'protocol' || loss.kind === 'stalled';
  return verdict(isFault ? 'error' : 'customer', isFault ? 'error' : 'customer', null, loss.reason, false);
}

function verdict(
  disconnectedBy: DisconnectedBy,
  by: string,
  trigger: HangupTrigger | null,
  reason: string,
  lineStands: boolean,
): EndVerdict {
  return { disconnectedBy, by, trigger, reason, lineStands };
}
