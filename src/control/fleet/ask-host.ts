import type { HostAnswer } from './place-on-fleet.ts';
import { codeOf, postToHost } from './post-to-host.ts';

/** An order for one fleet server, and how its answers are read. */
export interface HostOrder<T> {
  path: string;
  body: unknown;
  coreSecret: string;
  isAccepted(answer: unknown): answer is T;
  /** What a refusal that is neither about room nor about the secret means. */
  refused(status: number, code: string | null): HostAnswer<never>;
}

/**
 * Asks one fleet server for a call. An answer that does not come, or cannot be read, is `unknown`: a telephone may ring
 * already, and a second one must not. Never rejects.
 */
export async function askHost<T>(url: string, order: HostOrder<T>): Promise<HostAnswer<T>> {
  const reply = await postToHost(url, order.path, order.body, order.coreSecret);
  if (reply.kind === 'unreachable') return { kind: 'refused', reason: 'unreachable' };
  if (reply.kind === 'unknown') return { kind: 'unknown' };
  const { status, body: answer } = reply;
  if (status === 200)
    return order.isAccepted(answer) ? { kind: 'taken', value: answer } : { kind: 'unknown' };
  if (status === 429) return { kind: 'full' };
  if (status === 401 || status === 403) return { kind: 'refused', reason: 'secret' };
  return order.refused(status, codeOf(answer));
}
