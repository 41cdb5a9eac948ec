import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateCalls } from '../../../bench/record-generator.ts';
import { exportJob } from '../../../bench/records.ts';
import { EXPORT_KEPT_MS } from '../../../src/contracts/limits.ts';
import { createCallRecordStore } from '../../../src/control/calls/lmdb-call-store.ts';
import { ExportRunner } from '../../../src/control/exports/export-runner.ts';
import {
  createExportStore,
  type ExportJob,
  type ExportView,
} from '../../../src/control/exports/export-store.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { testResults } from '../../harness/control.ts';
import { type RunningRecords, runRecords } from '../../harness/records-harness.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { activeCall, at } from '../call-store-conformance.ts';

async function exportOf(run: RunningRecords, as: string, body: object): Promise<ExportView> {
  const asked = await run.ask(as, '/call-records/export', { method: 'POST', body: JSON.stringify(body) });
  t.equal(asked.status, 202);
  const location = (asked.headers.get('location') ?? '').replace('/api/v1', '');
  for (let wait = 0; wait < 500; wait++) {
    const view = (await (await run.ask(as, location)).json()) as ExportView;
    if (view.state === 'ready' || view.state === 'failed') return view;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the export did not end');
}

const download = (run: RunningRecords, as: string, view: ExportView) =>
  run.ask(as, (view.links.download ?? '').replace('/api/v1', ''));

t.test('an export is asked for, watched and fetched, as CSV and as JSONL', async (t) => {
  const run = await runRecords();
  t.teardown(() => run.stop());
  for (const [id, disposition] of [
    ['a', 'Sold'],
    ['b', '=HYPERLINK("http://x";"y")'],
    ['c', '@cmd, "quoted"\nsecond line'],
  ] as const) {
    await run.calls.insertActive(activeCall(id, at(id.charCodeAt(0))));
    await run.calls.complete(testResults(id, { post_call_analysis: { disposition } }), at(200));
  }
  const csv = await exportOf(run, 'supervisor', { format: 'csv', filters: { bot_id: ['clinic'] } });
  t.match(csv, { state: 'ready', progress: { rows: 3, total: 3 }, numbers_masked: false, error: null });
  const file = await download(run, 'supervisor', csv);
  t.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.match(file.headers.get('content-disposition'), /^attachment; filename="call-records-[\d-]+\.csv"$/);
  const text = await file.text();
  t.equal(Buffer.byteLength(text), csv.progress.bytes);
  const [names = ''] = text.split('\n');
  t.match(names, /^id,session_id,/);
  t.match(text, /"'=HYPERLINK\(""http:\/\/x"";""y""\)"/, 'a formula is only a text');
  t.match(text, /"'@cmd, ""quoted""\nsecond line"/);
  t.match(text, /,'\+911234567890,/, 'a plus sign begins a formula too');
  t.notMatch(text, /(^|,)"?[=@+]/m, 'no cell begins a formula');
  t.match(
    await (
      await run.ask('supervisor', (csv.links.download ?? '').replace('/api/v1', ''), {
        headers: { range: 'bytes=0-1' },
      })
    ).text(),
    'id',
  );

  const jsonl = await exportOf(run, 'reader', { format: 'jsonl' });
  const lines = (await (await download(run, 'reader', jsonl)).text()).trimEnd().split('\n');
  t.strictSame(
    lines.map((line) => (JSON.parse(line) as { session_id: string }).session_id),
    ['c', 'b', 'a'],
  );
  t.match(JSON.parse(lines[0] ?? ''), { transcript: [{ text: 'Namaste' }, {}], schema_version: 2 });

  const masked = await exportOf(run, 'analyst', { format: 'jsonl' });
  t.equal(masked.numbers_masked, true);
  t.notMatch(await (await download(run, 'analyst', masked)).text(), /1234567890/);

  t.equal((await download(run, 'analyst', csv)).status, 404, 'somebody else’s file is none');
  t.equal((await download(run, 'admin', masked)).status, 200, 'administrators get every file');
  t.equal(
    (await run.ask('agent-1', '/call-records/export', { method: 'POST', body: '{"format":"csv"}' })).status,
    403,
  );
  t.equal(
    (await run.ask('admin', '/call-records/export', { method: 'POST', body: '{"format":"xml"}' })).status,
    422,
  );
  const byNumber = { format: 'csv', filters: { caller: '+911234567890' } };
  t.equal(
    (await run.ask('analyst', '/call-records/export', { method: 'POST', body: JSON.stringify(byNumber) }))
      .status,
    403,
  );
  t.equal((await run.ask('admin', '/exports/none')).status, 404);
  const { items } = await run.audit.list({ limit: 50 });
  t.ok(items.some(({ action }) => action === 'call_record.export'));
  t.ok(items.some(({ action }) => action === 'export.download'));
  t.strictSame(run.failures, []);
});

t.test('an export that waits shows so, and has no file to fetch', async (t) => {
  const run = await runRecords();
  t.teardown(() => run.stop());
  await createExportStore(run.store).add(exportJob('exp_waits', 'csv', {}, new Date().toISOString()));
  t.match(await (await run.ask('admin', '/exports/exp_waits')).json(), {
    state: 'queued',
    links: { download: null },
  });
  const refused = await run.ask('admin', '/exports/exp_waits/download');
  t.equal(refused.status, 409);
  t.match(await refused.json(), { code: 'conflict', detail: /queued/ });
  t.strictSame(run.failures, []);
});

interface Stage {
  store: KeyValueStore;
  folder: string;
  runner: (nowIso?: () => string) => ExportRunner;
  job: (id: string) => Promise<ExportJob | null>;
}

async function stage(path: string): Promise<Stage> {
  const store = openKeyValueStore(join(path, 'store'));
  const exports = createExportStore(store);
  const folder = join(path, 'exports');
  const logger = createLogger({ level: 'silent', role: 'test' });
  return {
    store,
    folder,
    runner: (nowIso = () => new Date().toISOString()) =>
      new ExportRunner({
        calls: createCallRecordStore(store),
        exports,
        folder,
        logger,
        nowIso,
        checkpointMs: 50,
      }),
    job: (id) => exports.get(id),
  };
}

async function ended(on: Stage, id: string): Promise<ExportJob> {
  for (let wait = 0; wait < 1_000; wait++) {
    const job = await on.job(id);
    if (job && (job.state === 'ready' || job.state === 'failed')) return job;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the export did not end');
}

t.test('an export that was cut off goes on after a restart, and every call stands in it once', async (t) => {
  const path = tempFolder();
  let on = await stage(path);
  await generateCalls(on.store, 12_000, 3);
  await createExportStore(on.store).add(exportJob('exp_1', 'jsonl', {}, new Date().toISOString()));
  let runner = on.runner();
  await runner.start();
  while (((await on.job('exp_1'))?.rows ?? 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  await runner.stop();
  const cut = await on.job('exp_1');
  t.match(cut, { state: 'running', total: 12_000 });
  t.ok(cut && cut.rows > 0 && cut.rows < 12_000, `${cut?.rows} rows at the checkpoint`);
  await on.store.close();
  const file = join(on.folder, 'exp_1.jsonl');
  t.ok(readFileSync(file).length >= (cut?.bytes ?? 0));
  writeFileSync(file, '{"half a li', { flag: 'a' });

  on = await stage(path);
  runner = on.runner();
  await runner.start();
  const done = await ended(on, 'exp_1');
  await runner.stop();
  await on.store.close();
  t.match(done, { state: 'ready', rows: 12_000, position: null });
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const sessions = new Set(lines.map((line) => (JSON.parse(line) as { session_id: string }).session_id));
  t.equal(lines.length, 12_000);
  t.equal(sessions.size, 12_000);
});

t.test('an export whose file was lost fails with a sentence and holds up none behind it', async (t) => {
  const path = tempFolder();
  const on = await stage(path);
  await generateCalls(on.store, 200, 3);
  const exports = createExportStore(on.store);
  const now = new Date().toISOString();
  await exports.add({ ...exportJob('exp_1', 'csv', {}, now), state: 'running', rows: 50, bytes: 9_000 });
  await exports.add(exportJob('exp_2', 'csv', {}, new Date(Date.parse(now) + 1).toISOString()));
  const runner = on.runner();
  await runner.start();
  t.match(await ended(on, 'exp_2'), { state: 'ready', rows: 200 });
  t.match(await on.job('exp_1'), { state: 'failed', error: /lost|again/ });
  t.notOk(existsSync(join(on.folder, 'exp_1.csv')));
  await runner.stop();
  await on.store.close();
});

t.test('an export is removed after a day, file and all, and so is a file that no export knows', async (t) => {
  const path = tempFolder();
  const on = await stage(path);
  await generateCalls(on.store, 20, 3);
  const now = new Date().toISOString();
  await createExportStore(on.store).add(exportJob('exp_1', 'csv', {}, now));
  const first = on.runner();
  await first.start();
  await ended(on, 'exp_1');
  await first.stop();
  const file = join(on.folder, 'exp_1.csv');
  t.ok(existsSync(file));
  const stray = join(on.folder, 'exp_stray.csv');
  writeFileSync(stray, 'x');
  truncateSync(stray, 0);
  const later = on.runner(() => new Date(Date.parse(now) + EXPORT_KEPT_MS + 1).toISOString());
  await later.start();
  await later.stop();
  t.notOk(existsSync(file));
  t.notOk(existsSync(stray));
  t.equal(await on.job('exp_1'), null);
  await on.store.close();
});

t.test('waiting exports are bounded', async (t) => {
  const path = tempFolder();
  const on = await stage(path);
  const exports = createExportStore(on.store);
  for (let i = 0; i < 20; i++) await exports.add(exportJob(`exp_${i}`, 'csv', {}, at(i)));
  await t.rejects(exports.add(exportJob('exp_x', 'csv', {}, at(99))), { code: 'at_capacity' });
  await on.store.close();
});
