import type { RefusalKind } from './llm/answer.ts';
import type { Complaint } from './llm/complaint.ts';
import type { PlainReply } from './llm/serve-answer.ts';

type Refusal = readonly [status: number, type: string, code: string | null, message: string];

/** Vendor's status and words for each kind of refusal (OpenAI's documentation, error codes). */
const REFUSALS: Record<RefusalKind, Refusal> = {
  rate_limit: [
    429,
    'requests',
    'rate_limit_exceeded',
    'Rate limit reached for this model. Please try again later.',
  ],
  quota: [
    429,
    'insufficient_quota',
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
  auth: [401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'],
  permission: [
    403,
    'invalid_request_error',
    'unsupported_country_region_territory',
    'Not allowed for this project.',
  ],
  not_found: [
    404,
    'invalid_request_error',
    'model_not_found',
    'The model does not exist or you do not have access to it.',
  ],
  bad_request: [400, 'invalid_request_error', null, 'The request is not valid.'],
  context_too_large: [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140001 tokens.",
  ],
  too_large: [413, 'invalid_request_error', null, 'The request body is too large.'],
  server_error: [
    500,
    'server_error',
    null,
    'The server had an error while processing your request. Sorry about that!',
  ],
  unavailable: [503, 'server_error', null, 'The service is temporarily unavailable.'],
  overloaded: [
    503,
    'server_error',
    'server_overloaded',
    'The engine is currently overloaded, please try again later.',
  ],
  timeout: [504, 'server_error', null, 'The request timed out.'],
};

/** A refusal with the headers of limits; `retry-after-ms` is the finer of the two that the vendor sends. */
export function openAiRefusal(kind: RefusalKind, retryAfterMs: number | undefined): PlainReply {
  const [status, type, code, message] = REFUSALS[kind];
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) {
    headers['retry-after'] = String(Math.ceil(retryAfterMs / 1_000));
    headers['retry-after-ms'] = String(retryAfterMs);
  }
  if (kind === 'rate_limit') headers['x-ratelimit-remaining-requests'] = '0';
  return { status, body: { error: { message, type, param: null, code } }, headers };
}

export function openAiComplaintBody(complaint: Complaint): Record<string, unknown> {
  return {
    error: {
      message: complaint.message,
      type: 'invalid_request_error',
      param: complaint.param ?? null,
      code: complaint.code ?? null,
    },
  };
}

export function answerHeaders(index: number): Record<string, string> {
  return {
    'x-request-id': `req_emulated_${index}`,
    'x-ratelimit-limit-requests': '500',
    'x-ratelimit-remaining-requests': '499',
    'x-ratelimit-reset-requests': '120ms',
    'x-ratelimit-limit-tokens': '200000',
    'x-ratelimit-remaining-tokens': '199000',
    'x-ratelimit-reset-tokens': '300ms',
  };
}
