import type { StoreKey, Table } from '../../platform/key-value-store.ts';

/** The place of a call in every list: by time, then by session. */
export type Position = readonly [createdAt: string, sessionId: string];

/** A sorted list of positions that is read from any place on, forwards or backwards in time. */
export interface PositionStream {
  /** The first position at `from`, or behind it where `after` is set; null at the end. Only ever moves on. */
  seek(from: Position, after: boolean): Position | null;
}

/** What reading has cost so far, in keys and rows: the bound on a search, and what tests assert instead of time. */
export interface ReadCost {
  touched: number;
}

/** Negative where `a` comes first in a list that runs in this direction. */
export function comparePositions(a: Position, b: Position, newestFirst: boolean): number {
  const order = a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0;
  return newestFirst ? -order : order;
}

/** Before every position of a list that runs in this direction. */
export function firstPosition(newestFirst: boolean): Position {
  return newestFirst ? [BEHIND_ALL_TIMES, ''] : ['', ''];
}

/** Sorts behind every ISO time. */
const BEHIND_ALL_TIMES = '~';

/** Keys read at once: few after a jump, more while the reader goes on step by step. */
const FIRST_BLOCK = 4;
const LARGEST_BLOCK = 256;

/** The calls of one term (call-tables.ts), or all calls where `term` is null and the table is the list by time. */
export class TermStream implements PositionStream {
  private readonly table: Table<unknown>;
  private readonly prefix: readonly string[];
  private readonly newestFirst: boolean;
  private readonly cost: ReadCost;
  private block: Position[] = [];
  private index = 0;
  private size = FIRST_BLOCK;
  private ended = false;

  constructor(table: Table<unknown>, term: string | null, newestFirst: boolean, cost: ReadCost) {
    this.table = table;
    this.prefix = term === null ? [] : [term];
    this.newestFirst = newestFirst;
    this.cost = cost;
  }

  seek(from: Position, after: boolean): Position | null {
    const start = this.index;
    while (this.index < this.block.length) {
      const here = this.block[this.index] as Position;
      const order = comparePositions(here, from, this.newestFirst);
      if (order > 0 || (order === 0 && !after)) return here;
      this.index++;
    }
    if (this.ended) return null;
    // A reader that used the whole block goes on step by step; one that jumped over it jumps again.
    const stepwise = this.block.length > 0 && this.index - start <= this.block.length / 2;
    this.size = stepwise ? Math.min(this.size * 4, LARGEST_BLOCK) : FIRST_BLOCK;
    this.load(from, after);
    return this.block[0] ?? null;
  }

  private load(from: Position, after: boolean): void {
    const keys = this.table.keys({
      limit: this.size,
      start: [...this.prefix, ...from],
      exclusiveStart: after,
      end: this.newestFirst ? [...this.prefix, ''] : [...this.prefix, BEHIND_ALL_TIMES],
      reverse: this.newestFirst,
    });
    this.cost.touched += keys.length + 1;
    this.block = keys.map(positionOf);
    this.index = 0;
    this.ended = keys.length < this.size;
  }
}

/** The calls of any of the streams, each once. */
export class AnyOfStream implements PositionStream {
  private readonly streams: readonly PositionStream[];
  private readonly newestFirst: boolean;

  constructor(streams: readonly PositionStream[], newestFirst: boolean) {
    this.streams = streams;
    this.newestFirst = newestFirst;
  }

  seek(from: Position, after: boolean): Position | null {
    let first: Position | null = null;
    for (const stream of this.streams) {
      const found = stream.seek(from, after);
      if (found && (first === null || comparePositions(found, first, this.newestFirst) < 0)) first = found;
    }
    return first;
  }
}

/**
 * One step of the search for the next call that all streams hold: each stream is asked to jump to where the one before it
 * stands, until one stands elsewhere. That one goes to the front of the row for the next step, so that the rare ones set
 * the pace and the common ones are hardly asked. `found` is null at the end; where `allAgree` is false, the position is
 * only known to have no match before it.
 */
export function nextCommon(
  streams: PositionStream[],
  from: Position,
  after: boolean,
): { found: Position | null; allAgree: boolean } {
  let target: Position | null = null;
  for (const [index, stream] of streams.entries()) {
    const found: Position | null = stream.seek(target ?? from, target === null && after);
    if (found === null) return { found: null, allAgree: false };
    if (target !== null && (found[0] !== target[0] || found[1] !== target[1])) {
      streams.splice(index, 1);
      streams.unshift(stream);
      return { found, allAgree: false };
    }
    target = found;
  }
  return { found: target, allAgree: true };
}

function positionOf(key: StoreKey): Position {
  const parts = key as readonly string[];
  return [String(parts.at(-2)), String(parts.at(-1))];
}
