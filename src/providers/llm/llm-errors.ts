import { AppError } from '../../platform/app-error.ts';
import { recordOrNull, textOrNull } from '../../platform/json-shapes.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import { classOfStatus, type FailureClass, providerError } from '../contract/provider-error.ts';

/** What a vendor said about a request that it did not serve, read from whatever its SDK threw. */
export interface SdkRefusal {
  /** HTTP status; null for an error inside a stream that had begun well, and for a broken connection. */
  status: number | null;
  /** The vendor's own word, such as `rate_limit_exceeded`, `overloaded_error`, `RESOURCE_EXHAUSTED`. */
  code: string | null;
  message: string;
  /** The request's field that was refused, where the vendor names it. */
  param: string | null;
  retryAfterMs: number | null;
  requestId: string | null;
}

const MAX_MESSAGE_LENGTH = 300;
/** A wait that a vendor asks for is believed up to here. */
const MAX_RETRY_AFTER_MS = 600_000;

/** Words of the vendors that say more than the status; their documentation lists them. */
const CLASS_OF_CODE: Record<string, FailureClass> = {
  insufficient_quota: 'quota',
  billing_error: 'quota',
  billing_hard_limit_reached: 'quota',
  rate_limit_exceeded: 'rate_limit',
  rate_limit_error: 'rate_limit',
  RESOURCE_EXHAUSTED: 'rate_limit',
  overloaded_error: 'transient',
  api_error: 'transient',
  timeout_error: 'transient',
  server_error: 'transient',
  UNAVAILABLE: 'transient',
  INTERNAL: 'transient',
  DEADLINE_EXCEEDED: 'transient',
  authentication_error: 'auth',
  permission_error: 'auth',
  invalid_api_key: 'auth',
  UNAUTHENTICATED: 'auth',
  PERMISSION_DENIED: 'auth',
  invalid_request_error: 'config',
  not_found_error: 'config',
  model_not_found: 'config',
  INVALID_ARGUMENT: 'config',
  FAILED_PRECONDITION: 'config',
  NOT_FOUND: 'config',
  // Another vendor may take what is too long for this one, or what this one's filter refuses.
  context_length_exceeded: 'content',
  request_too_large: 'content',
  content_filter: 'content',
  content_policy_violation: 'content',
};

/** Anything that an SDK threw, as the error that the layers above decide by. An AppError passes through. */
export function llmError(provider: string, error: unknown, secrets: readonly string[]): AppError {
  if (error instanceof AppError) return error;
  const refusal = readRefusal(error);
  const failure = {
    provider,
    family: 'llm' as const,
    class: classOf(refusal),
    status: refusal.status,
    ...(refusal.code !== null && { vendorCode: clean(refusal.code, secrets).slice(0, 80) }),
    ...(refusal.retryAfterMs !== null && { retryAfterMs: refusal.retryAfterMs }),
    ...(refusal.requestId !== null && { requestId: refusal.requestId.slice(0, 120) }),
  };
  const status = refusal.status === null ? '' : ` with status ${refusal.status}`;
  return providerError(failure, `${provider} failed${status}: ${clean(refusal.message, secrets)}`);
}

/** A fault that the client itself finds in an answer. */
export function answerFault(
  provider: string,
  failureClass: FailureClass,
  vendorCode: string,
  sentence: string,
): AppError {
  return providerError(
    { provider, family: 'llm', class: failureClass, status: null, vendorCode },
    `${provider} ${sentence}`,
  );
}

/** Reads what the SDKs throw by shape: their classes would have to be imported, and so their weight paid, to be named. */
export function readRefusal(error: unknown): SdkRefusal {
  const thrown = (error ?? {}) as Record<string, unknown>;
  const body = bodyOf(thrown);
  const inner = recordOrNull(body?.error) ?? body ?? {};
  const headers = thrown.headers;
  const details = Array.isArray(inner.details) ? inner.details : [];
  return {
    status: typeof thrown.status === 'number' ? thrown.status : null,
    code: codeOf(inner, details) ?? networkCode(thrown),
    message: textOrNull(inner.message) ?? networkMessage(thrown),
    param: textOrNull(inner.param),
    retryAfterMs: retryAfterOf(headers, details),
    requestId:
      textOrNull(thrown.requestID) ??
      textOrNull(body?.request_id) ??
      headerOf(headers, 'x-request-id') ??
      null,
  };
}

