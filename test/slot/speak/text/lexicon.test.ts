import t from 'tap';
import {
  SpeakableReply,
  speakableOptions,
  toSpeakable,
} from '../../../../src/slot/speak/text/to-speakable.ts';

const say = (text: string, entries: Array<[string, string]>, language = 'en-IN') =>
  toSpeakable(
    text,
    speakableOptions(
      language,
      entries.map(([word, spoken]) => ({ word, spoken })),
    ),
  ).spoken;

t.test('RT-41 words are said as the bot wants them: whole words only, the longest first', async (t) => {
  const entries: Array<[string, string]> = [
    ['meera', 'Mee rah'],
    ['meera bank', 'Mee rah Bank'],
    ['nagar', 'nuh gar'],
  ];
  t.equal(say('Meera is here.', entries), 'Mee rah is here.');
  t.equal(say('MEERA BANK calls.', entries), 'Mee rah Bank calls.');
  t.equal(say('Meerabai of Nagarpur', entries), 'Meerabai of Nagarpur');
  t.equal(say("Meera's nagar, nagar.", entries), "Mee rah's nuh gar, nuh gar.");
  t.equal(say('meera  bank', entries), 'Mee rah Bank');
});

t.test('RT-41 an entry with capitals fits only as it is written', async (t) => {
  const entries: Array<[string, string]> = [
    ['US', 'United States'],
    ['Polish', 'Poe lish'],
    ['polish', 'pol ish'],
  ];
  t.equal(say('Tell us of the US.', entries), 'Tell us of the United States.');
  t.equal(say('Polish the table, polish it.', entries), 'Poe lish the table, pol ish it.');
});

t.test(
  'RT-41 pronunciations come after the numbers, and before the rules for words they would spoil',
  async (t) => {
    t.equal(say('₹2 lakh', [['lakh', 'laakh']]), 'two laakh rupees');
    t.equal(say('Your EMI of ₹500', [['EMI', 'ee em eye']]), 'Your ee em eye of five hundred rupees');
    t.equal(
      say('Open 24/7 at 24 Main Road', [['24/7', 'day and night']]),
      'Open day and night at twenty four Main Road',
    );
    t.equal(
      say('Under Section 138A.', [['Section 138A', 'Section one three eight A']]),
      'Under Section one three eight A.',
    );
    t.equal(say('Dr. Rao', [['Dr.', 'Daaktar']]), 'Daaktar Rao');
  },
);

t.test('RT-41 Indian scripts match whole words with their vowel signs', async (t) => {
  const entries: Array<[string, string]> = [['राम', 'राऽम']];
  t.equal(say('राम और रामा और राम।', entries, 'hi-IN'), 'राऽम और रामा और राऽम।');
});

t.test('RT-39 RT-41 what a pronunciation says cannot carry markup to the voice', async (t) => {
  t.equal(say('Hello Axis', [['axis', '<break time="9s"/>Ax & is']]), 'Hello Ax and is');
});

t.test('RT-41 a pronunciation is not pronounced again, and words used are counted', async (t) => {
  const entries: Array<[string, string]> = [
    ['a', 'b'],
    ['b', 'a a'],
  ];
  t.equal(say('a b', entries), 'b a a');
  const options = speakableOptions('en', [{ word: 'asha', spoken: 'Aa shaa' }]);
  t.equal(new SpeakableReply(options).clause('Asha, asha and Ashok.').counts.pronounced, 2);
});

t.test('RT-41 entries beyond the bound, empty ones and endless words do nothing', async (t) => {
  const many = Array.from({ length: 600 }, (_, i): [string, string] => [
    `wrd${'x'.repeat(i % 90)}q${i}z`,
    'said',
  ]);
  many.unshift(['', 'nothing'], [' ', 'nothing'], ['y'.repeat(101), 'nothing']);
  t.equal(say(`a ${'y'.repeat(101)} b`, many), `a ${'y'.repeat(101)} b`);
  t.equal(say('one two', many), 'one two');
});

t.test('RT-41 five hundred entries and a long text take little time', async (t) => {
  const entries = Array.from({ length: 500 }, (_, i) => ({ word: `${'a '.repeat(40)}w${i}`, spoken: 'x' }));
  const options = speakableOptions('en-IN', entries);
  const startedAt = performance.now();
  toSpeakable('a '.repeat(50_000), options);
  t.ok(performance.now() - startedAt < 20_000, 'no blow-up');
});
