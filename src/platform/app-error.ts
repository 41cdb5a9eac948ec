import type { ErrorCode } from '../contracts/error-catalogue.ts';

/**
 * The one error class: a code of the catalogue, one sentence that says what to do, safe details, and the cause.
 * `details` may be logged and shown, so no secret and no personal data belongs in it.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Anything thrown, as a sentence for a log line or an event. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
