import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import { isSafeTransport, mayReceiveSecret } from '../../platform/origins.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';

/** A receiver that has not answered by then is tried again: delivery is at least once, and the receiver compares ids. */
export const DELIVERY_TIMEOUT_MS = 15_000;
/** Only the status of the answer counts; a longer text is cut off. */
const MAX_ANSWER_BYTES = 65_536;

export type DeliveryOutcome = 'delivered' | { error: string; transient: boolean };

/** Who may be told the core secret, and how long a receiver may take. */
export interface DeliveryTerms {
  coreSecret: string;
  ownOrigins: readonly string[];
  timeoutMs: number;
}

/**
 * Posts one results payload. Any 2xx acknowledges (D-46), a redirect does not, and the core secret goes to own
 * origins only (D-52). The error texts name neither payload nor URL, so they may be logged.
 */
export async function deliverOnce(
  webhookUrl: string,
  body: string,
  terms: DeliveryTerms,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  if (!URL.canParse(webhookUrl)) return { error: 'webhook_url is not a URL', transient: false };
  if (!isSafeTransport(new URL(webhookUrl))) {
    return {
      error: 'webhook_url is plain http to another machine; results go over https',
      transient: false,
    };
  }
  const secret = terms.coreSecret !== '' && mayReceiveSecret(webhookUrl, terms.ownOrigins);
  try {
    const answer = await httpCall(webhookUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `trunkline/${PRODUCT_VERSION}`,
        ...(secret ? { [CORE_SECRET_HEADER]: terms.coreSecret } : {}),
      },
      body,
      timeoutMs: terms.timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
    return judgeStatus(answer.status);
  } catch (error) {
    if (!(error instanceof HttpFailure)) return { error: 'the request cannot be built', transient: false };
    return { error: error.kind === 'timeout' ? error.message : `receiver ${error.kind}`, transient: true };
  }
}

function judgeStatus(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return 'delivered';
  return { error: `the receiver answered ${status}`, transient: status >= 500 };
}
