import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { EXPORT_KEPT_MS } from '../src/contracts/limits.ts';
import type { ActiveCall } from '../src/control/calls/call-record.ts';
import type { CallFilter, CallQuery } from '../src/control/calls/call-search.ts';
import type { CallRecordStore } from '../src/control/calls/call-store.ts';
import { createCallRecordStore } from '../src/control/calls/lmdb-call-store.ts';
import { ExportRunner } from '../src/control/exports/export-runner.ts';
import { createExportStore, type ExportFormat, type ExportJob } from '../src/control/exports/export-store.ts';
import { type KeyValueStore, openKeyValueStore } from '../src/platform/key-value-store.ts';
import { createLogger } from '../src/platform/logger.ts';
import { CALL_EVERY_MS, FIRST_CALL_MS, generateCalls } from './record-generator.ts';

export interface RecordsFigures {
  records: number;
  storeMegabytes: number;
  generatedPerSecond: number;
  /** First page of 50, each filter asked several times; times in milliseconds. */
  pages: { filter: string; rows: number; touched: number; p50Ms: number; worstMs: number; more: boolean }[];
  ingest: IngestFigures;
  /** How late the event loop ran meanwhile; the first line is the same loop with nothing to do. */
  exports: LoopFigures[];
}

export interface LoopFigures {
  format: string;
  rows: number;
  rowsPerSecond: number;
  p99LoopMs: number;
  worstLoopMs: number;
}

export interface IngestFigures {
  resultsPerSecond: number;
  p99Ms: number;
  /** Syncs of a small file on the same disk in a second: what one commit per result could do at most. */
  bareSyncsPerSecond: number;
}

/** The filters that are asked, from everything to nothing, in the middle of the year where a time is named. */
export function benchFilters(
  records: number,
): { name: string; query: CallFilter & { oldestFirst?: boolean } }[] {
  const at = (share: number) =>
    new Date(FIRST_CALL_MS + Math.floor(records * share) * CALL_EVERY_MS).toISOString();
  return [
    { name: 'all calls', query: {} },
    { name: 'all calls, oldest first', query: { oldestFirst: true } },
    { name: 'status', query: { anyOf: { status: ['failed'] } } },
    { name: 'bot and status', query: { anyOf: { bot_id: ['bot-19'], status: ['failed'] } } },
    {
      name: 'three bots, outbound',
      query: { anyOf: { bot_id: ['bot-3', 'bot-7', 'bot-19'], call_direction: ['outbound'] } },
    },
    {
      name: 'rare disposition and direction',
      query: { anyOf: { disposition: ['Rare'], call_direction: ['inbound'] } },
    },
    {
      name: 'tag in a month',
      query: { anyOf: { tag: ['tag-4'] }, createdFrom: at(0.4), createdTo: at(0.5) },
    },
    {
      name: 'campaign and who ended',
      query: { anyOf: { campaign_id: ['cmp_7'], disconnected_by: ['error'] } },
    },
    { name: 'caller who never called', query: { anyOf: { caller_id: ['+910000000000'] } } },
    { name: 'an hour or longer', query: { minDuration: 3_600 } },
    { name: 'longer than 100 s, one bot', query: { minDuration: 100, anyOf: { bot_id: ['bot-19'] } } },
    {
      name: 'four fields',
      query: { anyOf: { bot_id: ['bot-0'], status: ['completed'], disposition: ['Sold'], tag: ['tag-1'] } },
    },
    {
      name: 'two large sets that never meet',
      query: { anyOf: { status: ['failed'], disposition: ['Sold'] } },
    },
  ];
}

const MAX_INGEST = 20_000;
const MAX_EXPORTED = 100_000;

/** Measures on a store of `records` generated calls in a folder of its own. */
export async function benchRecords(options: { records: number; rounds: number }): Promise<RecordsFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-records-'));
  const store = openKeyValueStore(join(folder, 'store'));
  try {
    const began = performance.now();
    await generateCalls(store, options.records, 1);
    const seconds = (performance.now() - began) / 1_000;
    const calls = createCallRecordStore(store);
    const pages = [];
    for (const { name, query } of benchFilters(options.records)) {
      pages.push(await timePage(calls, name, { ...query, limit: 50 }, options.rounds));
    }
    return {
      records: options.records,
      storeMegabytes: Math.round(statSync(join(folder, 'store', 'data.mdb')).size / 1e6),
      generatedPerSecond: Math.round(options.records / seconds),
      pages,
      ingest: await benchIngest(store, folder, Math.min(options.records, MAX_INGEST)),
      exports: [
        await idleLoop(),
        await benchExport(store, folder, 'csv', MAX_EXPORTED),
        await benchExport(store, folder, 'jsonl', MAX_EXPORTED),
      ],
    };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timePage(calls: CallRecordStore, filter: string, query: CallQuery, rounds: number) {
  const times: number[] = [];
  let page = await calls.list(query);
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    page = await calls.list(query);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return {
    filter,
    rows: page.rows.length,
    touched: page.touched,
    p50Ms: times[Math.floor(times.length / 2)] ?? 0,
    worstMs: times.at(-1) ?? 0,
    more: page.next !== null,
  };
}

/** Deliverers that each wait for their 200 before they send the next result. */
const DELIVERERS = 64;

async function benchIngest(store: KeyValueStore, folder: string, results: number): Promise<IngestFigures> {
  const calls = createCallRecordStore(store);
  const sessions = Array.from({ length: results }, (_, i) => `ingest-${i}`);
  for (let from = 0; from < results; from += 200) {
    await Promise.all(
      sessions.slice(from, from + 200).map((session) => calls.insertActive(openCall(session))),
    );
  }
  const waits: number[] = [];
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: DELIVERERS }, async () => {
      for (let index = next++; index < results; index = next++) {
        const sent = performance.now();
        await calls.complete(resultsOf(sessions[index] ?? ''), new Date().toISOString());
        waits.push(performance.now() - sent);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  waits.sort((a, b) => a - b);
  return {
    resultsPerSecond: Math.round(results / seconds),
    p99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0,
    bareSyncsPerSecond: bareSyncs(join(folder, 'sync')),
  };
}

function bareSyncs(path: string): number {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4_096, 1);
  const began = performance.now();
  let syncs = 0;
  while (performance.now() - began < 500) {
    writeSync(file, block, 0, block.length, 0);
    fdatasyncSync(file);
    syncs++;
  }
  closeSync(file);
  return Math.round(syncs / ((performance.now() - began) / 1_000));
}

async function idleLoop(): Promise<LoopFigures> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  delay.disable();
  return { format: 'idle', rows: 0, rowsPerSecond: 0, ...loopOf(delay) };
}

