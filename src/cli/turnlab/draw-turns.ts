import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { Span } from './hear-recording.ts';
import type { Replay } from './replay-turns.ts';

/** Columns of the chart that stand for time; the names stand to their left. */
const COLUMNS = 96;
const NAME_COLUMNS = 9;

/**
 * Turns along time for a terminal: the bot, the caller, and below them for each replay where turns ended (`|`), where
 * the bot would have been paused (`h`) and where it would have been cut (`x`). Long calls go over several rows.
 */
export function drawTurns(replays: readonly { name: string; replay: Replay }[]): string[] {
  const first = replays[0]?.replay;
  if (!first) return [];
  const seconds = first.samples / LINE_RATE_HZ;
  const rowSeconds = Math.max(10, Math.min(60, Math.ceil(seconds)));
  const lines: string[] = [];
  for (let from = 0; from < seconds; from += rowSeconds) {
    const row = { from: from * LINE_RATE_HZ, to: (from + rowSeconds) * LINE_RATE_HZ };
    lines.push(
      `${from.toFixed(0).padStart(NAME_COLUMNS - 2)} s`.padEnd(NAME_COLUMNS),
      named('bot', bars(first.botSpans, row, '=')),
      named('caller', bars(first.speech, row, '#')),
      ...replays.map(({ name, replay }) => named(name, marks(replay, row))),
    );
  }
  return lines;
}

function named(name: string, cells: string[]): string {
  return `${name.slice(0, NAME_COLUMNS - 1).padEnd(NAME_COLUMNS)}${cells.join('').trimEnd()}`;
}

function bars(spans: readonly Span[], row: Span, sign: string): string[] {
  const cells = Array.from({ length: COLUMNS }, () => ' ');
  for (const span of spans) {
    if (span.to <= row.from || span.from >= row.to) continue;
    for (let cell = columnOf(span.from, row); cell <= columnOf(span.to - 1, row); cell++) {
      if (cell >= 0 && cell < COLUMNS) cells[cell] = sign;
    }
  }
  return cells;
}

function marks(replay: Replay, row: Span): string[] {
  const cells = Array.from({ length: COLUMNS }, () => ' ');
  const put = (sample: number | null, sign: string) => {
    if (sample !== null && sample >= row.from && sample < row.to) cells[columnOf(sample, row)] = sign;
  };
  for (const overlap of replay.overlaps) {
    put(overlap.heldAt, 'h');
    put(overlap.cutAt, 'x');
  }
  for (const turn of replay.turns) put(turn.decidedAt, '|');
  return cells;
}

function columnOf(sample: number, row: Span): number {
  return Math.floor(((sample - row.from) * COLUMNS) / (row.to - row.from));
}
