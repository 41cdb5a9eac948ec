import { type GuardedHttp, OutboundFailure } from '../../platform/guarded-http.ts';
import { askedRetryMs } from '../../platform/retry-after.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';
import type { AttemptLog, Delivery } from './delivery.ts';
import { webhookHeaders } from './sign-webhook.ts';

/** Where a message goes now, with everything that is secret about it. */
export interface Target {
  url: string;
  /** Extra headers; their values are masked in the log. */
  headers: Readonly<Record<string, string>>;
  signingSecrets: readonly string[];
}

/** A receiver that has not answered by then has failed (D-51). */
const DELIVERY_TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 65_536;
/** What the log keeps of a body. */
const MAX_LOGGED_REQUEST = 16_384;
const MAX_LOGGED_ANSWER = 4_096;

export interface AttemptOutcome {
  delivered: boolean;
  retryAfterMs: number | null;
  log: AttemptLog;
}

/** One attempt. Rejects never; what went wrong is in the outcome. */
export async function sendDelivery(
  http: GuardedHttp,
  delivery: Delivery,
  target: Target,
  nowMs: number,
  signal?: AbortSignal,
  timeoutMs: number = DELIVERY_TIMEOUT_MS,
): Promise<AttemptOutcome> {
  const signed = webhookHeaders(delivery.id, Math.floor(nowMs / 1000), delivery.body, target.signingSecrets);
  const plain = {
    'content-type': 'application/json',
    'user-agent': `trunkline/${PRODUCT_VERSION}`,
    ...signed,
  };
  const log: AttemptLog = {
    delivery_id: delivery.id,
    type: delivery.type,
    session_id: delivery.session_id,
    attempt: delivery.attempts_total + 1,
    at: new Date(nowMs).toISOString(),
    ms: 0,
    request: {
      method: 'POST',
      url: maskedUrl(target.url),
      headers: { ...masked(target.headers), ...plain },
      body: cut(delivery.body, MAX_LOGGED_REQUEST),
    },
    response: null,
    error: null,
  };
  try {
    const answer = await http.send(target.url, {
      method: 'POST',
      headers: { ...target.headers, ...plain },
      body: delivery.body,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      ...(signal ? { signal } : {}),
    });
    const delivered = answer.status >= 200 && answer.status < 300;
    return {
      delivered,
      retryAfterMs: askedRetryMs(answer, nowMs),
      log: {
        ...log,
        ms: answer.ms,
        response: {
          status: answer.status,
          headers: loggedHeaders(answer.headers),
          body: cut(withoutSecrets(answer.body, target), MAX_LOGGED_ANSWER),
        },
        error: delivered ? null : statusSentence(answer.status),
      },
    };
  } catch (error) {
    const failure = error instanceof OutboundFailure ? error : null;
    return {
      delivered: false,
      retryAfterMs: null,
      log: { ...log, ms: failure?.ms ?? 0, error: failure?.message ?? 'the request could not be made' },
    };
  }
}

function statusSentence(status: number): string {
  return status >= 300 && status < 400
    ? `the receiver answered ${status}; redirects are not followed`
    : `the receiver answered ${status}`;
}

function loggedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['content-type', 'retry-after', 'date', 'server', 'x-request-id']) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = value.slice(0, 200);
  }
  return kept;
}

function masked(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
}

/** Receivers put tokens into queries; the names tell enough. */
export function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return MASK;
  const url = new URL(text);
  const names = [...new Set(url.searchParams.keys())];
  const query = names.map((name) => `${encodeURIComponent(name)}=${MASK}`).join('&');
  return `${url.origin}${url.pathname}${query === '' ? '' : `?${query}`}`;
}

/** A receiver that echoes the request must not bring a secret into the log. */
function withoutSecrets(text: string, target: Target): string {
  let clean = text;
  for (const secret of [...Object.values(target.headers), ...target.signingSecrets]) {
    // "Bearer abc" may come back as "abc".
    for (const part of new Set([secret, ...secret.split(' ')])) {
      if (part.length >= MIN_SECRET_CHARS) clean = clean.replaceAll(part, MASK);
    }
  }
  return clean;
}

const MASK = '***';
/** Shorter values would mask half of the text. */
const MIN_SECRET_CHARS = 6;

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length} characters)`;
}
