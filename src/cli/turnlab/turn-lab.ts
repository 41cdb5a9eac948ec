import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { loadModelPath } from '../../platform/model-files.ts';
import { noTurnModel, type TurnJudge, TurnModel } from '../../slot/listen/turn-model.ts';
import { VoiceActivity } from '../../slot/listen/voice-activity.ts';
import { type HeardRecording, hearRecording, type Recording, type Span } from './hear-recording.ts';
import { type Replay, type ReplaySettings, replayTurns } from './replay-turns.ts';

export { compareTurns, type TurnComparison } from './compare-turns.ts';
export type { HeardRecording, Recording } from './hear-recording.ts';
export type { Replay, ReplaySettings } from './replay-turns.ts';

/**
 * The listening part of a slot without a call: the real voice activity, segmenter, turn model and turn machine, fed
 * with recordings and faster than real time.
 */
export class TurnLab {
  private readonly vad: VoiceActivity;
  private readonly turnModel: TurnJudge;

  private constructor(vad: VoiceActivity, turnModel: TurnJudge) {
    this.vad = vad;
    this.turnModel = turnModel;
  }

  /** Loads the models. Without the turn model, every turn end is the silence rule's. Rejects with `model_missing`. */
  static async open(modelDir: string, options: { turnModel: boolean }): Promise<TurnLab> {
    const vad = await VoiceActivity.create(await loadModelPath('silero-vad', modelDir));
    if (!options.turnModel) return new TurnLab(vad, noTurnModel);
    const modelPath = await loadModelPath('smart-turn', modelDir);
    return new TurnLab(vad, await TurnModel.start({ modelPath }));
  }

  /** What does not depend on the settings under trial is done once per recording. */
  hear(recording: Recording): Promise<HeardRecording> {
    return hearRecording(recording, this.vad);
  }

  replay(heard: HeardRecording, settings: ReplaySettings): Promise<Replay> {
    return replayTurns(heard, settings, this.turnModel);
  }

  async close(): Promise<void> {
    await this.vad.close();
    await this.turnModel.close();
  }
}

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
