import { readFileSync } from 'node:fs';
import { loadCallerAudio } from '../src/cli/caller-audio.ts';
import { atLevel, speak } from '../src/cli/scenario/caller-sounds.ts';
import { seededNoise } from '../src/cli/scenario/seeded-noise.ts';
import { levelDbfs } from '../src/cli/voice-tracker.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../src/contracts/limits.ts';
import { findEngineData } from '../src/platform/engine-programs.ts';
import { projectPath } from '../src/platform/project-paths.ts';

/**
 * Speech with known turn ends, by construction: whole sentences of human clips and synthetic voices, a pause spliced in
 * at their quietest moment, line noise under all of it. Whatever ends a turn before the last word is premature.
 */
export interface LabelledTurn {
  kind: 'human' | 'synthetic';
  samples: Int16Array;
  /** Behind the last voiced frame. */
  endSample: number;
  pauseMs: number;
  noiseDbfs: number | null;
  /** What is said, and from when on an engine would tell it. */
  words: { word: string; endSample: number }[];
  /** What the bot had said before; empty where that does not matter. */
  botSaid: string;
}

const DATA = '/usr/share/pocketsphinx/test/data';
/** Human: playing cards, digits, commands, and a novel read aloud. */
export const HUMAN_RECORDINGS = [
  ...[1, 2, 3, 4, 5].map((number) => `cards/00${number}.wav`),
  'numbers.raw',
  'something.raw',
  'goforward.raw',
  'tidigits/dhd.2934z.raw',
  ...['0870', '0880', '0890', '0920', '0930'].map(
    (part) => `librivox/sense_and_sensibility_01_austen_64kb-${part}.wav`,
  ),
];
const VOICES = ['en-gb', 'en-us+f2', 'en-gb-scotland+m3', 'en-us+f4', 'en-gb-x-rp+m7', 'hi', 'hi+f3'];
/** The bar stands where nobody who hears the beginning alone would take it for a whole sentence. */
const SENTENCES = [
  'I would like to book a | table for two people tomorrow evening.',
  'Can you tell me when my | order is going to arrive at my house?',
  'My account number is four five | one, nine two seven.',
  'No, I have already paid that | bill last week at the bank.',
  'Please send the invoice to my | new address in the city.',
  'I want to cancel my | subscription and get my money back.',
  'Yes, that is | right.',
  'What does it cost if I take the | larger one instead?',
];
const PAUSES_MS = [0, 300, 500, 800];
const NOISE_DBFS = [null, -60, -50, -40];
const SPEECH_DBFS = -22;
/** Before the first word, and behind the last: longer than any rule waits. */
const LEAD_SAMPLES = LINE_RATE_HZ;
const TAIL_SAMPLES = 4 * LINE_RATE_HZ;

/** `share` of the whole set, evenly taken: 1 for all of it. Rejects with a sentence when the speech is missing. */
export async function labelledTurns(share: number): Promise<LabelledTurn[]> {
  const sources = await speechSources();
  const turns: LabelledTurn[] = [];
  let index = 0;
  for (const source of sources) {
    for (const pauseMs of PAUSES_MS) {
      for (const noiseDbfs of NOISE_DBFS) {
        // A step that shares no factor with the grid takes every pause and every noise in turn.
        if (Math.floor(index * share) !== Math.floor((index + 1) * share)) {
          turns.push(labelled(source, pauseMs, noiseDbfs, index));
        }
        index++;
      }
    }
  }
  return turns;
}

/** A whole sentence at one level, without silence around it. */
export interface SpeechSource {
  kind: LabelledTurn['kind'];
  speech: Int16Array;
  /** Where a pause may be spliced in. */
  pauseAt: number;
  words: LabelledTurn['words'];
  botSaid: string;
}

export async function speechSources(): Promise<SpeechSource[]> {
  const sources: SpeechSource[] = [];
  const words = labelledWords();
  for (const name of HUMAN_RECORDINGS) {
    const path = findEngineData(`${DATA}/${name}`);
    if (!path) throw new Error(`${name} is missing; install the Debian package pocketsphinx-testdata`);
    const speech = voicedPart(atLevel(await loadCallerAudio(path), SPEECH_DBFS));
    const pauseAt = quietestMoment(speech, 0.3, 0.75);
    const botSaid = name.startsWith('tidigits') ? 'What is your account number?' : '';
    sources.push({ kind: 'human', speech, pauseAt, words: wordsOf(words.get(name), speech), botSaid });
  }
  for (const [index, voice] of VOICES.entries()) {
    for (const [number, marked] of SENTENCES.entries()) {
      const { speech, pauseAt } = await synthetic(marked, voice, 150 + 8 * index);
      const said = wordsOf(words.get(`${voice} ${number + 1}`), speech);
      sources.push({ kind: 'synthetic', speech, pauseAt, words: said, botSaid: '' });
    }
  }
  return sources;
}

/** The beginning spoken alone tells roughly where it ends within the whole; the quietest moment near there is the place. */
async function synthetic(
  marked: string,
  voice: string,
  wordsPerMinute: number,
): Promise<Pick<SpeechSource, 'speech' | 'pauseAt'>> {
  const [beginning = '', rest = ''] = marked.split('|');
  const whole = await speak(beginning + rest.trimStart(), voice, wordsPerMinute);
  const speech = voicedPart(atLevel(whole, SPEECH_DBFS));
  const alone = voicedPart(await speak(beginning, voice, wordsPerMinute));
  const share = alone.length / speech.length;
  return { speech, pauseAt: quietestMoment(speech, share - 0.08, share + 0.02) };
}

