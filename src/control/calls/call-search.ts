import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonicMs } from '../../platform/clock.ts';
import type { CallRow } from './call-record-schema.ts';
import { type CallTables, durationTerms, type TermField, termOf } from './call-tables.ts';
import {
  AnyOfStream,
  comparePositions,
  firstPosition,
  nextCommon,
  type Position,
  type PositionStream,
  type ReadCost,
  TermStream,
} from './position-streams.ts';

/** Which calls. Values of one field are alternatives, fields narrow each other (D-28). */
export interface CallFilter {
  anyOf?: Partial<Record<Exclude<TermField, 'duration'>, readonly string[]>>;
  /** ISO 8601 UTC with milliseconds; from is included, to is not. */
  createdFrom?: string;
  createdTo?: string;
  /** Seconds, both included. */
  minDuration?: number;
  maxDuration?: number;
}

export interface CallQuery extends CallFilter {
  limit: number;
  /** Behind this call; absent on the first page. */
  after?: Position;
  oldestFirst?: boolean;
}

export interface CallPage {
  rows: CallRow[];
  /** Where the next page goes on; null when this was the last one. */
  next: Position | null;
  /** Keys and rows that were read for it. */
  touched: number;
}

type SearchTables = Pick<CallTables, 'byTime' | 'byTerm'>;

/**
 * Keys and rows that one page may cost. Beyond it the page is handed out as it stands, maybe empty, and the next one
 * goes on from there: no filter can hold the process or its caller up for longer than some tens of milliseconds.
 */
export const MAX_TOUCHED = 40_000;
/** Calls that are counted for `include_total`; beyond it the total is said to be at least this. */
export const MAX_COUNTED = 100_000;
/** The process does other work after so much searching in one go (the loop of main also serves live calls). */
const SLICE_MS = 2;
/** The clock is looked at after so many steps. */
const STEPS_PER_LOOK = 32;

/** One page of the calls that fit. */
export async function searchCalls(
  tables: SearchTables,
  query: CallQuery,
  maxTouched = MAX_TOUCHED,
): Promise<CallPage> {
  const cost: ReadCost = { touched: 0 };
  const rows: CallRow[] = [];
  let last: Position | null = null;
  for await (const step of walk(tables, query, cost, maxTouched)) {
    // One call more than the page holds is looked for, to know whether another page follows.
    if (step.row && rows.length === query.limit) return { rows, next: last, touched: cost.touched };
    last = step.position;
    if (step.row) rows.push(step.row);
    if (cost.touched >= maxTouched) return { rows, next: last, touched: cost.touched };
  }
  return { rows, next: null, touched: cost.touched };
}

/** How many calls fit, up to {@link MAX_COUNTED}. */
export async function countCalls(
  tables: SearchTables,
  filter: CallFilter,
): Promise<{ total: number; capped: boolean }> {
  if (isEmpty(filter)) return { total: tables.byTime.count(), capped: false };
  const cost: ReadCost = { touched: 0 };
  let total = 0;
  for await (const step of walk(tables, { ...filter, limit: 0 }, cost, MAX_COUNTED)) {
    if (step.row) total++;
    if (cost.touched >= MAX_COUNTED) return { total, capped: true };
  }
  return { total, capped: false };
}

/** Every place that the search stops at, with the row where it fits. */
async function* walk(
  tables: SearchTables,
  query: CallQuery,
  cost: ReadCost,
  budget: number,
): AsyncGenerator<{ position: Position; row: CallRow | null }> {
  const newestFirst = query.oldestFirst !== true;
  const streams = streamsOf(tables, query, newestFirst, cost);
  let from = startOf(query, newestFirst);
  let after = query.after !== undefined && from === query.after;
  let steps = 0;
  let sliceEnd = monotonicMs() + SLICE_MS;
  while (true) {
    const { found, allAgree } = nextCommon(streams, from, after);
    if (found === null || isBeyond(query, found, newestFirst)) return;
    let row: CallRow | null = null;
    if (allAgree) {
      const candidate = tables.byTime.get([...found]);
      cost.touched++;
      row = candidate && fits(query, candidate) ? candidate : null;
      yield { position: found, row };
    } else if (cost.touched >= budget) {
      // Nothing before `found` fits, and `found` itself may.
      yield { position: justBefore(found, newestFirst), row: null };
    }
    from = found;
    after = allAgree;
    if (++steps % STEPS_PER_LOOK === 0 && monotonicMs() > sliceEnd) {
      await nextTurn();
      sliceEnd = monotonicMs() + SLICE_MS;
    }
  }
}

function streamsOf(
  tables: SearchTables,
  filter: CallFilter,
  newestFirst: boolean,
  cost: ReadCost,
): PositionStream[] {
  const anyOf = (terms: readonly string[]): PositionStream => {
    const streams = terms.map((term) => new TermStream(tables.byTerm, term, newestFirst, cost));
    return streams.length === 1 && streams[0] ? streams[0] : new AnyOfStream(streams, newestFirst);
  };
  const streams = Object.entries(filter.anyOf ?? {}).map(([field, values]) =>
    anyOf([...new Set(values)].map((value) => termOf(field as TermField, value))),
  );
  if (filter.minDuration !== undefined || filter.maxDuration !== undefined) {
    streams.push(anyOf(durationTerms(filter.minDuration ?? 0, filter.maxDuration ?? Number.MAX_VALUE)));
  }
  return streams.length > 0 ? streams : [new TermStream(tables.byTime, null, newestFirst, cost)];
}

function startOf(query: CallQuery, newestFirst: boolean): Position {
  const bound = newestFirst ? query.createdTo : query.createdFrom;
  const start: Position = bound === undefined ? firstPosition(newestFirst) : [bound, ''];
  return query.after && comparePositions(query.after, start, newestFirst) > 0 ? query.after : start;
}

function isBeyond(query: CallFilter, position: Position, newestFirst: boolean): boolean {
  if (newestFirst) return query.createdFrom !== undefined && position[0] < query.createdFrom;
  return query.createdTo !== undefined && position[0] >= query.createdTo;
}

/** A place that no call has, right before `position` in the list: no session id holds a tilde. */
function justBefore([time, session]: Position, newestFirst: boolean): Position {
  if (newestFirst) return [time, `${session}~`];
  const end = session.length - 1;
  return [time, `${session.slice(0, end)}${String.fromCharCode(session.charCodeAt(end) - 1)}~`];
}

/** The index may hold hashes and be older than the row: the row itself has the last word. */
function fits(filter: CallFilter, row: CallRow): boolean {
  for (const [field, values] of Object.entries(filter.anyOf ?? {})) {
    const own = valuesOf(row, field as TermField);
    if (!values.some((value) => own.includes(value))) return false;
  }
  const seconds = row.call_duration_seconds;
  if (filter.minDuration !== undefined && (seconds === null || seconds < filter.minDuration)) return false;
  return filter.maxDuration === undefined || (seconds !== null && seconds <= filter.maxDuration);
}

function valuesOf(row: CallRow, field: TermField): readonly (string | null)[] {
  switch (field) {
    case 'tag':
      return row.tags;
    case 'agent_id':
      return [row.agent?.id ?? null];
    case 'duration':
      return [];
    default:
      return [row[field]];
  }
}

function isEmpty(filter: CallFilter): boolean {
  return (
    Object.keys(filter.anyOf ?? {}).length === 0 &&
    filter.createdFrom === undefined &&
    filter.createdTo === undefined &&
    filter.minDuration === undefined &&
    filter.maxDuration === undefined
  );
}
