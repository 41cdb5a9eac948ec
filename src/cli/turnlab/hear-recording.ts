import { FRAME_SAMPLES, LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../contracts/limits.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import { NoiseFloor } from '../../slot/listen/noise-floor.ts';
import type { TurnVerdict } from '../../slot/listen/turn-model.ts';
import type { VoiceActivity } from '../../slot/listen/voice-activity.ts';

/** Both sides of a call on one clock, 8 kHz. */
export interface Recording {
  caller: Int16Array;
  bot: Int16Array;
}

/** From one sample to the one behind the last. */
export interface Span {
  from: number;
  to: number;
}

export interface HeardRecording extends Recording {
  /** Of each whole window of the caller's side: the probability of speech, behind the noise gate. */
  probabilities: Float32Array;
  /** When the bot was heard. */
  botSpans: Span[];
  /** What the turn model has said of stretches of the caller's side, by their samples: the same in every replay. */
  verdicts: Map<string, TurnVerdict>;
}

/** A frame of the bot at or above this level is its voice; ambient sound lies below. */
const BOT_DBFS = -45;
/** The bot's pauses between sentences belong to what it says. */
const BOT_PAUSE_SAMPLES = 0.6 * LINE_RATE_HZ;

/** Runs voice activity over a recording, from a fresh start. */
export async function hearRecording(recording: Recording, vad: VoiceActivity): Promise<HeardRecording> {
  const { caller, bot } = recording;
  const { level } = audioKernels();
  const noise = new NoiseFloor();
  vad.reset();
  const windows = Math.floor(caller.length / VAD_WINDOW_SAMPLES);
  const probabilities = new Float32Array(windows);
  for (let index = 0; index < windows; index++) {
    const window = caller.subarray(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES);
    probabilities[index] = noise.gate(await vad.probability(window), level(window));
  }
  return { caller, bot, probabilities, botSpans: voicedSpans(bot, level), verdicts: new Map() };
}

function voicedSpans(samples: Int16Array, level: (frame: Int16Array) => number): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
    if (level(samples.subarray(at, at + FRAME_SAMPLES)) < BOT_DBFS) continue;
    const last = spans.at(-1);
    if (last && at - last.to <= BOT_PAUSE_SAMPLES) last.to = at + FRAME_SAMPLES;
    else spans.push({ from: at, to: at + FRAME_SAMPLES });
  }
  return spans;
}