/** The lines of labelled-words.txt by the names of their sentences. */
function labelledWords(): ReadonlyMap<string, string> {
  const lines = readFileSync(projectPath('bench/labelled-words.txt'), 'utf8').split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [name, words] = line.split(' = ');
      return name === undefined || words === undefined ? [] : [[name, words] as const];
    }),
  );
}

function wordsOf(line: string | undefined, speech: Int16Array): SpeechSource['words'] {
  if (line === undefined) throw new Error('bench/labelled-words.txt lacks a sentence of the labelled set');
  return [...line.matchAll(/(\S+) (\d+)/g)].map(([, word = '', thousandths]) => ({
    word,
    endSample: Math.round((Number(thousandths) * speech.length) / 1_000),
  }));
}

function labelled(
  source: SpeechSource,
  pauseMs: number,
  noiseDbfs: number | null,
  seed: number,
): LabelledTurn {
  const { kind, speech, pauseAt, botSaid } = source;
  const words = source.words.map(({ word, endSample }) => ({
    word,
    endSample: LEAD_SAMPLES + endSample + (endSample > pauseAt ? pauseSamplesOf(pauseMs) : 0),
  }));
  const pauseSamples = pauseSamplesOf(pauseMs);
  const samples = new Int16Array(LEAD_SAMPLES + speech.length + pauseSamples + TAIL_SAMPLES);
  samples.set(speech.subarray(0, pauseAt), LEAD_SAMPLES);
  samples.set(speech.subarray(pauseAt), LEAD_SAMPLES + pauseAt + pauseSamples);
  if (noiseDbfs !== null) seededNoise(seed)(samples, noiseDbfs);
  const endSample = LEAD_SAMPLES + speech.length + pauseSamples;
  return { kind, samples, endSample, pauseMs, noiseDbfs, words, botSaid };
}

function pauseSamplesOf(pauseMs: number): number {
  return (pauseMs * LINE_RATE_HZ) / 1000;
}

/** The middle of the quietest 60 ms between two shares of a sentence: between two words, mostly. */
function quietestMoment(speech: Int16Array, fromShare: number, toShare: number): number {
  const width = 3 * FRAME_SAMPLES;
  const first = Math.max(0, Math.floor(speech.length * fromShare));
  let best = first;
  let bestDbfs = 0;
  for (let at = first; at + width < speech.length * toShare; at += FRAME_SAMPLES / 2) {
    const dbfs = levelDbfs(speech.subarray(at, at + width));
    if (dbfs < bestDbfs) [best, bestDbfs] = [at + (width >> 1), dbfs];
  }
  return best;
}

/** From the first to the last frame that is less than 25 dB below the loudest. */
function voicedPart(samples: Int16Array): Int16Array {
  const levels: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    levels.push(levelDbfs(samples.subarray(at, at + FRAME_SAMPLES)));
  }
  const floor = levels.reduce((most, level) => Math.max(most, level), -100) - 25;
  const from = levels.findIndex((level) => level >= floor);
  const to = levels.findLastIndex((level) => level >= floor) + 1;
  return samples.slice(from * FRAME_SAMPLES, to * FRAME_SAMPLES);
}

const BACKCHANNELS = ['yes', 'okay', 'right', 'mm hm', 'I see', 'haan', 'achha'];

/** Short signs of listening in several voices. */
export async function backchannels(): Promise<Int16Array[]> {
  const clips: Int16Array[] = [];
  for (const voice of VOICES) {
    for (const text of BACKCHANNELS)
      clips.push(voicedPart(atLevel(await speak(text, voice, 190), SPEECH_DBFS)));
  }
  return clips;
}

/**
 * So much noise as telephones carry it, without a voice: hiss that comes and goes, knocks, a fan's hum, swelling babble
 * without words, dialling tones. Seeded.
 */
export function noiseMinute(seed: number): Int16Array {
  const samples = new Int16Array(60 * LINE_RATE_HZ);
  seededNoise(seed)(samples, -58);
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  for (let at = LINE_RATE_HZ; at < samples.length - 3 * LINE_RATE_HZ; ) {
    const length = Math.floor((0.05 + 1.5 * random()) * LINE_RATE_HZ);
    addEvent(samples.subarray(at, at + length), Math.floor(random() * 5), -38 + 16 * random(), random);
    at += length + Math.floor(random() * 1.5 * LINE_RATE_HZ);
  }
  return samples;
}

function addEvent(part: Int16Array, kind: number, dbfs: number, random: () => number): void {
  const peak = 32_767 * 10 ** (dbfs / 20);
  const hz = 60 + 900 * random();
  const burst = new Int16Array(part.length);
  seededNoise(Math.floor(random() * 1e9))(burst, dbfs);
  for (let at = 0; at < part.length; at++) {
    const seconds = at / LINE_RATE_HZ;
    const hiss = burst[at] as number;
    const shapes = [
      hiss,
      // Knocks die away within 50 ms and come six times a second.
      hiss * Math.exp(-((seconds * 6) % 1) * 8),
      peak * Math.SQRT2 * Math.sin(2 * Math.PI * hz * 0.2 * seconds),
      hiss * (0.5 + 0.5 * Math.sin(2 * Math.PI * 4 * seconds)),
      peak * (Math.sin(2 * Math.PI * 770 * seconds) + Math.sin(2 * Math.PI * 1_336 * seconds)),
    ];
    const value = (part[at] as number) + (shapes[kind] as number);
    part[at] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
  }
}
