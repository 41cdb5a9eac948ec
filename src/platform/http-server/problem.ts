import { ERRORS } from '../../contracts/error-catalogue.ts';
import { AppError } from '../app-error.ts';
import { isRecord } from '../json-shapes.ts';
import type { HttpReply } from './http-types.ts';

/**
 * The one error body (D-27, RFC 9457). `details.errors` of a validation error travels as `errors`, the
 * fields of `details.members` stand beside them, `details.headers` become headers of the answer; what is not an AppError is told to nobody, the request id leads to the log line.
 */
export function problemReply(error: unknown, requestId: string): HttpReply {
  const code = error instanceof AppError ? error.code : 'internal';
  const { status, title } = ERRORS[code];
  const detail =
    error instanceof AppError && code !== 'internal'
      ? error.message
      : 'something failed that should not; the log of the server has it under this request_id';
  const errors = error instanceof AppError ? error.details.errors : undefined;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(error instanceof AppError ? replyHeaders(error) : {}),
    },
    body: JSON.stringify({
      type: code === 'rate_limited' ? QUOTA_EXCEEDED : `urn:trunkline:problem:${code}`,
      title,
      status,
      detail,
      code,
      request_id: requestId,
      ...(errors === undefined ? {} : { errors }),
      ...(error instanceof AppError && isRecord(error.details.members) ? error.details.members : {}),
    }),
  };
}

/** The registered problem type of a used-up quota (draft-ietf-httpapi-ratelimit-headers). */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

function replyHeaders(error: AppError): Record<string, string> {
  const { allow, retryAfterSeconds, headers } = error.details;
  return {
    ...(isRecord(headers) ? (headers as Record<string, string>) : {}),
    ...(typeof allow === 'string' ? { allow } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {}),
  };
}
