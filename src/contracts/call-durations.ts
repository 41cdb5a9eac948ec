/** The lengths of a call, as its `disconnected` event and its result name them (D-33). */
export interface CallDurations {
  duration_seconds: number;
  raw_duration_seconds: number;
  billable_duration_seconds: number;
}

/** When the time of a call began, which its lengths are counted from. */
export interface CallBeginning {
  /** False while it rings: nothing is billed then. */
  isAnswered: boolean;
  /** How long it rang before it was answered, or rings already. */
  ringSeconds: number;
  /** How long it had been answered for when its conversation began: somebody else screened it (RT-31). */
  answeredBefore: number;
}

/** A call on a socket is answered when it connects, so all its durations begin together. */
export const ANSWERED_AT_ONCE: CallBeginning = { isAnswered: true, ringSeconds: 0, answeredBefore: 0 };

/** The lengths of a call that has gone on for `seconds` since call start; what is billed comes in whole steps. */
export function callDurations(
  seconds: number,
  { isAnswered, ringSeconds, answeredBefore }: CallBeginning,
  billingStepSeconds: number,
): CallDurations {
  const answeredSeconds = seconds + answeredBefore;
  // A customer whom somebody else answered does not hear it ring while the bot comes.
  const unansweredSeconds = answeredBefore > 0 ? 0 : ringSeconds;
  const steps = isAnswered ? Math.ceil(answeredSeconds / billingStepSeconds) : 0;
  return {
    duration_seconds: seconds,
    raw_duration_seconds: Math.round((answeredSeconds + unansweredSeconds) * 1000) / 1000,
    billable_duration_seconds: steps * billingStepSeconds,
  };
}
