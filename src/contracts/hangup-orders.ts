import type { DisconnectedBy } from './call-results.ts';

/** Who has a call ended from outside: a person or the API, its length, or the host, as when a room is gone. */
export type HangupCause = 'operator' | 'max_duration' | 'host';

export interface HangupOrder {
  cause: HangupCause;
  reason: string;
}

/** Who has ended a call that was ended by order (RT-25), whether its slot obeyed or had to be killed. */
export const ENDED_BY_ORDER: Readonly<Record<HangupCause, DisconnectedBy>> = {
  operator: 'bot',
  max_duration: 'timeout',
  host: 'error',
};

/** For the order of main that ends a call which is longer than it may be (RT-24). */
export const OVERRUN: HangupOrder = {
  cause: 'max_duration',
  reason: 'the maximum call duration was reached',
};

/** The order in a message or a file; null where it is none that this version knows. */
export function readHangupOrder(value: unknown): HangupOrder | null {
  if (typeof value !== 'object' || value === null) return null;
  const { cause, reason } = value as Partial<Record<keyof HangupOrder, unknown>>;
  if (typeof cause !== 'string' || !Object.hasOwn(ENDED_BY_ORDER, cause)) return null;
  return { cause: cause as HangupCause, reason: typeof reason === 'string' ? reason : '' };
}
