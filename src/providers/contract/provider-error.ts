import { AppError } from '../../platform/app-error.ts';

/**
 * What a caller of a provider may do about a failure (reference: vendors' error tables, mapped to one meaning).
 * `config`, `auth` and `quota` will fail again and are not retried; `rate_limit` and `transient` may go well later or
 * elsewhere; `content` is a refusal of what was asked, which another vendor may take.
 */
export type FailureClass = 'config' | 'auth' | 'quota' | 'rate_limit' | 'transient' | 'content';

export interface ProviderFailure {
  provider: string;
  family: 'stt' | 'llm' | 'tts';
  class: FailureClass;
  /** HTTP status or close code, null where the vendor gave none. */
  status: number | null;
  /** The vendor's own code, such as `DATA-0000`. */
  vendorCode?: string;
  /** Not before this long, where the vendor says so. */
  retryAfterMs?: number;
  requestId?: string;
}

/** An AppError whose details are the failure; `message` names the vendor and what it said, never a key or a URL. */
export function providerError(
  failure: ProviderFailure,
  message: string,
  kind: 'provider_failed' | 'provider_timeout' = 'provider_failed',
): AppError {
  return new AppError(kind, message, { details: { ...failure } });
}

/** The class of a failure; what is not from a provider counts as `transient`. */
export function failureClass(error: unknown): FailureClass {
  const details =
    error instanceof AppError ? (error.details as Partial<ProviderFailure> | undefined) : undefined;
  return details?.class ?? 'transient';
}

/** Codes of a tool call that cannot be read: our own, and Gemini's, which reads the calls itself. */
const MALFORMED_CALLS = new Set([
  'invalid_tool_arguments',
  'invalid_tool_call',
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
]);

/** Whether a model called a tool in a form that cannot be read: asked again, it mostly does better. */
export function isMalformedCall(error: unknown): boolean {
  const details =
    error instanceof AppError ? (error.details as Partial<ProviderFailure> | undefined) : undefined;
  return MALFORMED_CALLS.has(details?.vendorCode ?? '');
}

/** HTTP statuses that mean the same at every vendor (D-34). */
export function classOfStatus(status: number): FailureClass {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  if (status === 429) return 'rate_limit';
  if (status === 408 || status >= 500) return 'transient';
  return 'config';
}
