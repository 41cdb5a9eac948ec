import { DESK_PATH, type DeskAnswer, type DeskNote } from '../../contracts/handoff.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import { isSafeTransport, mayReceiveSecret } from '../../platform/origins.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';
import type { DeliveryTerms } from '../outbox/deliver-once.ts';

/** An answer to an enqueue is a view of the call; what is longer is none that we understand. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Refusals that pass by themselves: too slow, too much at once. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429];

export type PostOutcome =
  /** `answer` is what the desk said to an enqueue; null for every other note. */
  { kind: 'taken'; answer: DeskAnswer | null } | { kind: 'failed'; error: string; transient: boolean };

/**
 * Posts one note to its desk (R32). Any 2xx takes it, a repeat's 200 too; a redirect does not. The
 * core secret goes to own origins only (D-52). The error texts name neither body nor URL.
 */
export async function postNote(
  note: DeskNote,
  terms: DeliveryTerms,
  signal: AbortSignal,
): Promise<PostOutcome> {
  const url = noteUrl(note);
  if (url === null) return failed('the origin of the desk is not a URL', false);
  if (!isSafeTransport(url)) {
    return failed('the desk is on plain http on another machine; handoffs go over https', false);
  }
  const hasSecret = terms.coreSecret !== '' && mayReceiveSecret(url.href, terms.ownOrigins);
  try {
    const answer = await httpCall(url.href, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `trunkline/${PRODUCT_VERSION}`,
        ...(hasSecret ? { [CORE_SECRET_HEADER]: terms.coreSecret } : {}),
      },
      body: JSON.stringify(note.body),
      timeoutMs: terms.timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
    if (answer.status >= 200 && answer.status < 300) {
      return { kind: 'taken', answer: note.kind === 'enqueue' ? readAnswer(answer.body) : null };
    }
    const transient = answer.status >= 500 || PASSING_STATUSES.includes(answer.status);
    return failed(`the desk answered ${answer.status}`, transient);
  } catch (error) {
    if (!(error instanceof HttpFailure)) return failed('the request cannot be built', false);
    return failed(error.kind === 'timeout' ? error.message : `desk ${error.kind}`, true);
  }
}

function failed(error: string, transient: boolean): PostOutcome {
  return { kind: 'failed', error, transient };
}

function noteUrl(note: DeskNote): URL | null {
  const url = `${note.origin.replace(/\/+$/, '')}${DESK_PATH}${notePath(note)}`;
  return URL.canParse(url) ? new URL(url) : null;
}

function notePath(note: DeskNote): string {
  if (note.kind === 'enqueue') return '/enqueue';
  const call = `/calls/${encodeURIComponent(note.callId)}`;
  return note.kind === 'customer_disconnected' ? `${call}/customer-disconnected` : `${call}/events`;
}

/** Whatever of it is understood; a desk of another make may say nothing. */
function readAnswer(body: string): DeskAnswer {
  let said: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) said = value as Record<string, unknown>;
  } catch {
    // An answer that is no JSON has taken the note all the same.
  }
  const number = (name: string): number | null => {
    const value = said[name];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
  };
  return {
    position: number('position'),
    agentsAvailable: number('agents_available'),
    estimatedWaitSeconds: number('estimated_wait_seconds'),
    timeoutSeconds: number('timeout_seconds'),
  };
}
