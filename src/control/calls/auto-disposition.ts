import type { AutoDisposition } from '../../contracts/bot/operation.ts';
import type { CallResults } from '../../contracts/call-results.ts';

type Outcome = Pick<
  CallResults,
  'disconnected_by' | 'call_duration_seconds' | 'was_transferred' | 'transcript' | 'events'
>;

/** The disposition of the first rule that fits how a call went; null where none does (D-26). */
export function autoDisposition(rules: readonly AutoDisposition[], outcome: Outcome): string | null {
  return rules.find(({ when }) => fits(when, outcome))?.disposition ?? null;
}

/** Every condition that is named must hold. */
function fits(when: AutoDisposition['when'], outcome: Outcome): boolean {
  const { call_duration_seconds: seconds } = outcome;
  if (when.disconnected_by && !when.disconnected_by.includes(outcome.disconnected_by)) return false;
  if (when.min_duration_seconds !== undefined && seconds < when.min_duration_seconds) return false;
  if (when.max_duration_seconds !== undefined && seconds > when.max_duration_seconds) return false;
  if (when.was_transferred !== undefined && outcome.was_transferred !== when.was_transferred) return false;
  if (when.event !== undefined && !outcome.events.some((entry) => entry.event === when.event)) return false;
  return when.customer_spoke === undefined || customerSpoke(outcome) === when.customer_spoke;
}

function customerSpoke(outcome: Outcome): boolean {
  return outcome.transcript.some((entry) => entry.speaker === 'customer' && entry.text.trim() !== '');
}
