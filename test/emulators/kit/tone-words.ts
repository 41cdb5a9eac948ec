/**
 * Words as tones: word `n` of a vocabulary is a burst of its own frequency. Text to speech and back without any model,
 * so that a test knows to the word what reached the vendor: what was lost, doubled or garbled by a wrong sample rate
 * or byte order cannot hide.
 */
const LOWEST_HZ = 400;
const STEP_HZ = 50;
/** At 8 kHz the highest tone stays well below half the sample rate. */
const MAX_WORDS = 56;
const AMPLITUDE = 9_000;

export const TONE_WORD_MS = 160;
export const TONE_GAP_MS = 60;

/** The audio of `text`, whose words must stand in the vocabulary: 220 ms per word, LINEAR16. */
export function speakTones(text: string, vocabulary: readonly string[], sampleRate: number): Int16Array {
  if (vocabulary.length > MAX_WORDS) throw new Error(`a vocabulary of tones has at most ${MAX_WORDS} words`);
  const words = text.split(/\s+/).filter(Boolean);
  const wordSamples = (sampleRate * TONE_WORD_MS) / 1000;
  const strideSamples = (sampleRate * (TONE_WORD_MS + TONE_GAP_MS)) / 1000;
  const samples = new Int16Array(words.length * strideSamples);
  for (const [index, word] of words.entries()) {
    const at = vocabulary.indexOf(word);
    if (at === -1) throw new Error(`"${word}" is not in the vocabulary`);
    const step = (2 * Math.PI * (LOWEST_HZ + STEP_HZ * at)) / sampleRate;
    for (let n = 0; n < wordSamples; n += 1)
      samples[index * strideSamples + n] = Math.round(AMPLITUDE * Math.sin(step * n));
  }
  return samples;
}

export function silence(ms: number, sampleRate: number): Int16Array {
  return new Int16Array((ms * sampleRate) / 1000);
}

/** The word of one burst, `?` where its frequency belongs to none. */
export function readTone(burst: Int16Array, vocabulary: readonly string[], sampleRate: number): string {
  // The first and the last upward crossing of zero and those between them give the frequency within a few hertz.
  let crossings = 0;
  let first = 0;
  let last = 0;
  for (let n = 1; n < burst.length; n += 1) {
    const [before, now] = [burst[n - 1] ?? 0, burst[n] ?? 0];
    if (before >= 0 || now < 0) continue;
    const at = n - now / (now - before);
    if (crossings === 0) first = at;
    last = at;
    crossings += 1;
  }
  if (crossings < 3) return '?';
  const hz = ((crossings - 1) * sampleRate) / (last - first);
  const index = Math.round((hz - LOWEST_HZ) / STEP_HZ);
  return vocabulary[index] ?? '?';
}
