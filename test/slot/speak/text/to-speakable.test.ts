import fc from 'fast-check';
import t from 'tap';
import { heardOriginalChars } from '../../../../src/slot/speak/heard-part.ts';
import { speakableOptions, toSpeakable } from '../../../../src/slot/speak/text/to-speakable.ts';

const LANGUAGES = [
  'en-IN',
  'en-US',
  'hi-IN',
  'mr-IN',
  'bn-IN',
  'ta-IN',
  'te-IN',
  'gu-IN',
  'kn-IN',
  'ml-IN',
  'pa-IN',
  'fr',
  '',
];

/** Pieces that rules look for, put together at random. */
const PIECE = fc.oneof(
  fc.constantFrom(
    ...[
      '₹',
      'Rs.',
      '$',
      '/-',
      '%',
      '-',
      '–',
      '+',
      '#',
      '*',
      '**',
      '_',
      '`',
      '```',
      '~~',
      '~',
      '|',
      '<',
      '>',
      '&',
    ],
    ...[
      '{',
      '}',
      '"',
      "'",
      '\\',
      '[',
      ']',
      '(',
      ')',
      '](',
      'http://',
      'www.',
      'a.com',
      '@',
      '.',
      ',',
      ':',
      ';',
    ],
    ...[
      '\n',
      '\n- ',
      '1. ',
      'XX',
      'lakh',
      'Cr.',
      'k',
      'PM',
      'a.m.',
      'EMI',
      'No.',
      'Nov',
      '2026',
      'Dr.',
      'km/h',
    ],
    ...['<b>', '<tool_call>', '</tool_call>', '&amp;', '&lt;', '😀', '\u200d', '\u200c', '\ufe0f', '\u0000'],
    ...[
      '\ud800',
      '\udc00',
      '\ue000',
      '॥',
      '।',
      'है',
      'लाख',
      'बजे',
      '१२',
      '৩',
      '௪',
      'வணக்கம்',
      'e\u0301',
      '\u0130',
      '×',
      '=',
    ],
    ...[
      '≥',
      '≤',
      '±',
      '½',
      '²',
      '24x7',
      '*123#',
      '1990s',
      '0630 hrs',
      '/km',
      'a@upi',
      'March',
      'to',
      '911',
      '5M',
    ],
  ),
  fc.integer({ min: 0, max: 99_999_999_999 }).map(String),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value.toFixed(2)),
  fc.stringMatching(/^[A-Za-z]{1,6}$/),
);
const TEXT = fc
  .array(fc.tuple(PIECE, fc.constantFrom('', ' ')), { maxLength: 25 })
  .map((pieces) => pieces.map(([piece, gap]) => piece + gap).join(''));

for (const language of LANGUAGES) {
  t.test(
    `RT-39 RT-40 any text can be said and, once sayable, stays as it is: ${language || 'no language'}`,
    async () => {
      const options = speakableOptions(language);
      fc.assert(
        fc.property(fc.oneof(TEXT, fc.string({ unit: 'binary' })), (text) => {
          const { spoken } = toSpeakable(text, options);
          const again = toSpeakable(spoken, options).spoken;
          if (again !== spoken) throw new Error(`${JSON.stringify(spoken)} became ${JSON.stringify(again)}`);
          return (
            spoken.isWellFormed() &&
            !/[<>{}[\]\\^`*_|&\n]|\p{Co}|\p{Extended_Pictographic}(?<![0-9#*])/u.test(spoken)
          );
        }),
        { seed: 23, numRuns: 1_000 },
      );
    },
  );
}

t.test('RT-40 English and Hindi leave no digit unsaid', async () => {
  for (const language of ['en-IN', 'en-US', 'hi-IN']) {
    const options = speakableOptions(language);
    const text = TEXT.filter((candidate) => !/[\u0250-\uffff]/.test(candidate));
    fc.assert(
      fc.property(text, (written) => !/\d/.test(toSpeakable(written, options).spoken)),
      { seed: 29, numRuns: 1_000 },
    );
  }
});

/** Each would hang a rule that tries every way to read a text. */
const HOSTILE = [
  '1',
  '1,',
  '1.',
  '1-',
  '1 ',
  '11 ',
  '1/',
  '1:',
  'A1',
  'A-',
  'AA',
  'X',
  'XX-',
  'a.',
  'a-',
  'a_',
  'a_b(',
  '(',
  '[',
  '](',
  '[a](',
  '<',
  '<a',
  '<tool_call ',
  '</',
  '{',
  '"{',
  '`',
  '``` ',
  '*',
  '* ',
  '_',
  '|',
  '|-',
  '-',
  '- ',
  '#',
  '> ',
  ' ',
  '\n',
  ' \n',
  '\t',
  'http://',
  'www.a',
  'a@',
  'a@a.',
  '₹',
  '₹1-',
  '₹ ',
  'Rs',
  'Rs.',
  'No.',
  '&',
  '&amp;',
  '&lt',
  '+',
  '+9',
  '0',
  '9876543210 ',
  'Nov ',
  '5 Nov ',
  '5:',
  '5:30',
  '12/12/',
  'a.m.',
  '१',
  'ह',
  'हि',
  '😀',
  '👨‍👩',
  '\u200d',
  '\ud800',
  '<|',
  '<|a|>',
  '【',
  '1,00,',
  'otp ',
];

t.test('RT-39 RT-40 no text of a hundred kilobytes takes long, whatever it repeats', async (t) => {
  for (const language of ['en-IN', 'hi-IN']) {
    const options = speakableOptions(language, [{ word: 'a', spoken: 'b' }]);
    for (const unit of HOSTILE) {
      const text = unit.repeat(Math.ceil(100_000 / unit.length));
      const startedAt = performance.now();
      toSpeakable(text, options);
      const tookMs = performance.now() - startedAt;
      t.ok(tookMs < 20_000, `${language} ${JSON.stringify(unit)} took ${Math.round(tookMs)} ms`);
    }
  }
});

t.test('RT-17 what was heard of the speech is told in the words that were written', async (t) => {
  const options = speakableOptions('en-IN');
  const text = 'Your due of ₹1,50,000 is payable on 20/11/2026, please.';
  const { spoken } = toSpeakable(text, options);
  const heard = (part: string) => text.slice(0, heardOriginalChars(text, spoken, spoken.indexOf(part)));
  t.equal(heard('of one lakh'), 'Your due ');
  t.equal(heard('is payable').trim(), 'Your due of ₹1,50,000');
  t.equal(heard('please').trim(), 'Your due of ₹1,50,000 is payable on 20/11/2026,');
  const inside = heard('thousand');
  t.ok(inside.startsWith('Your due of ₹') && inside.length < 'Your due of ₹1,50,000 '.length, inside);
  t.equal(heardOriginalChars(text, spoken, 0), 0);
  t.equal(heardOriginalChars(text, spoken, spoken.length), text.length);
  t.equal(heardOriginalChars('same text', 'same text', 4), 4);
});

t.test('RT-17 more heard is never less written, for any text', async () => {
  const options = speakableOptions('hi-IN', [{ word: 'emi', spoken: 'किस्त' }]);
  fc.assert(
    fc.property(TEXT, (text) => {
      const { spoken } = toSpeakable(text, options);
      let last = 0;
      for (let heard = 0; heard <= spoken.length; heard++) {
        const chars = heardOriginalChars(text, spoken, heard);
        if (chars < last || chars > text.length) return false;
        last = chars;
      }
      return true;
    }),
    { seed: 31, numRuns: 300 },
  );
});
