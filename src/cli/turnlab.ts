import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { VadConfig } from '../contracts/runtime-config.ts';
import { describeError } from '../platform/app-error.ts';
import { monotonicMs } from '../platform/clock.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { readSettings } from '../platform/settings.ts';
import { readWav } from '../platform/wav.ts';
import { toLine } from './caller-audio.ts';
import { nearest } from './nearest.ts';
import {
  compareTurns,
  drawTurns,
  drawTurnsSvg,
  type Replay,
  type TurnComparison,
  TurnLab,
} from './turnlab/turn-lab.ts';

const EXIT_USAGE = 2;

export const TURNLAB_HELP = `trunkline turnlab CALL: what other turn settings would have changed in a recorded call.

usage: trunkline turnlab CALL|FILE.wav [--vad KEY=VALUE]... [--base KEY=VALUE]...
                         [--swap] [--svg FILE] [--json]

Runs the caller's side of a stereo recording through the voice activity, the turn model and the turn
machine of a slot, faster than real time: once with the settings that the call had and once with the
others, and shows where turns would have ended and where the bot would have been interrupted. The bot
is heard where the recording has it. CALL is a session id; its recording is looked for in DATA_DIR.

  --vad KEY=VALUE    a key of the bot's "vad" object to try, for example turn_threshold=0.6
  --base KEY=VALUE   a key of "vad" that the call had; what is not named has its default
  --swap             the caller is on the right channel
  --svg FILE         write a picture of the turns along time
  --json             turns, overlaps and the comparison as JSON

A turn end counts as a cut-in when the caller goes on within 1.5 s although the bot was not heard.
Words are not known here: speech over the bot interrupts it by its length alone.

examples
  trunkline turnlab 7b0c --vad turn_silence_ms=900
  trunkline turnlab heard.wav --vad turn_threshold=0.7 --vad turn_forced_end_ms=1200 --svg turns.svg`;

interface TurnlabCommand {
  what: string;
  base: VadConfig;
  trial: VadConfig;
  swap: boolean;
  svg: string | undefined;
  json: boolean;
}

/** `trunkline turnlab`: exit code 0 when the recording could be replayed. */
export async function turnlabCommand(args: string[]): Promise<number> {
  let command: TurnlabCommand;
  try {
    command = readCommand(args);
  } catch (error) {
    process.stderr.write(
      `trunkline turnlab: ${describeError(error)}\nRun "trunkline help turnlab" for examples.\n`,
    );
    return EXIT_USAGE;
  }
  try {
    await runLab(command);
    return 0;
  } catch (error) {
    process.stderr.write(`trunkline turnlab: ${describeError(error)}\n`);
    return 1;
  }
}

async function runLab(command: TurnlabCommand): Promise<void> {
  const settings = readSettings(process.env, process.cwd(), projectRoot);
  const path = await findRecording(command.what, settings.dataDir);
  const recording = await readRecording(path, command.swap);
  const usesModel = command.base.turn_model !== 'off' || command.trial.turn_model !== 'off';
  const lab = await TurnLab.open(settings.modelDir, { turnModel: usesModel });
  try {
    const startedAtMs = monotonicMs();
    const heard = await lab.hear(recording);
    const before = await lab.replay(heard, { vad: command.base });
    const after = await lab.replay(heard, { vad: command.trial });
    const tookMs = Math.round(monotonicMs() - startedAtMs);
    const comparison = compareTurns(before, after);
    const both = [
      { name: 'before', replay: before },
      { name: 'after', replay: after },
    ];
    if (command.svg) await writeFile(command.svg, drawTurnsSvg(both));
    const text = command.json
      ? JSON.stringify({
          recording: path,
          base: command.base,
          trial: command.trial,
          tookMs,
          comparison,
          before,
          after,
        })
      : [path, ...drawTurns(both), '', ...describe(comparison, before, tookMs)].join('\n');
    process.stdout.write(`${text}\n`);
  } finally {
    await lab.close();
  }
}

function describe(comparison: TurnComparison, before: Replay, tookMs: number): string[] {
  const { before: old, after } = comparison;
  const wait = (ms: number | null) => (ms === null ? '-' : `${ms} ms`);
  const seconds = before.samples / 8_000;
  return [
    '=  the bot   #  the caller   |  a turn ends   h  the bot is paused   x  the bot is cut',
    '',
    `turns            before ${old.turns}, after ${after.turns}`,
    `wait for an end  before ${wait(old.waitMsMedian)}, after ${wait(after.waitMsMedian)} (median)`,
    `cut-ins          before ${old.cutIns}, after ${after.cutIns}: ${comparison.cutInsAvoided} avoided, ${comparison.cutInsAdded} added`,
    `bot paused       before ${old.held}, after ${after.held}; cut before ${old.cut}, after ${after.cut}`,
    `added wait       ${comparison.addedWaitMs === null ? '-' : `${comparison.addedWaitMs} ms`} per turn, over ${comparison.sameEnds} turns that end at the same word`,
    `${seconds.toFixed(1)} s of audio in ${(tookMs / 1000).toFixed(1)} s`,
  ];
}

