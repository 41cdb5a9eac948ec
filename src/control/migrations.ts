import { setImmediate as nextTurn } from 'node:timers/promises';
import { STORE_VERSION } from '../contracts/versions.ts';
import { AppError } from '../platform/app-error.ts';
import { textOrNull } from '../platform/json-shapes.ts';
import type { KeyValueStore } from '../platform/key-value-store.ts';
import type { Logger } from '../platform/logger.ts';
import { adoptPublishedBots } from './bots/lmdb-bot-store.ts';
import { type ActiveCall, type CallRecord, newRecord } from './calls/call-record.ts';
import { openCallTables, writeRecord } from './calls/call-tables.ts';

/**
 * Leads from one version of the store to the next. A step may be killed at any point and is run again from its start, so
 * it must pass over what it has done already.
 */
interface Migration {
  to: number;
  run(store: KeyValueStore): Promise<number>;
}

/** In order, without a gap. */
const MIGRATIONS: readonly Migration[] = [
  {
    to: 2,
    run: async (store) => (await completeCallRecords(store)) + (await adoptPublishedBots(store)),
  },
];

/**
 * Brings a store that an older version wrote to the present one. Runs before anything else reads the store. Each step
 * writes its version down when it is done; until then a mixture stands on the disk that the older product must not
 * read, so the store is marked first.
 */
export async function migrateStore(store: KeyValueStore, logger: Logger): Promise<void> {
  const marks = store.table<{ from: number }>(MIGRATION_TABLE);
  const from = marks.get(RUNNING)?.from ?? store.version();
  if (from === STORE_VERSION) return;
  if (from > STORE_VERSION) {
    throw new AppError(
      'unknown_version',
      `the store has version ${from}, this product reads ${STORE_VERSION}`,
    );
  }
  logger.info({ from, to: STORE_VERSION }, 'the store is brought to the present version');
  await marks.put(RUNNING, { from });
  await store.setVersion(STORE_VERSION);
  for (const migration of MIGRATIONS.filter(({ to }) => to > from)) {
    const changed = await migration.run(store);
    await marks.put(RUNNING, { from: migration.to });
    logger.info({ version: migration.to, changed }, 'a step of the migration is done');
  }
  await marks.remove(RUNNING);
}

const MIGRATION_TABLE = 'migrations';
const RUNNING = 'running';

/** Records in one commit: they may be megabytes each. */
const BATCH = 50;

/** Version 2: the whole call record, and the index that calls are found by; bots get drafts and versions. */
async function completeCallRecords(store: KeyValueStore): Promise<number> {
  const tables = openCallTables(store);
  let changed = 0;
  let after: string | null = null;
  while (true) {
    const keys = tables.records.keys({
      limit: BATCH,
      ...(after === null ? {} : { start: after, exclusiveStart: true }),
    });
    if (keys.length === 0) return changed;
    changed += await store.transaction((writes) => {
      let written = 0;
      for (const key of keys) {
        const record: unknown = writes.get(tables.records, key);
        if (!isRecordV1(record)) continue;
        writeRecord(writes, tables, null, upgradeRecordV1(record));
        written++;
      }
      return written;
    });
    after = String(keys.at(-1));
    await nextTurn();
  }
}

/** A record of store version 1, as far as it differs: campaign nested, none of the later fields. */
interface RecordV1 extends Omit<ActiveCall, 'max_call_duration_seconds'> {
  schema_version: 1;
  status: CallRecord['status'];
  disconnected_by: CallRecord['disconnected_by'];
  post_call_analysis: Record<string, unknown> | null;
}

/** Whether the migration still has to bring this record to the present shape. */
function isRecordV1(record: unknown): record is RecordV1 {
  return (record as { schema_version?: unknown } | null)?.schema_version === 1;
}

/** The record in the present shape. What version 1 did not know is empty, except what its analysis says already. */
function upgradeRecordV1(old: RecordV1): CallRecord {
  const { schema_version: _version, campaign, ...known } = old;
  const analysis = old.post_call_analysis ?? {};
  return {
    // Written over the empty record, so that every later field is there.
    ...newRecord({ ...known, campaign }),
    ...known,
    schema_version: 2,
    disposition: shortText(analysis.disposition),
    summary: shortText(analysis.summary),
    sentiment: shortText(analysis.sentiment),
  };
}

/** Longer texts of version 1 are cut. */
const MAX_TEXT_CHARS = 10_000;

function shortText(value: unknown): string | null {
  return textOrNull(value)?.slice(0, MAX_TEXT_CHARS) ?? null;
}
