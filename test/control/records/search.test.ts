import { join } from 'node:path';
import t from 'tap';
import { generateCalls } from '../../../bench/record-generator.ts';
import { benchFilters, benchRecords, describeRecords } from '../../../bench/records.ts';
import type { CallRow } from '../../../src/control/calls/call-record.ts';
import {
  type CallFilter,
  countCalls,
  MAX_TOUCHED,
  searchCalls,
} from '../../../src/control/calls/call-search.ts';
import { openCallTables } from '../../../src/control/calls/call-tables.ts';
import type { Position } from '../../../src/control/calls/position-streams.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { seededRandom } from '../../harness/seeded-random.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const RECORDS = 20_000;

const folder = tempFolder();
const store = openKeyValueStore(join(folder, 'store'));
const tables = openCallTables(store);
t.teardown(async () => {
  await store.close();
});
await generateCalls(store, RECORDS, 1);
const all: CallRow[] = tables.byTime.range({ limit: RECORDS, reverse: true }).map(({ value }) => value);

/** What the search must find, by looking at every row. */
function byLooking(filter: CallFilter): CallRow[] {
  const { anyOf = {}, createdFrom, createdTo, minDuration, maxDuration } = filter;
  const own = (row: CallRow, field: string): unknown[] =>
    field === 'tag'
      ? row.tags
      : field === 'agent_id'
        ? [row.agent?.id]
        : [(row as unknown as Record<string, unknown>)[field]];
  return all.filter(
    (row) =>
      Object.entries(anyOf).every(([field, values]) =>
        values.some((value) => own(row, field).includes(value)),
      ) &&
      (createdFrom === undefined || row.created_at >= createdFrom) &&
      (createdTo === undefined || row.created_at < createdTo) &&
      (minDuration === undefined || (row.call_duration_seconds ?? -1) >= minDuration) &&
      (maxDuration === undefined || (row.call_duration_seconds ?? Infinity) <= maxDuration),
  );
}

async function byPages(
  filter: CallFilter,
  limit: number,
  oldestFirst: boolean,
  maxTouched?: number,
): Promise<string[]> {
  const found: string[] = [];
  for (let after: Position | null | undefined; after !== null; ) {
    const page = await searchCalls(
      tables,
      { ...filter, limit, oldestFirst, ...(after ? { after } : {}) },
      maxTouched,
    );
    found.push(...page.rows.map((row) => row.session_id));
    after = page.next;
  }
  return found;
}

t.test('the first page of any filter reads few keys and rows, however many calls there are', async (t) => {
  /** Keys and rows per page of 50: some for each field and row, never a share of all calls. */
  const bounds: Record<string, number> = {
    'all calls': 200,
    'all calls, oldest first': 200,
    status: 200,
    'rare disposition and direction': 100,
    'tag in a month': 200,
    'caller who never called': 5,
    'an hour or longer': 20,
    'bot and status': 2_000,
    'three bots, outbound': 1_500,
    'campaign and who ended': 1_500,
    'longer than 100 s, one bot': 3_500,
    'four fields': 2_000,
    'two large sets that never meet': 5_000,
  };
  for (const { name, query } of benchFilters(RECORDS)) {
    const page = await searchCalls(tables, { ...query, limit: 50 });
    const bound = bounds[name] ?? 0;
    t.ok(page.touched <= bound, `${name}: ${page.touched} of at most ${bound}`);
  }
});

t.test('a search that would read too much is handed out in parts', async (t) => {
  const query = { anyOf: { status: ['failed'], disposition: ['Sold'] }, limit: 50 };
  const page = await searchCalls(tables, query, 500);
  t.strictSame(page.rows, []);
  t.ok(page.next, 'the next page goes on');
  t.ok(page.touched < 1_100, `${page.touched} read`);
});

t.test('every filter finds exactly its calls, page by page, in both directions', async (t) => {
  for (const { name, query } of benchFilters(RECORDS)) {
    const expected = byLooking(query).map((row) => row.session_id);
    const { oldestFirst: _, ...filter } = query;
    t.strictSame(await byPages(filter, 200, false), expected, name);
    t.strictSame(await byPages(filter, 200, true), expected.toReversed(), `${name}, oldest first`);
    const counted = await countCalls(tables, filter);
    if (!counted.capped) t.equal(counted.total, expected.length, `${name}, counted`);
  }
});

t.test('filters at random, in pages and budgets at random, lose no call and show none twice', async (t) => {
  const random = seededRandom(7);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const some = (values: readonly string[]) => [pick(values), ...(random() < 0.4 ? [pick(values)] : [])];
  const time = () => pick(all).created_at;
  for (let round = 0; round < 60; round++) {
    const filter: CallFilter = {
      anyOf: {
        ...(random() < 0.5 ? { bot_id: some(['bot-0', 'bot-5', 'bot-12', 'bot-19']) } : {}),
        ...(random() < 0.5 ? { status: some(['completed', 'not_connected', 'failed']) } : {}),
        ...(random() < 0.3 ? { disposition: some(['Sold', 'Refused', 'Rare']) } : {}),
        ...(random() < 0.3 ? { call_direction: some(['inbound', 'outbound']) } : {}),
        ...(random() < 0.3 ? { tag: some(['tag-1', 'tag-2', 'tag-3']) } : {}),
      },
      ...(random() < 0.3 ? { createdFrom: time() } : {}),
      ...(random() < 0.3 ? { createdTo: time() } : {}),
      ...(random() < 0.3 ? { minDuration: pick([1, 7, 60, 240.5]) } : {}),
      ...(random() < 0.3 ? { maxDuration: pick([0, 30, 299, 900]) } : {}),
    };
    const oldestFirst = random() < 0.5;
    const expected = byLooking(filter).map((row) => row.session_id);
    if (oldestFirst) expected.reverse();
    const found = await byPages(filter, pick([7, 50, 200]), oldestFirst, pick([40, 300, MAX_TOUCHED]));
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      t.strictSame(found, expected, JSON.stringify(filter));
    }
  }
  t.pass('all rounds agree');
});

t.test('the bench of the records runs, and takes every result to disk', async (t) => {
  const figures = await benchRecords({ records: 1_500, rounds: 2 });
  t.equal(figures.pages.length, benchFilters(1_500).length);
  t.ok(figures.ingest.resultsPerSecond > 0);
  t.strictSame(
    figures.exports.map(({ format, rows }) => [format, rows]),
    [
      ['idle', 0],
      ['csv', 1_500],
      ['jsonl', 1_500],
    ],
  );
  for (const line of describeRecords(figures)) t.comment(line);
});
