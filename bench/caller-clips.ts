import { existsSync } from 'node:fs';
import { loadCallerAudio, samplesToBytes } from '../src/cli/caller-audio.ts';
import { levelDbfs } from '../src/cli/voice-tracker.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../src/contracts/limits.ts';
import type { Framing } from '../src/contracts/wire.ts';

/** One thing a caller says, ready to send: its first and its last frame are voiced. */
export interface Clip {
  frames: (Buffer | string)[];
}

/** Human speech of the Debian package pocketsphinx-testdata: numbers, playing cards and short commands. */
const FOLDER = '/usr/share/pocketsphinx/test/data';
const FILES = ['cards/001.wav', 'cards/002.wav', 'cards/003.wav', 'cards/004.wav', 'cards/005.wav'].concat([
  'numbers.raw',
  'something.raw',
  'goforward.raw',
]);

/**
 * A frame this far below the loudest of its file is no speech. The recordings have a hiss some 28 dB down; at this level
 * the first and the last frame of a clip agree with Silero within three windows, but for one clip.
 */
const BELOW_LOUDEST_DB = 20;
/**
 * The recordings are cut where the speaker pauses for so long: a longer pause inside a clip would end the turn
 * (`vad.stop_ms`, 224).
 */
const PAUSE_MS = 180;
/** Shorter pieces would not interrupt a bot for sure; longer ones leave too few turns in a run. */
const MIN_CLIP_MS = 700;
const MAX_CLIP_MS = 3_500;

/** The clips of all callers. Throws a sentence when the speech is not installed. */
export async function loadClips(framing: Framing): Promise<Clip[]> {
  const clips: Clip[] = [];
  for (const samples of await loadSpeech()) {
    const frames: (Buffer | string)[] = [];
    for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
      frames.push(encodeFrame(samples.subarray(at, at + FRAME_SAMPLES), framing));
    }
    clips.push({ frames });
  }
  return clips;
}

/** Stretches of speech at 8 kHz, in whole frames, without a pause in them. */
export async function loadSpeech(): Promise<Int16Array[]> {
  const speech: Int16Array[] = [];
  for (const file of FILES) {
    const path = `${FOLDER}/${file}`;
    if (!existsSync(path)) {
      throw new Error(`${path} is missing; install the Debian package pocketsphinx-testdata (npm run setup)`);
    }
    speech.push(...cutAtPauses(await loadCallerAudio(path)));
  }
  return speech;
}

/** One 20 ms frame as it travels (docs/dialler-protocol.md). */
export function encodeFrame(samples: Int16Array, framing: Framing): Buffer | string {
  const bytes = samplesToBytes(samples);
  return framing === 'binary' ? bytes : `{"event":"media","media":{"payload":"${bytes.toString('base64')}"}}`;
}

function cutAtPauses(samples: Int16Array): Int16Array[] {
  const levels: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    levels.push(levelDbfs(samples.subarray(at, at + FRAME_SAMPLES)));
  }
  const floor = Math.max(...levels) - BELOW_LOUDEST_DB;
  const pieces: Int16Array[] = [];
  const keep = (from: number, to: number) => {
    const lengthMs = (to - from) * FRAME_MS;
    if (lengthMs < MIN_CLIP_MS) return;
    const end = Math.min(to, from + MAX_CLIP_MS / FRAME_MS);
    pieces.push(samples.slice(from * FRAME_SAMPLES, end * FRAME_SAMPLES));
  };
  let from = -1;
  let lastVoiced = -1;
  for (const [frame, level] of levels.entries()) {
    if (level < floor) continue;
    if (from >= 0 && (frame - lastVoiced - 1) * FRAME_MS >= PAUSE_MS) {
      keep(from, lastVoiced + 1);
      from = frame;
    }
    if (from < 0) from = frame;
    lastVoiced = frame;
  }
  if (from >= 0) keep(from, lastVoiced + 1);
  return pieces;
}
