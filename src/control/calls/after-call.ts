import { CallResults } from '../../contracts/call-results.ts';
import type { PostCallPush } from '../../contracts/crm.ts';
import type { Variables } from '../../platform/render-template.ts';
import { type RenderedValue, renderJson, renderUrl } from '../../platform/render-values.ts';
import { flatFields } from './flat-fields.ts';

/** What the mapper and the webhooks read of a call record; the record has more. */
export interface RecordFacts {
  session_id: string;
  bot_id: string;
  bot_name: string;
  status: string;
  call_direction: string;
  caller_id: string;
  from_number: string | null;
  created_at: string;
  ended_at: string | null;
  timezone: string;
  connected_event: Readonly<Record<string, unknown>>;
  sip_context: Readonly<Record<string, unknown>>;
  crm_data: Readonly<Record<string, unknown>>;
  skip_post_push: boolean;
  post_call_analysis?: unknown;
  disposition?: string | null;
  summary?: string | null;
  sentiment?: string | null;
  deleted_at?: string | null;
  reopened?: number | undefined;
}

/** `system.*` of a time zone at a moment (R77). */
export type SystemVariables = (timezone: string, nowIso: string) => Readonly<Record<string, unknown>>;

/**
 * The namespaces after a call: those of the start, and `results`, `analysis` and `bot` (D-26). Nested values
 * have dotted names: `{{results.end_detail.sip_code}}`, `{{analysis.intent}}`.
 */
export function afterCallVariables(call: RecordFacts, system: SystemVariables, nowIso: string): Variables {
  const results = resultsPayload(call);
  return {
    system: system(call.timezone, nowIso),
    call: {
      caller_id: call.caller_id,
      from_number: call.from_number,
      call_direction: call.call_direction,
      session_id: call.session_id,
      status: call.status,
      ...call.sip_context,
      ...call.connected_event,
    },
    crm: call.crm_data,
    results: {
      ...flatFields(results),
      status: call.status,
      disposition: call.disposition ?? null,
      summary: call.summary ?? null,
      sentiment: call.sentiment ?? null,
    },
    analysis: flatFields(call.post_call_analysis ?? {}),
    bot: { bot_id: call.bot_id, name: call.bot_name },
  };
}

/** The call results payload as it stands in the record (R95: the CRM push can use it). */
export function resultsPayload(call: RecordFacts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(call).filter(([name]) => Object.hasOwn(CallResults.properties, name)),
  );
}

export interface RenderedPush {
  url: string;
  body: unknown;
  /** Variables that the call does not have. */
  missing: readonly string[];
}

/** What would be, or is, sent to the CRM for this call. The headers are filled when it is sent: they hold secrets. */
export function renderPush(push: PostCallPush, call: RecordFacts, variables: Variables): RenderedPush {
  const { url, missing } = renderUrl(push.push_url, variables);
  const body: RenderedValue =
    push.key_mapper === undefined || push.key_mapper === null
      ? { value: resultsPayload(call), missing: [] }
      : renderJson(push.key_mapper, variables, push.missing ?? 'literal');
  return { url, body: body.value, missing: [...new Set([...missing, ...body.missing])] };
}
