import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CallResults } from '../contracts/call-results.ts';
import { SOCKET_PATH } from '../contracts/http-names.ts';
import { describeError } from '../platform/app-error.ts';
import { monotonicMs, sleepMs } from '../platform/clock.ts';
import { findEngineData } from '../platform/engine-programs.ts';
import { readWav, type WavAudio } from '../platform/wav.ts';
import { describeEvent } from './call.ts';
import { loadCallerAudio } from './caller-audio.ts';
import { type Appliance, freePort, startAppliance } from './demo/appliance-process.ts';
import { type ClipOutcome, converse, type DemoClip } from './demo/conversation.ts';
import { type Delivery, type ResultsReceiver, startResultsReceiver } from './demo/results-receiver.ts';
import { type ClipVerdict, describeRate, judgeClips, misses } from './demo/verdict.ts';
import { DEMO_CLIPS } from './demo-script.ts';
import { type DiallerCall, placeCall } from './dialler-client.ts';
import { followJournal, journalView } from './journal-tail.ts';

const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
/** The results come within a second of the call's end; an appliance under load may take longer. */
const RESULTS_TIMEOUT_MS = 30_000;
/** After the last recording the bot says goodbye and ends the call. */
const GOODBYE_TIMEOUT_MS = 20_000;

/** The end of a long file name tells the recordings apart. */
const MAX_NAME_CHARS = 20;

/** Everything that must be gone when the demo ends, in whatever way it ends. */
interface Stage {
  folder: string;
  receiver?: ResultsReceiver;
  appliance?: Appliance;
  call?: DiallerCall;
}

/** `trunkline demo`: a whole call against a real appliance. Exit code 0 when everything that it promises held. */
export async function demoCommand(args: string[]): Promise<number> {
  let options: { keep: boolean; quiet: boolean; short: boolean };
  try {
    const flags = {
      keep: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
    } as const;
    options = parseArgs({ args, options: flags }).values;
  } catch (error) {
    process.stderr.write(`trunkline demo: ${describeError(error)}\nRun "trunkline help demo".\n`);
    return EXIT_USAGE;
  }
  const stage: Stage = { folder: await mkdtemp(join(tmpdir(), 'trunkline-demo-')) };
  const stop = new AbortController();
  const onSignal = () => {
    stop.abort();
    stage.call?.drop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  let code = 1;
  try {
    code = await play(stage, options, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) process.stderr.write(`trunkline demo: ${describeError(error)}\n`);
  }
  if (stop.signal.aborted) code = EXIT_INTERRUPTED;
  await tearDown(stage, options.keep || code === 1);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  return code;
}

/** Rejects when the signal is aborted, or something that the demo cannot go on without is missing. */
async function play(
  stage: Stage,
  options: { quiet: boolean; short: boolean },
  stop: AbortSignal,
): Promise<number> {
  const clips = await loadClips(options.short);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`Starting the appliance on a temporary folder (${stage.folder}) ...`);
  const controlPort = await freePort();
  stage.receiver = await startResultsReceiver(`http://127.0.0.1:${controlPort}`);
  stage.appliance = await startAppliance({
    folder: stage.folder,
    controlPort,
    baseUrl: stage.receiver.url,
    slots: 2,
    stop,
  });
  const { appliance, receiver } = stage;
  const turnModel = appliance.models?.['smart-turn'] ?? 'unknown';
  say(
    `It runs. Calling the bot "demo" with ${clips.length} recordings of human speech (turn model: ${turnModel}).\n`,
  );

  const url = `${appliance.fleetUrl.replace('http', 'ws')}${SOCKET_PATH}demo`;
  const startedAtMs = monotonicMs();
  const show = (text: string) => {
    if (!options.quiet && text)
      say(`${((monotonicMs() - startedAtMs) / 1000).toFixed(2).padStart(7)} s  ${text}`);
  };
  stage.call = await placeCall({
    url,
    connected: { caller_id: 'demo-caller', from_number: '+15550100', call_direction: 'inbound' },
    onEvent: (event) => show(describeEvent(event)),
  });
  const { sessionId } = stage.call;
  const stopFollowing = followJournal(
    appliance.dataDir,
    (line) => line.sessionId === sessionId,
    journalView(show),
  );
  let outcomes: ClipOutcome[];
  try {
    outcomes = await converse(stage.call, clips);
    await stage.call.until(() => false, GOODBYE_TIMEOUT_MS);
  } finally {
    stopFollowing();
  }
  stop.throwIfAborted();
  await stage.call.hangUp();

  const delivery = await firstDelivery(receiver, stage.call.sessionId, stop);
  const results = delivery?.payload as CallResults | undefined;
  const recordingFile = results ? await keepRecording(stage, results) : null;
  const recording = recordingFile ? await readRecording(recordingFile) : null;
  const verdicts = results ? judgeClips(outcomes, results) : [];
  const missed = misses({ verdicts, outcomes, clips, delivery, sessionId: stage.call.sessionId, recording });

  say('\nWhat the results webhook received');
  say(results ? readableJson(results) : '  nothing');
  say('\nRecordings');
  for (const verdict of verdicts) say(clipLine(verdict));
  say(
    `\nrecognised  ${describeRate(
      count(verdicts, (verdict) => verdict.recognised),
      clips.length,
    )}`,
  );
  say(
    `answered    ${describeRate(
      count(verdicts, (verdict) => verdict.answered),
      clips.length,
    )}`,
  );
  const latencies = verdicts.flatMap((verdict) => (verdict.answerMs === null ? [] : [verdict.answerMs]));
  if (latencies.length > 0) say(`answers     ${describeLatencies(latencies)}`);
  for (const outcome of outcomes) {
    if (outcome.cutMs !== null)
      say(`barge-in    the bot was cut ${Math.round(outcome.cutMs)} ms after the caller began`);
  }
  say(`recording   ${recordingFile ?? 'none'} (stereo: left the caller, right the bot)`);
  for (const sentence of missed) process.stderr.write(`MISSED      ${sentence}\n`);
  say(
    missed.length === 0
      ? '\nEverything that the demo promises held.'
      : `\n${missed.length} promises were missed.`,
  );
  return missed.length === 0 ? 0 : 1;
}

