import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { OLDEST_STORE_VERSION, STORE_VERSION } from '../../../src/contracts/versions.ts';
import { createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { createCallRecordStore } from '../../../src/control/calls/lmdb-call-store.ts';
import { migrateStore } from '../../../src/control/migrations.ts';
import {
  type KeyValueStore,
  openKeyValueStore,
  type StoreKey,
} from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { projectPath } from '../../../src/platform/project-paths.ts';
import { testResults } from '../../harness/control.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const logger = createLogger({ level: 'silent', role: 'test' });
const folder = tempFolder();

/** Every table of a store that the first version of the product wrote: a bot, three calls and an orphan. */
const thin = JSON.parse(
  readFileSync(projectPath('test/control/records/fixtures/thin-store.json'), 'utf8'),
) as Record<string, [StoreKey, unknown][]>;

async function writeThinStore(name: string): Promise<string> {
  const path = join(folder, name);
  const store = openKeyValueStore(path);
  for (const [table, entries] of Object.entries(thin)) {
    for (const [key, value] of entries) await store.table(table).put(key, value);
  }
  await store.close();
  return path;
}

async function checkMigrated(t: Test, store: KeyValueStore): Promise<void> {
  const calls = createCallRecordStore(store);
  t.equal(store.version(), STORE_VERSION);
  t.match(await calls.get('thin-ended'), {
    schema_version: 2,
    version: 1,
    id: 'call_thin-ended',
    status: 'completed',
    disposition: 'Resolved',
    summary: 'A short call.',
    created_at: '2026-03-01T12:00:00.000Z',
    ended_at: '2026-03-01T12:01:00.000Z',
    connected_event: { city: 'Pune' },
    results_extra: { vendor: 'x' },
    tags: [],
    deleted_at: null,
  });
  const active = await calls.get('thin-active');
  t.match(active, { campaign_id: 'cmp_1', campaign_call_id: 'ctc_9', attempt: 2, run_number: 1 });
  t.notOk('campaign' in (active ?? {}), 'the link of the campaign stands in one place');
  const ids = async (query: Parameters<typeof calls.list>[0]) =>
    (await calls.list(query)).rows.map((row) => row.session_id);
  t.strictSame(await ids({ limit: 9 }), ['thin-failed', 'thin-active', 'thin-ended']);
  t.strictSame(await ids({ limit: 9, anyOf: { status: ['failed'] } }), ['thin-failed']);
  t.strictSame(await ids({ limit: 9, anyOf: { disposition: ['Resolved'] } }), ['thin-ended']);
  t.strictSame(await ids({ limit: 9, anyOf: { campaign_id: ['cmp_1'] } }), ['thin-active']);
  const bots = createBotStore(store);
  t.match(await bots.get('demo'), { bot_id: 'demo' });
  t.match(await bots.list({ limit: 9 }), [{ bot_id: 'demo', published_version: 1 }]);
  t.match(await calls.listOrphans(9), [{ session_id: 'thin-orphan' }]);
}

t.test('a store of the first version opens, is migrated once, and goes on working', async (t) => {
  const path = await writeThinStore('first');
  t.throws(() => openKeyValueStore(path), { code: 'unknown_version' }, 'not without the migrations');
  const store = openKeyValueStore(path, { migrates: true });
  t.equal(store.version(), OLDEST_STORE_VERSION);
  await migrateStore(store, logger);
  await checkMigrated(t, store);
  const calls = createCallRecordStore(store);
  const same = thin['call-records']?.find(([key]) => key === 'thin-ended')?.[1] as { transcript: [] };
  t.match(
    await calls.complete(
      testResults('thin-ended', { transcript: same.transcript }),
      '2026-03-02T00:00:00.000Z',
    ),
    { outcome: 'duplicate' },
    'results that came before the migration are still known',
  );
  const lost = await calls.markLost('2026-03-02T00:00:00.000Z', 9, () => false);
  t.strictSame(
    lost.map((record) => record.session_id),
    ['thin-active'],
    'a call that was open then is given up in time',
  );
  await store.close();

  const again = openKeyValueStore(path);
  await migrateStore(again, logger);
  t.match(
    await createCallRecordStore(again).get('thin-active'),
    { status: 'lost' },
    'nothing is migrated twice',
  );
  await again.close();
});

t.test('a migration that was killed half-way is finished by the next start', async (t) => {
  const path = await writeThinStore('killed');
  const store = openKeyValueStore(path, { migrates: true });
  const records = store.table('call-records');
  // The disk as a kill leaves it after the mark and the first of the records.
  await migrateStore(store, logger);
  for (const [key, value] of thin['call-records'] ?? []) {
    if (key !== 'thin-active') await records.put(key, value);
  }
  for (const key of store.table('call-records-by-term').keys({ limit: 99 })) {
    if (String((key as string[])[2]) !== 'thin-active') await store.table('call-records-by-term').remove(key);
  }
  await store.table('migrations').put('running', { from: 1 });
  await store.close();

  const next = openKeyValueStore(path);
  await migrateStore(next, logger);
  await checkMigrated(t, next);
  t.strictSame(next.table('migrations').keys({ limit: 9 }), []);
  await next.close();
});
