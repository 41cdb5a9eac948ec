import { recordOf } from '../../platform/json-shapes.ts';
import type { CampaignLink } from '../calls/call-record.ts';

/** The caller's `connected` message, taken apart: what steers the platform, and what the bot may speak about. */
export interface ConnectedEvent {
  /** Every field that is no reserved flag: `call.*`. */
  fields: Record<string, unknown>;
  /** `_campaign_session_id`, where it can name a session. */
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

/** Session ids stand in paths and store keys. */
const SESSION_ID = /^[A-Za-z0-9._:@-]{1,200}$/;

/** Reads the query parameter. What is no JSON object counts as `{}` (R144). */
export function readConnectedEvent(text: string | null): ConnectedEvent {
  const event = parseObject(text);
  const flag = (name: string): unknown => (Object.hasOwn(event, name) ? event[name] : undefined);
  const sessionId = flag('_campaign_session_id');
  const mockCrm = flag('_mock_crm');
  const sipHeaders = flag('sip_candidate_headers');
  return {
    fields: Object.fromEntries(Object.entries(event).filter(([name]) => !RESERVED_FLAGS.has(name))),
    sessionId: typeof sessionId === 'string' && SESSION_ID.test(sessionId) ? sessionId : null,
    skipPrefetch: isOn(flag('_skip_prefetch')),
    skipPostPush: isOn(flag('_skip_post_push')),
    mockCrm: recordOf(mockCrm),
    sipHeaders: recordOf(sipHeaders),
    campaign: readCampaign(flag),
  };
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
