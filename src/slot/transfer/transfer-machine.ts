/**
 * A transfer over a call's own socket as a pure machine (docs/dialler-protocol.md, "Passing a caller on"; D-18): the
 * far end is asked to move its leg, and answers, closes, or does neither.
 *   asked      -- ok ------> moved        (sent, stamped at the ok)
 *   asked      -- 10 s ----> unanswered
 *   unanswered -- 20 s ----> failed       (30 s in all)
 *   asked, unanswered -- close --> gone   (sent, stamped at the close)
 *   asked, unanswered, moved -- failed --> failed
 *   moved      -- close, or 5 s --> gone
 *
 * A line that always answers (SIP REFER, D-42) has one wait of its own instead of the 10 s and 20 s, and its closing
 * is no answer: what ends the leg before one is the caller.
 */
export type TransferPhase = 'asked' | 'unanswered' | 'moved' | 'gone' | 'failed';

export type TransferInput =
  | { type: 'ok'; sipCode: number | null; sipStatus: string | null }
  | { type: 'failed'; reason: string; sipCode: number | null; sipStatus: string | null }
  /** The far end has closed the line. */
  | { type: 'closed' }
  /** It says that the caller has hung up, which is no transfer. */
  | { type: 'caller_left' }
  | { type: 'timer' };

export interface TransferStep {
  phase: TransferPhase;
  /** When the machine wants to be woken; null for never. */
  timerMs: number | null;
  /** Goes into the record. */
  event: 'transfer_sent' | 'transfer_failed' | null;
  /** Set once it is decided what becomes of the call. */
  outcome: TransferOutcome | null;
}

export type TransferOutcome =
  | { kind: 'sent' }
  | { kind: 'failed'; reason: string; sipCode: number | null; sipStatus: string | null }
  /** The caller hung up meanwhile; the call ends by that. */
  | { kind: 'abandoned' };

/** Without an answer for so long the far end counts as silent, which its closing then settles (D-18). */
export const RESULT_WAIT_MS = 10_000;
export const CLOSE_WAIT_MS = 30_000;
/** A dialler that has moved the caller closes; the line is not held longer for one that does not. */
export const MOVED_WAIT_MS = 5_000;

export const TRANSFER_START: TransferStep = {
  phase: 'asked',
  timerMs: RESULT_WAIT_MS,
  event: null,
  outcome: null,
};

/** How long a line is waited for that always answers; null for the dialler protocol. */
export type AnswerWaitMs = number | null;

/** What follows from an input; null where it changes nothing. */
export function transferStep(
  phase: TransferPhase,
  input: TransferInput,
  answerWaitMs: AnswerWaitMs = null,
): TransferStep | null {
  if (phase === 'gone' || phase === 'failed') return null;
  switch (input.type) {
    case 'ok':
      if (phase === 'moved') return null;
      return { phase: 'moved', timerMs: MOVED_WAIT_MS, event: 'transfer_sent', outcome: null };
    case 'failed':
      return failed(input.reason || 'the far end gave no reason', input);
    case 'closed':
      if (phase === 'moved') return gone(null);
      return answerWaitMs === null ? gone('transfer_sent') : abandoned();
    case 'caller_left':
      return phase === 'moved' ? gone(null) : abandoned();
    case 'timer':
      if (phase === 'moved') return gone(null);
      if (phase === 'unanswered' || answerWaitMs !== null) {
        return failed('the far end did not answer in time', { sipCode: null, sipStatus: null });
      }
      return { phase: 'unanswered', timerMs: CLOSE_WAIT_MS - RESULT_WAIT_MS, event: null, outcome: null };
  }
}

function gone(event: TransferStep['event']): TransferStep {
  return { phase: 'gone', timerMs: null, event, outcome: { kind: 'sent' } };
}

function abandoned(): TransferStep {
  return { phase: 'failed', timerMs: null, event: 'transfer_failed', outcome: { kind: 'abandoned' } };
}

function failed(reason: string, sip: { sipCode: number | null; sipStatus: string | null }): TransferStep {
  const { sipCode, sipStatus } = sip;
  return {
    phase: 'failed',
    timerMs: null,
    event: 'transfer_failed',
    outcome: { kind: 'failed', reason, sipCode, sipStatus },
  };
}
