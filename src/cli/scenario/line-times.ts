import { FRAME_MS, FRAME_SAMPLES } from '../../contracts/limits.ts';
import { levelDbfs, VOICE_DBFS } from '../voice-tracker.ts';
import type { PlayedStep } from './play-scenario.ts';

/** A pause of this many frames ends a stretch of the bot's voice: longer than between words, shorter than a turn. */
const GAP_FRAMES = 10;
/** A caller's frame this far below the step's loudest is a pause or noise. */
const BELOW_LOUDEST_DB = 20;

/** What one step brought about, in milliseconds; null where it did not happen. */
export interface StepTimes {
  /** First and last voiced moment of the step, on the line's clock. */
  fromMs: number;
  toMs: number;
  answerMs: number | null;
  stopMs: number | null;
  resumeMs: number | null;
  /** From the step's end to the bot's next sound, or to the end of the call. */
  quietMs: number;
  /** From the step's beginning to the bot's last sound before a long silence; 0 when it was silent then. */
  goesOnMs: number;
}

/**
 * Reads off the two sides of the line, which share one clock, what followed a step. The clock counts frames and not
 * the time of day, so that a busy machine at the caller's end does not lengthen what is measured.
 */
export function stepTimes(
  step: PlayedStep,
  spoken: Int16Array,
  heard: Int16Array,
  quietMs: number,
): StepTimes {
  const voiced = voicedFrames(heard);
  const { from, to } = voicedPart(step, spoken);
  const answer = nextStart(voiced, to);
  const stop = stretchEnd(voiced, from);
  const resume = stop === null ? null : nextStart(voiced, Math.max(stop, from));
  return {
    fromMs: from * FRAME_MS,
    toMs: to * FRAME_MS,
    answerMs: answer === null ? null : (answer - to) * FRAME_MS,
    stopMs: stop === null ? null : (stop - from) * FRAME_MS,
    resumeMs: resume === null ? null : Math.max(0, resume - to) * FRAME_MS,
    quietMs: ((firstVoiced(voiced, step.toFrame) ?? voiced.length) - step.toFrame) * FRAME_MS,
    goesOnMs: goesOn(voiced, from, Math.ceil(quietMs / FRAME_MS)) * FRAME_MS,
  };
}

export function voicedFrames(samples: Int16Array): boolean[] {
  const voiced: boolean[] = [];
  for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
    voiced.push(levelDbfs(samples.subarray(at, at + FRAME_SAMPLES)) >= VOICE_DBFS);
  }
  return voiced;
}

/** First voiced frame of the step and the one behind its last; the step itself where it made no sound. */
function voicedPart(step: PlayedStep, spoken: Int16Array): { from: number; to: number } {
  const levels: number[] = [];
  for (let frame = step.fromFrame; frame < step.toFrame; frame++) {
    levels.push(levelDbfs(spoken.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES)));
  }
  const floor = Math.max(VOICE_DBFS, Math.max(-100, ...levels) - BELOW_LOUDEST_DB);
  const first = levels.findIndex((level) => level >= floor);
  if (first < 0) return { from: step.fromFrame, to: step.toFrame };
  return {
    from: step.fromFrame + first,
    to: step.fromFrame + levels.findLastIndex((level) => level >= floor) + 1,
  };
}

function firstVoiced(voiced: readonly boolean[], from: number): number | null {
  const at = voiced.indexOf(true, from);
  return at < 0 ? null : at;
}

/** Where a stretch of voice begins at or after a frame: one that was going on before does not count. */
function nextStart(voiced: readonly boolean[], from: number): number | null {
  for (let at = from; at < voiced.length; at++) {
    if (!voiced[at]) continue;
    let silent = 0;
    for (let before = at - 1; before >= 0 && !voiced[before] && silent < GAP_FRAMES; before--) silent++;
    if (silent >= GAP_FRAMES || silent === at) return at;
  }
  return null;
}

/** The frame behind the last one of the stretch of voice that is going on; null when the bot was silent. */
function stretchEnd(voiced: readonly boolean[], from: number): number | null {
  let last = -1;
  for (let at = Math.max(0, from - GAP_FRAMES); at < voiced.length; at++) {
    if (voiced[at]) last = at;
    else if (at - Math.max(last, from - 1) > GAP_FRAMES) break;
  }
  if (last < 0 || last < from - GAP_FRAMES) return null;
  // A call that ends within the stretch has not stopped it.
  return last >= voiced.length - 1 ? null : Math.max(last + 1, from);
}

/** How many frames from `from` on the bot is heard without a silence of `limit` frames. */
function goesOn(voiced: readonly boolean[], from: number, limit: number): number {
  let last = from;
  for (let at = from; at < voiced.length && at - last <= Math.max(GAP_FRAMES, limit); at++) {
    if (voiced[at]) last = at;
  }
  return last - from;
}