async function loadClips(short: boolean): Promise<DemoClip[]> {
  const clips: DemoClip[] = [];
  for (const entry of short ? shortScript() : DEMO_CLIPS) {
    const path = findEngineData(entry.file);
    if (!path) {
      throw new Error(
        `the recording ${entry.file} is missing; "npm run demo" installs pocketsphinx-testdata`,
      );
    }
    clips.push({
      name: basename(entry.file).slice(-MAX_NAME_CHARS),
      samples: await loadCallerAudio(path),
      expectedPhrase: entry.expectedPhrase,
      intent: entry.intent,
      interrupts: entry.interrupts ?? false,
    });
  }
  return clips;
}

/** The first recording, the one that is interrupted, the one that interrupts, and the goodbye. */
function shortScript(): typeof DEMO_CLIPS {
  return DEMO_CLIPS.filter(
    (entry, index) =>
      index === 0 ||
      index === DEMO_CLIPS.length - 1 ||
      entry.interrupts === true ||
      DEMO_CLIPS[index + 1]?.interrupts === true,
  );
}

async function firstDelivery(
  receiver: ResultsReceiver,
  sessionId: string,
  stop: AbortSignal,
): Promise<Delivery | null> {
  const endAtMs = monotonicMs() + RESULTS_TIMEOUT_MS;
  while (monotonicMs() < endAtMs) {
    const found = receiver.deliveries.find((delivery) => delivery.payload.session_id === sessionId);
    if (found) return found;
    await sleepMs(100, stop);
  }
  return null;
}

/** Copies the recording and the payload out of the data folder, which goes away. */
async function keepRecording(stage: Stage, results: CallResults): Promise<string | null> {
  await writeFile(join(stage.folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (!results.recording_key || !stage.appliance) return null;
  const kept = join(stage.folder, 'recording.wav');
  try {
    await copyFile(join(stage.appliance.dataDir, 'recordings', results.recording_key), kept);
    return kept;
  } catch {
    return null;
  }
}

async function readRecording(path: string): Promise<WavAudio | null> {
  try {
    return readWav(await readFile(path));
  } catch {
    return null;
  }
}

async function tearDown(stage: Stage, keep: boolean): Promise<void> {
  stage.call?.drop();
  await stage.appliance?.stop();
  await stage.receiver?.close();
  if (keep) {
    process.stdout.write(`kept: ${stage.folder}\n`);
    return;
  }
  await rm(join(stage.folder, 'data'), { recursive: true, force: true });
  await rm(join(stage.folder, 'appliance.log'), { force: true });
}

function clipLine(verdict: ClipVerdict): string {
  const mark = verdict.recognised && verdict.answered ? 'ok  ' : 'MISS';
  const answer = verdict.answerMs === null ? 'no answer' : `${Math.round(verdict.answerMs)} ms`;
  return `  ${mark} ${verdict.clip.name.padEnd(MAX_NAME_CHARS)} ${answer.padStart(9)}  ${(verdict.intent || '-').padEnd(16)} "${verdict.heard}"`;
}

function describeLatencies(values: number[]): string {
  const sorted = values.map(Math.round).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `median ${middle} ms, longest ${sorted.at(-1)} ms from the caller's last sound to the bot's first (n=${sorted.length})`;
}

function count<T>(items: readonly T[], holds: (item: T) => boolean): number {
  return items.filter(holds).length;
}

/** JSON with one line for each key and each entry of a list: a transcript that one can read. */
function readableJson(value: Record<string, unknown>): string {
  const lines = Object.entries(value).map(([key, held]) => {
    if (!Array.isArray(held) || held.length === 0) return `  ${JSON.stringify(key)}: ${JSON.stringify(held)}`;
    const entries = held.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n');
    return `  ${JSON.stringify(key)}: [\n${entries}\n  ]`;
  });
  return `{\n${lines.join(',\n')}\n}`;
}
