import { readTone } from './tone-words.ts';

/** What the emulated engine understands: tones of a vocabulary, or the next of these texts for each utterance. */
export type Hearing = { words: readonly string[] } | { texts: readonly string[] };

/** Where in the texts an emulator is; connections share it, so that a repeated utterance gets its text again. */
export interface TextCursor {
  at: number;
}

export interface HeardWord {
  word: string;
  /** Milliseconds of audio since the connection began. */
  startMs: number;
  endMs: number;
}

export interface Utterance {
  text: string;
  words: HeardWord[];
  startMs: number;
  endMs: number;
}

/** The state after each 10 ms of audio. */
export interface SpeechTick {
  /** Audio heard so far. */
  atMs: number;
  /** True once per utterance, with its first sound. */
  started: boolean;
  /** An utterance is open: it began, and nobody took it yet. */
  open: boolean;
  /** Since the last sound of the open utterance. */
  silenceMs: number;
}

const TICK_MS = 10;
/** Root mean square of 16-bit samples over which 10 ms count as sound: over line noise, under quiet speech. */
const SOUND_RMS = 400;
/** So much sound in a row begins an utterance; a click does not. */
const START_TICKS = 3;
/** A script's words come at this pace while its utterance sounds. */
const SCRIPT_WORD_MS = 250;
/** After so much silence all words of a script's text are there, however short the time was. */
const SCRIPT_COMPLETE_MS = 120;
/** A shorter burst is the rest of a tone that was cut. */
const MIN_BURST_MS = 50;

/** Finds utterances by energy and says what they say. When an utterance is over is for the vendor to decide. */
export class SpeechReader {
  private readonly hearing: Hearing;
  private readonly cursor: TextCursor;
  private readonly rate: number;
  private readonly tickSamples: number;
  private rest = new Int16Array(0);
  private burst: Int16Array[] = [];
  private ticks = 0;
  private soundTicks = 0;
  private openWord = false;
  private startMs = 0;
  private lastSoundMs = 0;
  private readWords: HeardWord[] = [];

  constructor(options: { sampleRate: number; hearing: Hearing; cursor: TextCursor }) {
    this.hearing = options.hearing;
    this.cursor = options.cursor;
    this.rate = options.sampleRate;
    this.tickSamples = (options.sampleRate * TICK_MS) / 1000;
  }

  get heardMs(): number {
    return this.ticks * TICK_MS;
  }

  get open(): boolean {
    return this.openWord;
  }

  /** A generator, so that the vendor may take an utterance between two ticks: run it to its end. */
  *read(samples: Int16Array): Generator<SpeechTick> {
    const all = new Int16Array(this.rest.length + samples.length);
    all.set(this.rest);
    all.set(samples, this.rest.length);
    let at = 0;
    for (; at + this.tickSamples <= all.length; at += this.tickSamples) {
      yield this.tick(all.subarray(at, at + this.tickSamples));
    }
    this.rest = all.slice(at);
  }

  /** A whole recording as one utterance, null where nothing is said. */
  readAll(samples: Int16Array): Utterance | null {
    const ticks = this.read(samples);
    while (!ticks.next().done);
    return this.take();
  }

  /** The words of the open utterance so far; of a script, as many as there was time for. */
  words(): HeardWord[] {
    if ('words' in this.hearing) return [...this.readWords];
    const words = this.scriptWords();
    const isComplete = this.heardMs - this.lastSoundMs >= SCRIPT_COMPLETE_MS;
    const inTime = 1 + Math.floor((this.lastSoundMs - this.startMs) / SCRIPT_WORD_MS);
    const shown = isComplete ? words.length : Math.min(words.length, inTime);
    return this.openWord ? spread(words.slice(0, shown), this.startMs, this.lastSoundMs) : [];
  }

  /** Ends the open utterance with all of its words; null where none is open. */
  take(): Utterance | null {
    if (!this.openWord) return null;
    this.endBurst();
    const words =
      'words' in this.hearing ? this.readWords : spread(this.scriptWords(), this.startMs, this.lastSoundMs);
    const utterance = {
      text: words.map(({ word }) => word).join(' '),
      words,
      startMs: this.startMs,
      endMs: this.lastSoundMs,
    };
    this.readWords = [];
    this.openWord = false;
    this.soundTicks = 0;
    this.cursor.at += 1;
    return utterance;
  }

  private tick(frame: Int16Array): SpeechTick {
    this.ticks += 1;
    const sounds = isSound(frame);
    this.soundTicks = sounds ? this.soundTicks + 1 : 0;
    if (sounds) this.burst.push(frame.slice());
    const started = !this.openWord && this.soundTicks >= START_TICKS;
    if (started) {
      this.openWord = true;
      this.startMs = this.heardMs - START_TICKS * TICK_MS;
    }
    if (this.openWord && sounds) this.lastSoundMs = this.heardMs;
    if (!sounds) this.endBurst();
    return {
      atMs: this.heardMs,
      started,
      open: this.openWord,
      silenceMs: this.openWord ? this.heardMs - this.lastSoundMs : 0,
    };
  }

  private endBurst(): void {
    const frames = this.burst;
    this.burst = [];
    if (!('words' in this.hearing) || !this.openWord || frames.length * TICK_MS < MIN_BURST_MS) return;
    const burst = new Int16Array(frames.length * this.tickSamples);
    for (const [index, frame] of frames.entries()) burst.set(frame, index * this.tickSamples);
    const word = readTone(burst, this.hearing.words, this.rate);
    this.readWords.push({
      word,
      startMs: this.lastSoundMs - frames.length * TICK_MS,
      endMs: this.lastSoundMs,
    });
  }

  private scriptWords(): string[] {
    if (!('texts' in this.hearing)) return [];
    return (this.hearing.texts[this.cursor.at] ?? '').split(' ').filter(Boolean);
  }
}

function isSound(frame: Int16Array): boolean {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return Math.sqrt(sum / frame.length) > SOUND_RMS;
}

function spread(words: readonly string[], startMs: number, endMs: number): HeardWord[] {
  const eachMs = (endMs - startMs) / Math.max(1, words.length);
  return words.map((word, index) => ({
    word,
    startMs: Math.round(startMs + index * eachMs),
    endMs: Math.round(startMs + (index + 1) * eachMs),
  }));
}
