import { LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../src/contracts/limits.ts';
import { monotonicMs } from '../src/platform/clock.ts';
import { loadModelPath } from '../src/platform/model-files.ts';
import { VoiceActivity } from '../src/slot/listen/voice-activity.ts';
import { loadSpeech } from './caller-clips.ts';

/**
 * The floor of listening on this machine: a process that runs voice activity over speech and does nothing else.
 * `hot` is one window after the other; afterwards it goes on at the pace of a call, one window every 32 ms, until it
 * is ended, and the bench reads its CPU from outside ("cold").
 *
 *   bare-vad MODEL_DIR [hot]
 */
export type VadMessage = { type: 'ready'; hotUs: number | null };

const HOT_WINDOWS = 1_500;
const WINDOW_MS = (VAD_WINDOW_SAMPLES * 1000) / LINE_RATE_HZ;

const [modelDir = '', hot] = process.argv.slice(2);
const vad = await VoiceActivity.create(await loadModelPath('silero-vad', modelDir));
const speech = (await loadSpeech()).filter((clip) => clip.length >= VAD_WINDOW_SAMPLES);
const windows = speech.flatMap(cutIntoWindows);
let next = 0;

process.on('disconnect', () => process.exit(0));
const hotUs = hot === 'hot' ? await measureHot() : null;
process.send?.({ type: 'ready', hotUs } satisfies VadMessage);
let dueMs = monotonicMs();
void tick();

async function tick(): Promise<void> {
  await judgeOne();
  dueMs += WINDOW_MS;
  setTimeout(() => void tick(), Math.max(0, dueMs - monotonicMs()));
}

/** CPU microseconds per window. */
async function measureHot(): Promise<number> {
  for (let i = 0; i < 200; i++) await judgeOne();
  const before = process.cpuUsage();
  for (let i = 0; i < HOT_WINDOWS; i++) await judgeOne();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / HOT_WINDOWS;
}

async function judgeOne(): Promise<void> {
  await vad.probability(windows[next++ % windows.length] as Int16Array);
}

function cutIntoWindows(clip: Int16Array): Int16Array[] {
  const count = Math.floor(clip.length / VAD_WINDOW_SAMPLES);
  return Array.from({ length: count }, (_, index) =>
    clip.subarray(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES),
  );
}
