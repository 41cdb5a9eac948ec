import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { VadConfig } from '../contracts/runtime-config.ts';
import { describeError } from '../platform/app-error.ts';
import { monotonicMs } from '../platform/clock.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { readSettings } from '../platform/settings.ts';
import { findRecording, readRecording } from './turnlab/find-recording.ts';
import { readVadSettings } from './turnlab/read-vad-settings.ts';
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
