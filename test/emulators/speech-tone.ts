import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';

/**
 * The voice of every text-to-speech emulator: a tone of exact length for each character, whose loudness tells the
 * text. A test can so say to the sample what a caller should have heard, and whose audio it was.
 */
export interface ToneVoice {
  /** Length of one character. */
  msPerChar: number;
  /** From a request to its first audio. */
  firstAudioMs: number;
  /** Audio in one message. */
  chunkMs: number;
  /** Times real time at which audio is made; 0 is as fast as the socket takes it. */
  speed: number;
  /** Chunks get an odd number of bytes, so that samples are cut in two. */
  oddChunks: boolean;
}

export const DEFAULT_TONE_VOICE: ToneVoice = {
  msPerChar: 60,
  firstAudioMs: 20,
  chunkMs: 100,
  speed: 0,
  oddChunks: false,
};

/** What the emulators say for `text`: LINEAR16 mono. */
export function toneOf(
  text: string,
  sampleRate: number,
  msPerChar = DEFAULT_TONE_VOICE.msPerChar,
): Int16Array {
  const peak = 1_000 + 31 * (hashOf(text) % 499);
  const length = samplesOf(text, sampleRate, msPerChar);
  const step = (2 * Math.PI * 440) / sampleRate;
  return Int16Array.from({ length }, (_, index) => Math.round(peak * Math.sin(step * index)));
}

export function samplesOf(
  text: string,
  sampleRate: number,
  msPerChar = DEFAULT_TONE_VOICE.msPerChar,
): number {
  return Math.round(([...text].length * msPerChar * sampleRate) / 1_000);
}

/**
 * The tone of `text` in messages, at the voice's pace: `first` is where the chunk begins, in samples. Ends early when
 * `isWanted` says so.
 */
export async function* toneChunks(
  text: string,
  options: { sampleRate: number; voice: ToneVoice; clock: ProviderClock; isWanted(): boolean },
): AsyncGenerator<{ bytes: Buffer; first: number; samples: number }> {
  const { sampleRate, voice, clock } = options;
  const tone = toneOf(text, sampleRate, voice.msPerChar);
  const bytes = Buffer.alloc(tone.length * 2);
  for (const [index, sample] of tone.entries()) bytes.writeInt16LE(sample, 2 * index);
  const chunkBytes = 2 * Math.round((voice.chunkMs * sampleRate) / 1_000) + (voice.oddChunks ? 1 : 0);
  if (voice.firstAudioMs > 0) await clock.sleep(voice.firstAudioMs);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    if (at > 0) await (voice.speed > 0 ? clock.sleep(voice.chunkMs / voice.speed) : nextTurn());
    if (!options.isWanted()) return;
    const piece = bytes.subarray(at, at + chunkBytes);
    yield { bytes: piece, first: at / 2, samples: piece.length / 2 };
  }
}

/** The words of a text with the time that each takes in its tone, in milliseconds from the tone's start. */
export function toneWords(
  text: string,
  msPerChar = DEFAULT_TONE_VOICE.msPerChar,
): { text: string; startMs: number; endMs: number }[] {
  return [...text.matchAll(/\S+/gu)].map((match) => {
    const startMs = [...text.slice(0, match.index)].length * msPerChar;
    return { text: match[0], startMs, endMs: startMs + [...match[0]].length * msPerChar };
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function hashOf(text: string): number {
  let hash = 7;
  for (const char of text) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return hash;
}
