import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CallRecord, newRecord } from '../src/control/calls/call-record.ts';
import { openCallTables, writeRecord } from '../src/control/calls/call-tables.ts';
import type { KeyValueStore } from '../src/platform/key-value-store.ts';
import { seededRandom } from '../test/harness/seeded-random.ts';

/** Time of the first generated call; one follows every twelve seconds. */
export const FIRST_CALL_MS = Date.UTC(2026, 0, 1);
export const CALL_EVERY_MS = 12_000;
const BATCH = 500;

const DISPOSITIONS = ['Resolved', 'Callback', 'Sold', 'Refused', 'Wrong Number', 'Complaint', 'Rare'];

/**
 * Fills a store with compact ended calls as a busy year would leave them: 20 bots of falling share, most calls completed,
 * a few long ones, one caller in five calling again, `Sold` only where a call was completed and `Rare` once in 10,000.
 */
export async function generateCalls(store: KeyValueStore, calls: number, seed: number): Promise<void> {
  const tables = openCallTables(store);
  const random = seededRandom(seed);
  for (let from = 0; from < calls; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, calls - from) }, (_, i) =>
      generatedCall(from + i, calls, random),
    );
    await store.transaction((writes) => {
      for (const record of batch) writeRecord(writes, tables, null, record);
    });
    await nextTurn();
  }
}

export function generatedCall(index: number, calls: number, random: () => number): CallRecord {
  const createdAt = new Date(FIRST_CALL_MS + index * CALL_EVERY_MS).toISOString();
  const bot = Math.floor(20 * random() ** 2);
  const outbound = random() < 0.3;
  const luck = random();
  const status = luck < 0.86 ? 'completed' : luck < 0.95 ? 'not_connected' : 'failed';
  const seconds = status === 'completed' ? Math.round(-Math.log(1 - random()) * 120) : 0;
  const caller = `+91${9_000_000_000 + Math.floor(random() * calls * 0.8)}`;
  const record = newRecord({
    session_id: `s-${String(index).padStart(9, '0')}`,
    bot_id: `bot-${bot}`,
    bot_name: `Bot ${bot}`,
    call_type: 'bot',
    stream_id: '',
    caller_id: caller,
    from_number: null,
    call_direction: outbound ? 'outbound' : 'inbound',
    timezone: 'Asia/Kolkata',
    created_at: createdAt,
    connected_event: {},
    sip_context: {},
    crm_data: {},
    integration_log: [],
    campaign: outbound
      ? {
          campaign_id: `cmp_${Math.floor(random() * 50)}`,
          campaign_call_id: `ctc_${index}`,
          attempt: 1,
          run_number: 1,
        }
      : null,
    skip_post_push: false,
  });
  return {
    ...record,
    status,
    disconnected_by: status === 'failed' ? 'error' : status === 'completed' ? 'customer' : 'no_answer',
    disposition: dispositionOf(status, index, random),
    call_duration_seconds: index % 20_000 === 7 ? 4_000 : seconds,
    billable_duration_seconds: seconds,
    ended_at: new Date(Date.parse(createdAt) + seconds * 1_000).toISOString(),
    tags: random() < 0.1 ? [`tag-${Math.floor(random() * 30)}`] : [],
    transcript: [{ speaker: 'bot', text: 'Namaste, this is the clinic.', timestamp: 0.4 }],
    events: [],
    usage_metrics: [],
    post_call_analysis: {},
    was_transferred: false,
  };
}

function dispositionOf(status: CallRecord['status'], index: number, random: () => number): string | null {
  if (index % 10_000 === 42) return 'Rare';
  if (status !== 'completed') return random() < 0.5 ? 'Refused' : null;
  return DISPOSITIONS[Math.floor(random() * 6)] ?? null;
}
