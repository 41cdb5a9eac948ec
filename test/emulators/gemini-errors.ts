import type { RefusalKind } from './llm/answer.ts';
import type { Complaint } from './llm/complaint.ts';
import type { PlainReply } from './llm/serve-answer.ts';

type Refusal = readonly [status: number, code: string, message: string];

/** Vendor's status and words for each kind of refusal (Gemini's documentation, errors). */
const REFUSALS: Record<RefusalKind, Refusal> = {
  rate_limit: [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
  quota: [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota for requests per day, please check your plan and billing details.',
  ],
  auth: [401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  permission: [403, 'PERMISSION_DENIED', 'The caller does not have permission'],
  not_found: [404, 'NOT_FOUND', 'The model is not found for this API version.'],
  bad_request: [400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  context_too_large: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1248576) exceeds the maximum number of tokens allowed (1048576).',
  ],
  too_large: [400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.'],
  server_error: [500, 'INTERNAL', 'An internal error has occurred. Please retry.'],
  unavailable: [503, 'UNAVAILABLE', 'The service is currently unavailable.'],
  overloaded: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  timeout: [504, 'DEADLINE_EXCEEDED', 'The request timed out. Please try again.'],
};

const TYPE = 'type.googleapis.com/google.rpc';

/** A refusal as JSON, with RetryInfo and QuotaFailure where the vendor gives them; there are no limit headers. */
export function geminiRefusal(
  kind: RefusalKind,
  retryAfterMs: number | undefined,
  model: string,
): PlainReply {
  const [status, code, message] = REFUSALS[kind];
  const details: unknown[] = [];
  if (status === 429) {
    const per = kind === 'quota' ? 'PerDay' : 'PerMinute';
    details.push({
      '@type': `${TYPE}.QuotaFailure`,
      violations: [{ quotaId: `GenerateRequests${per}PerProjectPerModel`, quotaDimensions: { model } }],
    });
  }
  if (retryAfterMs !== undefined) {
    details.push({ '@type': `${TYPE}.RetryInfo`, retryDelay: `${retryAfterMs / 1_000}s` });
  }
  return {
    status,
    body: { error: { code: status, message, status: code, ...(details.length > 0 ? { details } : {}) } },
  };
}

export function geminiStatusBody(complaint: Complaint): Record<string, unknown> {
  const details =
    complaint.param === undefined
      ? {}
      : { details: [{ '@type': `${TYPE}.ErrorInfo`, reason: complaint.param, domain: 'googleapis.com' }] };
  return {
    error: {
      code: complaint.status,
      message: complaint.message,
      status: complaint.code ?? 'INVALID_ARGUMENT',
      ...details,
    },
  };
}
