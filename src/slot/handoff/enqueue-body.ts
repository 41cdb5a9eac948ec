import type { TranscriptEntry } from '../../contracts/call-results.ts';
import type { EnqueueBody } from '../../contracts/handoff.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';

/** Larger ones lose the oldest words of the conversation: an agent reads the end. */
export const MAX_ENQUEUE_BYTES = 524_288;
/** The first of these that is there names the caller (R83). */
const NAME_FIELDS = [
  'CUSTOMERNAME',
  'name',
  'customer_name',
  'borrower_name',
  'farmer_name',
  'FIRSTNAME',
] as const;

/** What the desk is told of a caller who waits (R47). */
export function enqueueBody(
  config: RuntimeConfig,
  call: {
    callId: string;
    room: string;
    /** As who the caller is in the room. */
    identity: string;
    number: string;
    reason: string;
    transcript: readonly TranscriptEntry[];
  },
): EnqueueBody {
  const name = nameOf(config);
  const language = spokenLanguage(config);
  const botName = (config as Record<string, unknown>).bot_name;
  const body: EnqueueBody = {
    call_id: call.callId,
    session_id: config.session_id,
    room: call.room,
    caller: {
      number: call.number,
      ...(name === null ? {} : { name }),
      identity: call.identity,
      ...(language === undefined ? {} : { language }),
    },
    bot: { bot_id: config.bot_id, ...(typeof botName === 'string' ? { name: botName } : {}) },
    escalation_reason: call.reason,
    transcript: [...call.transcript],
    variables: { call: config.call_context, crm: config.crm_context, sip: config.sip_context },
    context: config.agent_desk_context ?? null,
  };
  while (body.transcript.length > 0 && Buffer.byteLength(JSON.stringify(body)) > MAX_ENQUEUE_BYTES) {
    body.transcript.splice(0, Math.ceil(body.transcript.length / 4));
  }
  return body;
}

function nameOf(config: RuntimeConfig): string | null {
  const maps = [config.crm_context, config.call_context] as Record<string, unknown>[];
  for (const field of NAME_FIELDS) {
    for (const map of maps) {
      const value = map?.[field];
      if (typeof value === 'string' && value.trim() !== '') return value.trim().slice(0, 200);
    }
  }
  return null;
}