/** The monitor waits for a millisecond each time; what is beyond is delay. */
function loopOf(delay: ReturnType<typeof monitorEventLoopDelay>) {
  return { p99LoopMs: delay.percentile(99) / 1e6 - 1, worstLoopMs: delay.max / 1e6 - 1 };
}

async function benchExport(
  store: KeyValueStore,
  folder: string,
  format: ExportFormat,
  rows: number,
): Promise<LoopFigures> {
  const calls = createCallRecordStore(store);
  const exports = createExportStore(store);
  const nowIso = () => new Date().toISOString();
  const logger = createLogger({ level: 'silent', role: 'bench' });
  const runner = new ExportRunner({ calls, exports, folder: join(folder, 'exports'), logger, nowIso });
  const createdTo = new Date(FIRST_CALL_MS + rows * CALL_EVERY_MS).toISOString();
  await runner.start();
  await exports.add(exportJob(`exp_${format}`, format, { createdTo }, nowIso()));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const began = performance.now();
  runner.wake();
  let job = await exports.get(`exp_${format}`);
  while (job?.state !== 'ready' && job?.state !== 'failed') {
    await new Promise((resolve) => setTimeout(resolve, 20));
    job = await exports.get(`exp_${format}`);
  }
  const seconds = (performance.now() - began) / 1_000;
  delay.disable();
  await runner.stop();
  return {
    format,
    rows: job.rows,
    rowsPerSecond: Math.round(job.rows / seconds),
    ...loopOf(delay),
  };
}

export function exportJob(
  exportId: string,
  format: ExportFormat,
  filter: CallFilter,
  nowIso: string,
): ExportJob {
  return {
    export_id: exportId,
    state: 'queued',
    format,
    filters: {},
    filter,
    numbers_masked: false,
    owner: 'core',
    created_at: nowIso,
    finished_at: null,
    expires_at: new Date(Date.parse(nowIso) + EXPORT_KEPT_MS).toISOString(),
    rows: 0,
    total: null,
    bytes: 0,
    position: null,
    error: null,
  };
}

function openCall(sessionId: string): ActiveCall {
  return {
    session_id: sessionId,
    bot_id: 'bot-1',
    bot_name: 'Bot 1',
    call_type: 'bot',
    stream_id: `stream-${sessionId}`,
    caller_id: '+911234567890',
    from_number: null,
    call_direction: 'inbound',
    timezone: 'UTC',
    created_at: new Date().toISOString(),
    connected_event: {},
    sip_context: {},
    crm_data: {},
    integration_log: [],
    campaign: null,
    skip_post_push: false,
  };
}

/** Some 4 kB: a call of twenty turns. */
function resultsOf(sessionId: string) {
  return {
    session_id: sessionId,
    stream_id: `stream-${sessionId}`,
    caller_id: '+911234567890',
    from_number: null,
    call_duration_seconds: 95,
    call_direction: 'inbound' as const,
    disconnected_by: 'customer' as const,
    transcript: Array.from({ length: 40 }, (_, turn) => ({
      speaker: turn % 2 ? 'customer' : 'bot',
      text: `Turn ${turn}: what somebody says in a sentence of usual length.`,
      timestamp: turn * 2.3,
    })),
    recording_url: null,
    recording_key: `2026/01/${sessionId}.wav`,
    post_call_analysis: { disposition: 'Resolved' },
    usage_metrics: [],
    events: [{ event: 'call_started', ts: 0 }],
    was_transferred: false,
    transfer_destination: null,
    transfer_target: null,
    transfer_reason: null,
    transfer_method: null,
    transfer_at: null,
    transfer_failed_reason: null,
  };
}

/** The figures as lines for a reader. */
export function describeRecords(figures: RecordsFigures): string[] {
  const ms = (value: number) => `${value.toFixed(2)} ms`;
  const { ingest } = figures;
  return [
    `${figures.records} records, ${figures.storeMegabytes} MB, written at ${figures.generatedPerSecond} a second`,
    ...figures.pages.map(
      (page) =>
        `first page, ${page.filter}: p50 ${ms(page.p50Ms)}, worst ${ms(page.worstMs)}, ${page.rows} rows, ${page.touched} read`,
    ),
    `results: ${ingest.resultsPerSecond} a second, each on disk, p99 ${ms(ingest.p99Ms)}; bare syncs ${ingest.bareSyncsPerSecond} a second`,
    ...figures.exports.map(
      (run) =>
        `export ${run.format}: ${run.rowsPerSecond} rows a second, loop late p99 ${ms(run.p99LoopMs)}, worst ${ms(run.worstLoopMs)}`,
    ),
  ];
}
