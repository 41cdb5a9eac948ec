import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../contracts/limits.ts';
import { findEngine, findEngineData } from '../../platform/engine-programs.ts';
import { readWav } from '../../platform/wav.ts';
import { loadCallerAudio, toLine } from '../caller-audio.ts';
import { levelDbfs } from '../voice-tracker.ts';
import type { Action, SpeechPiece } from './scenario-format.ts';
import { seededNoise } from './seeded-noise.ts';

/** Recordings of the Debian package pocketsphinx-testdata are named with this in front. */
const TEST_DATA = 'pocketsphinx:';
const TEST_DATA_FOLDER = '/usr/share/pocketsphinx/test/data';
/** Words that are spoken in one go; longer is no line of a caller. */
const MAX_WORDS_CHARS = 2_000;
/** A program that makes a hundred seconds of speech per second and takes this long is stuck. */
const SPEAK_TIMEOUT_MS = 20_000;
/** Frames this far below the loudest do not count for the level of speech: they are pauses. */
const BELOW_LOUDEST_DB = 20;

/** What a caller's step sounds like on the line: 8 kHz. Throws a sentence when a file or the voice is missing. */
export async function makeSound(action: Action, folder: string): Promise<Int16Array> {
  if (action.kind === 'sound') return makeNoise(action);
  if (action.kind !== 'say') return new Int16Array(0);
  const parts: Int16Array[] = [];
  for (const piece of action.pieces) parts.push(await makePiece(piece, folder));
  return joined(parts);
}

async function makePiece(piece: SpeechPiece, folder: string): Promise<Int16Array> {
  switch (piece.kind) {
    case 'pause':
      return new Int16Array(samplesOf(piece.ms));
    case 'words':
      return atLevel(await speak(piece.text, piece.voice, piece.wordsPerMinute), piece.dbfs);
    case 'file': {
      const whole = await loadCallerAudio(filePath(piece.path, folder));
      const to = piece.toMs === null ? whole.length : samplesOf(piece.toMs);
      const part = whole.slice(samplesOf(piece.fromMs), to);
      return piece.dbfs === null ? part : atLevel(part, piece.dbfs);
    }
  }
}

function filePath(path: string, folder: string): string {
  if (!path.startsWith(TEST_DATA)) return resolve(folder, path);
  const name = path.slice(TEST_DATA.length);
  const found = findEngineData(`${TEST_DATA_FOLDER}/${name}`);
  if (!found) throw new Error(`${path} is missing; install the Debian package pocketsphinx-testdata`);
  return found;
}

const spoken = new Map<string, Promise<Int16Array>>();
/** Lines that are kept to be said again. */
const MAX_SPOKEN = 500;

/** Words by espeak-ng, without the silence that the program puts around them. */
export function speak(text: string, voice: string, wordsPerMinute: number): Promise<Int16Array> {
  const key = JSON.stringify([text, voice, wordsPerMinute]);
  const known = spoken.get(key);
  if (known) return known;
  if (spoken.size >= MAX_SPOKEN) spoken.clear();
  const made = runEspeak(text, voice, wordsPerMinute).then((wav) => trimmed(toLine(readWav(wav))));
  spoken.set(key, made);
  return made;
}

function runEspeak(text: string, voice: string, wordsPerMinute: number): Promise<Buffer> {
  const engine = findEngine('espeak-ng');
  if (!engine) throw new Error('espeak-ng is missing; install the Debian package espeak-ng');
  if (text.length > MAX_WORDS_CHARS) throw new Error(`a caller says at most ${MAX_WORDS_CHARS} characters`);
  return new Promise((resolve, reject) => {
    const child = spawn(
      engine.path,
      ['-v', voice, '-s', String(wordsPerMinute), '-b', '1', '--stdin', '--stdout'],
      {
        env: { ...process.env, ...engine.env },
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: SPEAK_TIMEOUT_MS,
      },
    );
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0
        ? resolve(Buffer.concat(parts))
        : reject(new Error(`espeak-ng cannot speak with the voice "${voice}" (exit ${code})`)),
    );
    child.stdin.end(text);
  });
}

function makeNoise(action: Extract<Action, { kind: 'sound' }>): Int16Array {
  const samples = new Int16Array(samplesOf(action.ms));
  const peak = 32_767;
  const rms = 10 ** (action.dbfs / 20);
  if (action.sound === 'tone') {
    // A sine's level lies 3 dB below its peak.
    for (let at = 0; at < samples.length; at++) {
      samples[at] = Math.round(
        peak * rms * Math.SQRT2 * Math.sin((2 * Math.PI * action.hz * at) / LINE_RATE_HZ),
      );
    }
    return samples;
  }
  seededNoise(action.ms)(samples, action.dbfs);
  if (action.sound === 'noise') return samples;
  // Many voices at once come and go: noise whose loudness swells four times a second.
  for (let at = 0; at < samples.length; at++) {
    const swell = 0.6 + 0.4 * Math.sin((2 * Math.PI * 4 * at) / LINE_RATE_HZ);
    samples[at] = Math.round((samples[at] as number) * swell);
  }
  return samples;
}

/** A copy whose voiced parts have this level. */
export function atLevel(samples: Int16Array, dbfs: number): Int16Array {
  const levels: number[] = [];
  for (let from = 0; from < samples.length; from += FRAME_SAMPLES) {
    levels.push(levelDbfs(samples.subarray(from, from + FRAME_SAMPLES)));
  }
  const loudest = levels.reduce((most, level) => Math.max(most, level), -100);
  if (loudest <= -100) return samples.slice();
  const voiced = levels.filter((level) => level >= loudest - BELOW_LOUDEST_DB);
  const power = voiced.reduce((sum, level) => sum + 10 ** (level / 10), 0) / voiced.length;
  const gain = 10 ** ((dbfs - 10 * Math.log10(power)) / 20);
  const out = new Int16Array(samples.length);
  for (let at = 0; at < samples.length; at++) out[at] = clamp((samples[at] as number) * gain);
  return out;
}

/** Without the digital silence at both ends. */
function trimmed(samples: Int16Array): Int16Array {
  const isVoiced = (value: number) => Math.abs(value) > 64;
  const from = samples.findIndex(isVoiced);
  const to = samples.findLastIndex(isVoiced);
  return from < 0 ? samples : samples.slice(from, to + 1);
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function samplesOf(ms: number): number {
  return Math.round((ms * LINE_RATE_HZ) / 1000);
}

function clamp(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
