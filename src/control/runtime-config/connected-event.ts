import { SESSION_ID_PATTERN } from '../../contracts/http-names.ts';
import { recordOf } from '../../platform/json-shapes.ts';
import { DESK_SESSION_PREFIX } from '../calls/agent-record.ts';
import type { CampaignLink } from '../calls/call-record.ts';
import { invalidQuery } from '../http/validation-issues.ts';

/** The caller's `connected` message, taken apart: what steers the platform, and what the bot may speak about. */
export interface ConnectedEvent {
  /** Every field that is no reserved flag: `call.*`. */
  fields: Record<string, unknown>;
  /** `_campaign_session_id`; null where the caller names no session. */
  sessionId: string | null;
  skipPrefetch: boolean;
  skipPostPush: boolean;
  mockCrm: Record<string, unknown>;
  /** `sip_candidate_headers` as they came; `filterSipHeaders` decides what the bot may see. */
  sipHeaders: Record<string, unknown>;
  campaign: CampaignLink | null;
}

/** The reserved control flags (R85 to R89). Where a caller may not set them, these names are refused. */
export const RESERVED_FLAGS: ReadonlySet<string> = new Set([
  '_campaign_session_id',
  '_skip_prefetch',
  '_skip_post_push',
  '_mock_crm',
  '_campaign_id',
  '_campaign_call_id',
  '_campaign_attempt',
  '_campaign_run_number',
  'sip_candidate_headers',
]);

/**
 * Fields of a connected event, and of `call.*`, by which the platform itself says what a call is. Who may not speak for
 * the platform, such as a visitor or the holder of a key, must not set them.
 */
export const PLATFORM_NAMES: ReadonlySet<string> = new Set([
  'event',
  'media',
  'caller_id',
  'from_number',
  'to_number',
  'call_direction',
  'call_id',
  'call_sid',
  'stream_id',
  'stream_sid',
  'session_id',
  'room_name',
  'transport',
  'trunk_id',
  'sip_call_id',
  'answered_at',
  'received_at',
  'participant_identity',
  'bot_id',
]);

/**
 * Reads the query parameter. What is no JSON object counts as `{}` (R144). Throws `validation_error` for a session id
 * that none can be: with another one in its place, the caller would never find its call again (R85).
 */
export function readConnectedEvent(text: string | null): ConnectedEvent {
  const event = parseObject(text);
  const flag = (name: string): unknown => (Object.hasOwn(event, name) ? event[name] : undefined);
  const sessionId = flag('_campaign_session_id');
  const mockCrm = flag('_mock_crm');
  const sipHeaders = flag('sip_candidate_headers');
  return {
    fields: Object.fromEntries(Object.entries(event).filter(([name]) => !RESERVED_FLAGS.has(name))),
    sessionId: sessionId === undefined || sessionId === null ? null : readSessionId(sessionId),
    skipPrefetch: isOn(flag('_skip_prefetch')),
    skipPostPush: isOn(flag('_skip_post_push')),
    mockCrm: recordOf(mockCrm),
    sipHeaders: recordOf(sipHeaders),
    campaign: readCampaign(flag),
  };
}

const FLAG_PLACE = 'connected_event/_campaign_session_id';
/** More of a wrong id is not repeated. */
const MAX_SHOWN_CHARS = 60;

function readSessionId(value: unknown): string {
  const shown = JSON.stringify(value).slice(0, MAX_SHOWN_CHARS);
  if (typeof value !== 'string' || !SESSION_ID_PATTERN.test(value)) {
    throw invalidQuery(
      FLAG_PLACE,
      `_campaign_session_id ${shown} is no session id: 1 to 200 letters, digits or . _ : @ -`,
    );
  }
  if (value.startsWith(DESK_SESSION_PREFIX)) {
    throw invalidQuery(
      FLAG_PLACE,
      `_campaign_session_id ${shown} cannot be used: ${DESK_SESSION_PREFIX} begins the records of the agent desk`,
    );
  }
  return value;
}

function readCampaign(flag: (name: string) => unknown): CampaignLink | null {
  const link: CampaignLink = {
    campaign_id: idOrNull(flag('_campaign_id')),
    campaign_call_id: idOrNull(flag('_campaign_call_id')),
    attempt: countOrNull(flag('_campaign_attempt')),
    run_number: countOrNull(flag('_campaign_run_number')),
  };
  return Object.values(link).every((value) => value === null) ? null : link;
}

function parseObject(text: string | null): Record<string, unknown> {
  try {
    return recordOf(JSON.parse(text ?? '{}'));
  } catch {
    return {};
  }
}

/** Diallers that only know strings send "true" and "1". */
function isOn(value: unknown): boolean {
  return value === true || value === 1 || value === 'true' || value === '1';
}

function idOrNull(value: unknown): string | null {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : null;
}

function countOrNull(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}
