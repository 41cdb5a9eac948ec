import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { Span } from './hear-recording.ts';
import type { Replay } from './replay-turns.ts';

const PIXELS_PER_SECOND = 40;
const LANE_HEIGHT = 26;
const LEFT = 90;
const TOP = 24;
/** A picture of more than this is unreadable and huge; the rest of the call is left out. */
const MAX_SECONDS = 1_800;

const COLOURS = { bot: '#4477aa', caller: '#228833', turn: '#222222', held: '#ccbb44', cut: '#cc3311' };

/** The same as a picture: lanes for the bot, the caller and each replay; each turn's wait is drawn as a grey bar. */
export function drawTurnsSvg(replays: readonly { name: string; replay: Replay }[]): string {
  const first = replays[0]?.replay;
  const seconds = Math.min(MAX_SECONDS, Math.ceil((first?.samples ?? 0) / LINE_RATE_HZ) + 1);
  const width = LEFT + seconds * PIXELS_PER_SECOND;
  const height = TOP + (2 + replays.length) * LANE_HEIGHT;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
  ];
  for (let second = 0; second <= seconds; second += 5) {
    const x = LEFT + second * PIXELS_PER_SECOND;
    parts.push(`<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${height}" stroke="#dddddd"/>`);
    parts.push(`<text x="${x + 2}" y="${TOP - 10}" fill="#666666">${second} s</text>`);
  }
  const lane = (index: number, name: string) => {
    const y = TOP + index * LANE_HEIGHT;
    parts.push(`<text x="4" y="${y + 17}">${escaped(name)}</text>`);
    return y;
  };
  const bar = (y: number, span: Span, colour: string, inset = 5) =>
    parts.push(
      `<rect x="${xOf(span.from)}" y="${y + inset}" width="${Math.max(1, xOf(span.to) - xOf(span.from))}" height="${LANE_HEIGHT - 2 * inset}" fill="${colour}"/>`,
    );
  const mark = (y: number, sample: number, colour: string) =>
    parts.push(
      `<line x1="${xOf(sample)}" y1="${y + 2}" x2="${xOf(sample)}" y2="${y + LANE_HEIGHT - 2}" stroke="${colour}" stroke-width="2"/>`,
    );
  const botLane = lane(0, 'bot');
  for (const span of first?.botSpans ?? []) bar(botLane, span, COLOURS.bot);
  const callerLane = lane(1, 'caller');
  for (const span of first?.speech ?? []) bar(callerLane, span, COLOURS.caller);
  for (const [index, { name, replay }] of replays.entries()) {
    const y = lane(2 + index, name);
    for (const turn of replay.turns) {
      bar(y, { from: turn.to, to: turn.decidedAt }, '#cccccc', 9);
      mark(y, turn.decidedAt, COLOURS.turn);
    }
    for (const overlap of replay.overlaps) {
      if (overlap.heldAt !== null) mark(y, overlap.heldAt, COLOURS.held);
      if (overlap.cutAt !== null) mark(y, overlap.cutAt, COLOURS.cut);
    }
  }
  return `${parts.join('\n')}\n</svg>\n`;
}

function xOf(sample: number): number {
  return Math.round((LEFT + (sample / LINE_RATE_HZ) * PIXELS_PER_SECOND) * 10) / 10;
}

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
