import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/**
 * What a caller hears while they wait for a person: slow chords that come and go. Synthesised, so that nobody's
 * recording is on a line and every host has the same; quiet, so that a line spoken over it is understood and voice
 * detection at the far end is not kept busy.
 */
const CHORD_SECONDS = 4;
const PIECE_SAMPLES = LINE_RATE_HZ;
/** A, F sharp minor, D, E: notes of each chord in Hz. All lie where a telephone carries them. */
const CHORDS_HZ: readonly (readonly number[])[] = [
  [440, 554.37, 659.26],
  [369.99, 440, 554.37],
  [293.66, 440, 587.33],
  [329.63, 493.88, 659.26],
];
/** RMS of the loop, in dBFS. */
export const HOLD_LEVEL_DBFS = -28;
/** Harmonics of a note, by strength: a soft organ. */
const HARMONICS: readonly number[] = [1, 0.35, 0.12];

let making: Promise<Int16Array> | undefined;

/** The loop at line rate, 16 s; made once per process, in pieces of a millisecond, while the first caller is told. */
export function holdMusic(): Promise<Int16Array> {
  making ??= makeLoop();
  return making;
}

async function makeLoop(): Promise<Int16Array> {
  const chordSamples = CHORD_SECONDS * LINE_RATE_HZ;
  const all = new Float32Array(CHORDS_HZ.length * chordSamples);
  for (const [index, notes] of CHORDS_HZ.entries()) {
    const chord = all.subarray(index * chordSamples, (index + 1) * chordSamples);
    for (const hz of notes) await addNote(chord, hz);
    swell(chord);
  }
  let energy = 0;
  for (const piece of pieces(all)) {
    for (const sample of piece) energy += sample * sample;
    await nextTurn();
  }
  const scale = (10 ** (HOLD_LEVEL_DBFS / 20) * 32_768) / Math.sqrt(energy / all.length);
  const loop = new Int16Array(all.length);
  for (const [index, piece] of pieces(all).entries()) {
    const from = index * PIECE_SAMPLES;
    piece.forEach((sample, at) => {
      loop[from + at] = Math.round(sample * scale);
    });
    await nextTurn();
  }
  return loop;
}

function pieces(all: Float32Array): Float32Array[] {
  return Array.from({ length: Math.ceil(all.length / PIECE_SAMPLES) }, (_, index) =>
    all.subarray(index * PIECE_SAMPLES, (index + 1) * PIECE_SAMPLES),
  );
}

/** The call goes on between two pieces. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function addNote(into: Float32Array, hz: number): Promise<void> {
  for (const [index, strength] of HARMONICS.entries()) {
    const step = (2 * Math.PI * hz * (index + 1)) / LINE_RATE_HZ;
    for (let at = 0; at < into.length; at++) into[at] = (into[at] ?? 0) + strength * Math.sin(step * at);
    await nextTurn();
  }
}

/** From nothing and back, so that chords meet without a click and the loop has no seam. */
function swell(chord: Float32Array): void {
  for (let at = 0; at < chord.length; at++) {
    chord[at] = (chord[at] ?? 0) * Math.sin((Math.PI * at) / chord.length) ** 2;
  }
}
