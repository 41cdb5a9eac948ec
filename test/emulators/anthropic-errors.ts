import type { RefusalKind } from './llm/answer.ts';
import type { Complaint } from './llm/complaint.ts';
import type { PlainReply } from './llm/serve-answer.ts';

type Refusal = readonly [status: number, type: string, message: string];

/** Vendor's status and words for each kind of refusal (Anthropic's documentation, errors). */
const REFUSALS: Record<RefusalKind, Refusal> = {
  rate_limit: [429, 'rate_limit_error', 'This request would exceed the rate limit for your organization.'],
  quota: [402, 'billing_error', 'Your credit balance is too low to access the API.'],
  auth: [401, 'authentication_error', 'invalid x-api-key'],
  permission: [
    403,
    'permission_error',
    'Your API key does not have permission to use the specified resource.',
  ],
  not_found: [404, 'not_found_error', 'model not found'],
  bad_request: [400, 'invalid_request_error', 'The request is not valid.'],
  context_too_large: [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum'],
  too_large: [413, 'request_too_large', 'Request exceeds the maximum allowed number of bytes.'],
  server_error: [500, 'api_error', 'Internal server error'],
  unavailable: [503, 'api_error', 'Service unavailable'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
  timeout: [504, 'timeout_error', 'The request timed out.'],
};

export function claudeRefusal(kind: RefusalKind, retryAfterMs: number | undefined): PlainReply {
  const [status, type, message] = REFUSALS[kind];
  const headers: Record<string, string> = { 'request-id': 'req_refused' };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1_000));
  if (kind === 'rate_limit') headers['anthropic-ratelimit-requests-remaining'] = '0';
  return { status, body: { type: 'error', error: { type, message }, request_id: 'req_refused' }, headers };
}

/** The body of an `error` event in a stream that had begun. */
export function claudeStreamError(kind: RefusalKind): Record<string, unknown> {
  const [, type, message] = REFUSALS[kind];
  return { type: 'error', error: { type, message } };
}

export function claudeComplaintBody(complaint: Complaint): Record<string, unknown> {
  return {
    type: 'error',
    error: { type: complaint.code ?? 'invalid_request_error', message: complaint.message },
    request_id: 'req_refused',
  };
}

export function claudeHeaders(index: number): Record<string, string> {
  return {
    'request-id': `req_emulated_${index}`,
    'anthropic-ratelimit-requests-limit': '1000',
    'anthropic-ratelimit-requests-remaining': '999',
    'anthropic-ratelimit-requests-reset': '2026-11-20T00:00:00Z',
    'anthropic-ratelimit-input-tokens-limit': '400000',
    'anthropic-ratelimit-input-tokens-remaining': '399000',
    'anthropic-ratelimit-output-tokens-limit': '80000',
    'anthropic-ratelimit-output-tokens-remaining': '79000',
  };
}