function readCommand(args: string[]): TurnlabCommand {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      vad: { type: 'string', multiple: true, default: [] },
      base: { type: 'string', multiple: true, default: [] },
      swap: { type: 'boolean', default: false },
      svg: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [what, ...more] = positionals;
  if (!what || more.length > 0) throw new Error('name one call or one WAV file');
  const base = readVadSettings('--base', values.base);
  return {
    what,
    base,
    // What is tried stands on what the call had.
    trial: { ...base, ...readVadSettings('--vad', values.vad) },
    swap: values.swap,
    svg: values.svg,
    json: values.json,
  };
}

/** Both sides of a call, 8 kHz. */
interface BothSides {
  caller: Int16Array;
  bot: Int16Array;
}

/** A recording of six hours; larger is not read into memory. */
const MAX_FILE_BYTES = 768 * 1_048_576;

/** The path of a recording: a file as it is, or the one in the data folder whose path names the session. */
async function findRecording(what: string, dataDir: string): Promise<string> {
  if (what.endsWith('.wav') && (await isFile(what))) return what;
  const found: string[] = [];
  for (const folder of ['recordings', 'spool']) {
    const root = join(dataDir, folder);
    const names = await readdir(root, { recursive: true }).catch(() => [] as string[]);
    found.push(
      ...names.filter((name) => name.endsWith('.wav') && name.includes(what)).map((name) => join(root, name)),
    );
  }
  const [path] = found;
  if (path === undefined) {
    throw new Error(`no recording of "${what}" lies in ${dataDir}; give the WAV file, or set DATA_DIR`);
  }
  if (found.length > 1)
    throw new Error(`"${what}" fits ${found.length} recordings; give more of the session id`);
  return path;
}

/** Splits a stereo recording into caller and bot. Throws a sentence when it is not stereo. */
async function readRecording(path: string, swap: boolean): Promise<BothSides> {
  if ((await stat(path)).size > MAX_FILE_BYTES) throw new Error(`${path}: too large to be read`);
  const wav = readWav(await readFile(path));
  if (wav.channels !== 2)
    throw new Error(`${path}: a recording has two channels, this one has ${wav.channels}`);
  const { sampleRate, samples } = wav;
  const [left, right] = [0, 1].map((channel) => {
    const side = new Int16Array(samples.length >> 1);
    for (let at = 0; at < side.length; at++) side[at] = samples[2 * at + channel] as number;
    return toLine({ sampleRate, channels: 1, samples: side });
  }) as [Int16Array, Int16Array];
  return swap ? { caller: right, bot: left } : { caller: left, bot: right };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The keys that the lab can try out: all of `vad` that voice activity and the turn machine obey. */
const KEYS = VadConfig.properties as Record<string, { minimum?: number; maximum?: number; type?: string }>;

/** Reads `KEY=VALUE` pairs of a bot's `vad` object. Throws a sentence for an unknown key or a value out of bounds. */
function readVadSettings(option: string, pairs: readonly string[]): VadConfig {
  const settings: Record<string, unknown> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new Error(`${option} ${pair}: write it as KEY=VALUE`);
    const [key, text] = [pair.slice(0, at), pair.slice(at + 1)];
    const schema = KEYS[key];
    if (!schema) {
      const close = nearest(key, Object.keys(KEYS));
      throw new Error(
        `${option} ${key}: "vad" has no such key${close ? `; did you mean ${close}?` : `; it has ${Object.keys(KEYS).join(', ')}`}`,
      );
    }
    settings[key] = settingOf(`${option} ${key}`, text, schema);
  }
  return settings as VadConfig;
}

function settingOf(
  place: string,
  text: string,
  schema: { minimum?: number; maximum?: number; type?: string },
) {
  if (schema.type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new Error(`${place}: "${text}" is neither true nor false`);
    return text === 'true';
  }
  if (schema.type !== 'number' && schema.type !== 'integer') return text;
  const value = Number(text);
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (text.trim() === '' || !(value >= minimum && value <= maximum)) {
    throw new Error(`${place}: "${text}" is not a number from ${minimum} to ${maximum}`);
  }
  return value;
}