function classOf(refusal: SdkRefusal): FailureClass {
  const byCode = refusal.code === null ? undefined : CLASS_OF_CODE[refusal.code];
  if (refusal.code === 'API_KEY_INVALID') return 'auth';
  if (isTooLong(refusal.message)) return 'content';
  // A status says more than the word beside it, except where the word divides one status in two.
  if (refusal.status !== null && byCode !== 'quota' && byCode !== 'content') {
    return classOfStatus(refusal.status);
  }
  return byCode ?? (refusal.status === null ? 'transient' : classOfStatus(refusal.status));
}

/** Vendors have no common code for a prompt beyond the model's context; all of them say so in these words. */
function isTooLong(message: string): boolean {
  return /context (length|window)|prompt is too long|exceeds the maximum number of tokens/i.test(message);
}

/** openai gives the inner error object, anthropic the whole body, genai the body as JSON inside the message. */
function bodyOf(thrown: Record<string, unknown>): Record<string, unknown> | null {
  const given = recordOrNull(thrown.error);
  if (given) return given;
  const message = textOrNull(thrown.message);
  const start = message?.indexOf('{') ?? -1;
  if (message === null || start < 0) return null;
  try {
    const parsed = recordOrNull(JSON.parse(message.slice(start)));
    // What an answer held is no error and belongs in no record.
    if (!parsed || !Object.hasOwn(parsed, 'error')) return null;
    // A proxy's plain text error comes wrapped by the SDK, with the vendor's JSON sometimes inside once more.
    const nested = textOrNull(recordOrNull(parsed.error)?.message);
    if (nested?.startsWith('{')) return recordOrNull(JSON.parse(nested)) ?? parsed;
    return parsed;
  } catch {
    return null;
  }
}

function codeOf(inner: Record<string, unknown>, details: readonly unknown[]): string | null {
  const reason = details
    .map((detail) => textOrNull(recordOrNull(detail)?.reason))
    .find((text) => text !== null);
  if (reason === 'API_KEY_INVALID') return reason;
  return textOrNull(inner.code) ?? textOrNull(inner.status) ?? textOrNull(inner.type);
}

function retryAfterOf(headers: unknown, details: readonly unknown[]): number | null {
  const exactMs = Number(headerOf(headers, 'retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exactMs)) return boundedWait(exactMs);
  const waitMs = retryAfterMs(headerOf(headers, 'retry-after'), MAX_RETRY_AFTER_MS);
  if (waitMs !== null) return waitMs;
  // google.rpc.RetryInfo: a duration such as `12.5s`.
  for (const detail of details) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(textOrNull(recordOrNull(detail)?.retryDelay) ?? '');
    if (delay) return boundedWait(Number(delay[1]) * 1000);
  }
  return null;
}

function boundedWait(ms: number): number {
  return Math.round(Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS));
}

function headerOf(headers: unknown, name: string): string | null {
  return headers instanceof Headers ? headers.get(name) : null;
}

/** The system's error code lies at the bottom of a chain of causes: SDK, fetch, socket. */
function networkCode(thrown: Record<string, unknown>): string | null {
  let current: unknown = thrown;
  for (let depth = 0; depth < 5 && current !== null && typeof current === 'object'; depth++) {
    const code = (current as Record<string, unknown>).code;
    if (typeof code === 'string') return code;
    current = (current as Record<string, unknown>).cause;
  }
  return null;
}

function networkMessage(thrown: Record<string, unknown>): string {
  const code = networkCode(thrown);
  if (code !== null) return `the connection failed (${code})`;
  const name = textOrNull(thrown.name);
  const message = textOrNull(thrown.message);
  // The SDKs quote the event that they could not read, and with it what the caller was told.
  if (name === 'SyntaxError' || message?.includes('{')) return 'the stream held an event that is not JSON';
  return message ?? 'the connection failed';
}

/** Keys may stand in a vendor's message in full or shortened; neither they nor addresses belong in a record. */
function clean(message: string, secrets: readonly string[]): string {
  let text = message;
  for (const secret of secrets) if (secret.length >= 4) text = text.replaceAll(secret, '[key]');
  text = text
    .replace(/\b(?:sk|pk)-[\w*.-]{4,}|\bAIza[\w*-]{8,}/g, '[key]')
    .replace(/https?:\/\/\S+/g, '[address]')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}...` : text;
}
