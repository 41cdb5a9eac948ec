import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import type { RetryPolicy } from '../../platform/delivery-queue/retry-policy.ts';
import type { DeliveryOutcome } from '../../platform/delivery-queue.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import { isSafeTransport, mayReceiveSecret } from '../../platform/origins.ts';
import { askedRetryMs } from '../../platform/retry-after.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';

/** A receiver that has not answered by then is tried again: delivery is at least once, and the receiver compares ids. */
const DELIVERY_TIMEOUT_MS = 15_000;

/** Waits before the immediate retries that a transport failure or a 5xx gets (R31). */
export const IMMEDIATE_RETRIES_MS = [200, 500, 1_000] as const;
/** Ceiling of the first background wait; it doubles with every further failure. */
export const BACKOFF_FIRST_MS = 5_000;
/** No background wait is longer, so a receiver that comes back is served within this. */
export const BACKOFF_MAX_MS = 300_000;

/** What main owes to its control plane is tried without end; one that refuses (4xx) is not asked again at once. */
export const ENDLESS_RETRIES: RetryPolicy = {
  quickWaitsMs: IMMEDIATE_RETRIES_MS,
  stepsMs: [1, 2, 4, 8, 16, 32, 64].map((factor) => Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * factor)),
  givesUp: false,
  jitter: [0, 1],
  longestWaitMs: BACKOFF_MAX_MS,
};

/** Who may be told the core secret, and how long a receiver may take. */
export interface PostTerms {
  coreSecret: string;
  ownOrigins: readonly string[];
  timeoutMs?: number | undefined;
}

export interface Post {
  /** For the error texts: "receiver". */
  to: string;
  url: string;
  body: string;
  /** More of the answer is not read. */
  maxAnswerBytes: number;
  /** Refusals that pass by themselves, beside the 5xx. */
  passingStatuses?: readonly number[];
}

/**
 * Posts JSON text; the detail is the body of the answer. Any 2xx takes it (D-46), a redirect does not, and the
 * core secret goes to own origins only. The error texts name neither body nor URL, so they may be logged.
 */
export async function postJson(
  post: Post,
  terms: PostTerms,
  signal: AbortSignal,
): Promise<DeliveryOutcome<string>> {
  const { to, url } = post;
  if (!URL.canParse(url)) return failed(`the address of the ${to} is not a URL`, false);
  if (!isSafeTransport(new URL(url))) {
    return failed(`the ${to} is on plain http on another machine; it must be reached over https`, false);
  }
  const hasSecret = terms.coreSecret !== '' && mayReceiveSecret(url, terms.ownOrigins);
  try {
    const answer = await httpCall(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `trunkline/${PRODUCT_VERSION}`,
        ...(hasSecret ? { [CORE_SECRET_HEADER]: terms.coreSecret } : {}),
      },
      body: post.body,
      timeoutMs: terms.timeoutMs ?? DELIVERY_TIMEOUT_MS,
      maxBytes: post.maxAnswerBytes,
      signal,
    });
    const { status } = answer;
    if (status >= 200 && status < 300) return { kind: 'delivered', detail: answer.body };
    const isTransient = status >= 500 || (post.passingStatuses ?? []).includes(status);
    return failed(`the ${to} answered ${status}`, isTransient, askedRetryMs(answer, Date.now()));
  } catch (error) {
    if (!(error instanceof HttpFailure)) return failed('the request cannot be built', false);
    return failed(error.kind === 'timeout' ? error.message : `${to} ${error.kind}`, true);
  }
}

function failed(error: string, isTransient: boolean, retryAfterMs: number | null = null) {
  return { kind: 'failed' as const, error, isTransient, retryAfterMs, detail: '' };
}
