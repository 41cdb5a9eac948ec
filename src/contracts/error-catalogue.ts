/**
 * The one error catalogue. A code is never renamed and never reused; `docs/errors.md` is held to this list by a
 * test, both ways. `status` is the HTTP status where the error reaches one, `owner` says who can do something.
 */
export const ERRORS = {
  unauthorized: { status: 401, owner: 'caller', title: 'Credentials are missing or wrong' },
  totp_required: { status: 401, owner: 'caller', title: 'The second factor is needed' },
  forbidden: { status: 403, owner: 'caller', title: 'Not allowed with these credentials' },
  not_found: { status: 404, owner: 'caller', title: 'Not found' },
  method_not_allowed: { status: 405, owner: 'caller', title: 'This path has no such method' },
  validation_error: { status: 422, owner: 'caller', title: 'The request does not fit the schema' },
  payload_too_large: { status: 413, owner: 'caller', title: 'The request body is too large' },
  unsupported_media_type: {
    status: 415,
    owner: 'caller',
    title: 'The request body has the wrong content type',
  },
  bad_request: { status: 400, owner: 'caller', title: 'The request cannot be read' },
  conflict: { status: 409, owner: 'caller', title: 'The request contradicts what stands' },
  version_mismatch: { status: 412, owner: 'caller', title: 'The resource has changed meanwhile' },
  idempotency_mismatch: {
    status: 422,
    owner: 'caller',
    title: 'The Idempotency-Key was used for another request',
  },
  idempotency_in_progress: {
    status: 409,
    owner: 'caller',
    title: 'The first request with this Idempotency-Key is still at work',
  },
  rate_limited: { status: 429, owner: 'caller', title: 'Too many requests' },
  outside_active_hours: { status: 503, owner: 'operator', title: 'The bot is outside its active hours' },
  at_capacity: { status: 429, owner: 'caller', title: 'No free call slot' },
  no_fleet: { status: 503, owner: 'operator', title: 'No fleet server takes the call' },
  no_trunk: { status: 503, owner: 'operator', title: 'No outbound SIP trunk is set up' },
  sip_not_configured: {
    status: 503,
    owner: 'operator',
    title: 'The media server with SIP is not set up on this host',
  },
  media_not_configured: {
    status: 503,
    owner: 'operator',
    title: 'No media server is set up on this host',
  },
  media_unavailable: { status: 503, owner: 'operator', title: 'The media server does not answer' },
  origin_not_allowed: { status: 403, owner: 'caller', title: 'Pages of this origin may not use the widget' },
  media_token_failed: { status: 500, owner: 'operator', title: 'The media server token could not be made' },
  already_attached: { status: 409, owner: 'caller', title: 'The call has a bot already' },
  room_gone: { status: 409, owner: 'caller', title: 'The room of the call is gone' },
  reservation_expired: { status: 410, owner: 'caller', title: 'The reservation has expired' },
  draining: { status: 503, owner: 'operator', title: 'The host is draining' },
  store_unavailable: { status: 503, owner: 'operator', title: 'The store cannot be written' },
  internal: { status: 500, owner: 'developer', title: 'Something failed that should not' },
  bad_setting: { status: 500, owner: 'operator', title: 'A boot setting is wrong' },
  unknown_version: { status: 500, owner: 'operator', title: 'Written by another version of the product' },
  model_missing: {
    status: 500,
    owner: 'operator',
    title: 'A model file is missing or does not match its hash',
  },
  engine_missing: { status: 500, owner: 'operator', title: 'A local speech engine is not installed' },
  bad_provider_config: { status: 422, owner: 'operator', title: 'A provider setting in the bot is wrong' },
  provider_failed: { status: 502, owner: 'provider', title: 'A provider failed' },
  provider_timeout: { status: 504, owner: 'provider', title: 'A provider did not answer in time' },
  config_not_found: { status: 404, owner: 'operator', title: 'The control plane does not know the bot' },
  config_failed: { status: 502, owner: 'operator', title: 'The call config could not be fetched' },
  bad_config: { status: 502, owner: 'operator', title: 'The call config cannot be used' },
  disk_full: { status: 507, owner: 'operator', title: 'The disk is full' },
  slot_died: { status: 500, owner: 'developer', title: 'The call process died' },
  slot_hung: { status: 500, owner: 'developer', title: 'The call process hung and was killed' },
} as const;

export type ErrorCode = keyof typeof ERRORS;
