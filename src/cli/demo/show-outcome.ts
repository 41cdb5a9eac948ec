import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallResults } from '../../contracts/call-results.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import { readWav, type WavAudio } from '../../platform/wav.ts';
import type { ClipOutcome, LoadedClip } from './conversation.ts';
import { MAX_NAME_CHARS } from './load-clips.ts';
import type { DemoDelivery, ResultsReceiver } from './results-receiver.ts';
import { type ClipVerdict, describeRate, judgeClips, misses } from './verdict.ts';

/** The results come within a second of the call's end; an appliance under load may take longer. */
const RESULTS_TIMEOUT_MS = 30_000;

export interface OutcomeParts {
  say: (line: string) => void;
  stage: { folder: string; dataDir: string; receiver: ResultsReceiver };
  clips: readonly LoadedClip[];
  outcomes: readonly ClipOutcome[];
  sessionId: string;
  /** What this demo promises beside what every one does; sentences for what was missed. */
  alsoMissed?: (results: CallResults) => string[];
  /** See `misses`. */
  mayMishear?: number;
  stop: AbortSignal;
}

/** Waits for the results of the call, shows them beside what the caller heard, and says what was missed: the exit code. */
export async function showOutcome(parts: OutcomeParts): Promise<number> {
  const { say, stage, clips, outcomes, sessionId, stop } = parts;
  const delivery = await firstDelivery(stage.receiver, sessionId, stop);
  const results = delivery?.payload as CallResults | undefined;
  const recordingFile = results ? await keepRecording(stage, results) : null;
  const recording = recordingFile ? await readRecording(recordingFile) : null;
  const verdicts = results ? judgeClips(outcomes, results) : [];
  const missed = misses({
    verdicts,
    outcomes,
    clips,
    delivery,
    sessionId,
    recording,
    mayMishear: parts.mayMishear ?? 0,
  });
  if (results) missed.push(...(parts.alsoMissed?.(results) ?? []));

  say('\nWhat the results webhook received');
  say(results ? readableJson(results) : '  nothing');
  say('\nRecordings');
  for (const verdict of verdicts) say(clipLine(verdict));
  const rate = (holds: (verdict: ClipVerdict) => boolean) =>
    describeRate(count(verdicts, holds), clips.length);
  say(`\nrecognised  ${rate((verdict) => verdict.recognised)}`);
  say(`answered    ${rate((verdict) => verdict.answered)}`);
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

async function firstDelivery(
  receiver: ResultsReceiver,
  sessionId: string,
  stop: AbortSignal,
): Promise<DemoDelivery | null> {
  const endAtMs = monotonicMs() + RESULTS_TIMEOUT_MS;
  while (monotonicMs() < endAtMs) {
    const found = receiver.deliveries.find((delivery) => delivery.payload.session_id === sessionId);
    if (found) return found;
    await sleepMs(100, stop);
  }
  return null;
}

/** Copies the recording and the payload out of the data folder, which goes away. */
async function keepRecording(stage: OutcomeParts['stage'], results: CallResults): Promise<string | null> {
  await writeFile(join(stage.folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (!results.recording_key) return null;
  const kept = join(stage.folder, 'recording.wav');
  try {
    await copyFile(join(stage.dataDir, 'recordings', results.recording_key), kept);
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
