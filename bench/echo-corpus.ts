import { loadCallerAudio } from '../src/cli/caller-audio.ts';
import { atLevel, speak } from '../src/cli/scenario/caller-sounds.ts';
import { levelDbfs } from '../src/cli/voice-tracker.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../src/contracts/limits.ts';
import { findEngineData } from '../src/platform/engine-programs.ts';
import { HUMAN_RECORDINGS } from './conversation-corpus.ts';

/** Something that is said on the line, and its words. */
export interface SaidClip {
  text: string;
  samples: Int16Array;
}

const BOT_DBFS = -20;
const DATA = '/usr/share/pocketsphinx/test/data';

/** What bots ask, in two languages and several voices; some of it can be answered with a word of its own. */
const QUESTIONS: readonly [voice: string, wordsPerMinute: number, text: string][] = [
  ['en', 160, 'Your order has been shipped. Would you like to change the address?'],
  [
    'en+f3',
    175,
    'Good morning, I am calling from your bank about the payment of the fifth. Did you pay it, yes or no?',
  ],
  ['en-gb-scotland+m3', 150, 'I can offer you a table at seven or at nine. Which one do you prefer?'],
  ['en-us+f2', 165, 'Thank you. Is there anything else that I can do for you today?'],
  ['en-gb-x-rp+m7', 155, 'Am I speaking to the owner of the account?'],
  ['hi', 150, 'नमस्ते, मैं आपके बैंक से बोल रही हूँ। क्या आप पाँच तारीख को भुगतान कर सकते हैं?'],
  ['hi+f3', 160, 'आपका ऑर्डर कल पहुँच जाएगा। क्या यह समय ठीक है?'],
  ['hi+m4', 145, 'क्या आपने किस्त जमा कर दी है, हाँ या नहीं?'],
];

/** Answers of one word, or of two that are said as one. */
const ANSWERS: readonly [language: 'en' | 'hi', texts: readonly string[]][] = [
  ['en', ['no', 'yes', 'yeah', 'nope', 'okay', 'sure', 'correct', 'never', 'tomorrow', 'today', 'Monday']],
  ['en', ['one', 'two', 'five', 'seven', 'nine', 'ten', 'fifteen', 'hundred']],
  ['hi', ['हाँ', 'नहीं', 'जी', 'हाँ जी', 'ठीक है', 'कल', 'आज', 'बिल्कुल', 'अभी', 'पता नहीं']],
  ['hi', ['एक', 'दो', 'पाँच', 'सात', 'दस', 'हज़ार']],
];
const ANSWER_VOICES = {
  en: ['en-gb', 'en-us+f2', 'en-gb-scotland+m3', 'en-us+f4', 'en-gb-x-rp+m7', 'hi+f3'],
  hi: ['hi', 'hi+f3', 'hi+m4', 'hi+f2'],
};
const ANSWER_RATES = [140, 170, 200];

/** A piece of a recording counts as one word where it is so long, between pauses of this length. */
const WORD_MS = { min: 240, max: 640 };
const PAUSE_MS = 60;
const BELOW_LOUDEST_DB = 24;

/** The bot's lines, each at the level of a bot. */
export async function botLines(): Promise<SaidClip[]> {
  return Promise.all(
    QUESTIONS.map(async ([voice, wordsPerMinute, text]) => ({
      text,
      samples: atLevel(await speak(text, voice, wordsPerMinute), BOT_DBFS),
    })),
  );
}

/** Answers by voices and by people; a recorded word whose name nobody wrote down is called by a number. */
export async function shortAnswers(): Promise<{ synthetic: SaidClip[]; recorded: SaidClip[] }> {
  const synthetic: SaidClip[] = [];
  for (const [language, texts] of ANSWERS) {
    for (const text of texts) {
      for (const [index, voice] of ANSWER_VOICES[language].entries()) {
        const rate = ANSWER_RATES[index % ANSWER_RATES.length] as number;
        synthetic.push({ text, samples: await speak(text, voice, rate) });
      }
    }
  }
  return { synthetic, recorded: await recordedWords() };
}

/** Sentences of callers who break in. */
export async function bargeIns(): Promise<SaidClip[]> {
  const texts = ['wait, I have a question about that', 'no, I do not want it any more', 'मुझे कुछ और पूछना है'];
  const voices = ['en-gb', 'en-us+f4', 'hi+f3'];
  return Promise.all(
    texts.map(async (text, index) => ({ text, samples: await speak(text, voices[index] as string, 170) })),
  );
}

async function recordedWords(): Promise<SaidClip[]> {
  const words: SaidClip[] = [];
  for (const name of HUMAN_RECORDINGS) {
    const path = findEngineData(`${DATA}/${name}`);
    if (!path) throw new Error(`${name} is missing; install the Debian package pocketsphinx-testdata`);
    for (const samples of cutAtGaps(await loadCallerAudio(path))) {
      words.push({ text: `recorded${words.length + 1}`, samples });
    }
  }
  return words;
}

/** Stretches of speech between pauses that are as long as a word. */
function cutAtGaps(samples: Int16Array): Int16Array[] {
  const levels: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    levels.push(levelDbfs(samples.subarray(at, at + FRAME_SAMPLES)));
  }
  const floor = Math.max(...levels) - BELOW_LOUDEST_DB;
  const pieces: Int16Array[] = [];
  let from = -1;
  let last = -1;
  const keep = () => {
    const ms = (last + 1 - from) * FRAME_MS;
    if (from >= 0 && ms >= WORD_MS.min && ms <= WORD_MS.max) {
      pieces.push(samples.slice(from * FRAME_SAMPLES, (last + 1) * FRAME_SAMPLES));
    }
  };
  for (const [frame, level] of levels.entries()) {
    if (level < floor) continue;
    if (from >= 0 && (frame - last - 1) * FRAME_MS >= PAUSE_MS) {
      keep();
      from = frame;
    }
    if (from < 0) from = frame;
    last = frame;
  }
  keep();
  return pieces;
}
