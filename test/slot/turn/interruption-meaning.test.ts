import fc from 'fast-check';
import t from 'tap';
import { interruptionJudge, wordCount } from '../../../src/slot/turn/interruption-meaning.ts';
import type { InterruptionMeaning } from '../../../src/slot/turn/turn-types.ts';

const CASES: [language: string, minWords: number, text: string, meaning: InterruptionMeaning][] = [
  ['en', 2, '', 'nothing'],
  ['en', 2, ' ... ', 'nothing'],
  ['en', 2, 'Mm-hm.', 'backchannel'],
  ['en', 2, 'Yeah, okay.', 'backchannel'],
  ['en', 2, 'stop', 'interruption'],
  ['en', 3, 'Wait!', 'interruption'],
  ['en', 3, 'no no', 'interruption'],
  ['en', 2, 'tomorrow', 'too_few_words'],
  ['en', 2, 'not tomorrow', 'interruption'],
  ['en', 0, 'tomorrow', 'interruption'],
  ['en', 0, 'yes', 'backchannel'],
  ['hi-IN', 2, 'हाँ जी', 'backchannel'],
  ['hi-IN', 2, 'ठीक है।', 'backchannel'],
  ['hi-IN', 2, 'haan', 'backchannel'],
  ['hi-IN', 3, 'रुको', 'interruption'],
  ['hi-IN', 3, 'ruko ruko', 'interruption'],
  ['hi-IN', 2, 'मेरा नाम', 'interruption'],
  ['hi-IN', 2, 'कल', 'too_few_words'],
  ['hi-IN', 2, 'kal payment', 'interruption'],
  ['mr-IN', 2, 'ठीक आहे', 'backchannel'],
  ['mr-IN', 2, 'थांबा', 'interruption'],
  ['bn-IN', 2, 'হ্যাঁ', 'backchannel'],
  ['bn-IN', 2, 'আমি জানি', 'interruption'],
  ['ta-IN', 2, 'சரி', 'backchannel'],
];

t.test(
  'RT-12 RT-13 words over the bot mean what a listener of the language would take them for',
  async (t) => {
    for (const [language, minWords, text, meaning] of CASES) {
      t.equal(interruptionJudge({ language, minWords })(text), meaning, `${language} ${minWords} "${text}"`);
    }
  },
);

t.test('RT-13 a bot may have lists of its own', async (t) => {
  const judge = interruptionJudge({
    language: 'en',
    minWords: 1,
    backchannels: ['roger'],
    stops: ['red light'],
  });
  t.equal(judge('Roger.'), 'backchannel');
  t.equal(judge('yes'), 'interruption');
  t.equal(judge('a red light there'), 'interruption');
});

t.test('RT-12 words are counted in every script, and marks do not split them', async (t) => {
  t.equal(wordCount('किसान क्रेडिट कार्ड'), 3);
  t.equal(wordCount('আমার নাম রাজেশ'), 3);
  t.equal(wordCount('मेरा EMI 5000 है'), 4);
  t.equal(wordCount("I'm here"), 2);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      interruptionJudge({ language: 'hi', minWords: 2 })(text);
      return wordCount(text) <= text.length;
    }),
    { seed: 7, numRuns: 500 },
  );
});
