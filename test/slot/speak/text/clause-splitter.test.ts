import fc from 'fast-check';
import t from 'tap';
import { ClauseSplitter } from '../../../../src/slot/speak/text/clause-splitter.ts';

/** All at one moment, so that only the text decides. */
function split(text: string, sizes: number[]): string[] {
  const splitter = new ClauseSplitter();
  const clauses: string[] = [];
  let at = 0;
  for (let i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    clauses.push(...splitter.push(text.slice(at, at + size), 0));
    at += size;
  }
  return [...clauses, ...splitter.flush()];
}

const SENTENCES: Array<[string, string[]]> = [
  ['Your balance is 3.5 rupees. Shall I go on?', ['Your balance is 3.5 rupees.', 'Shall I go on?']],
  ['नमस्ते। आप कैसे हैं?', ['नमस्ते।', 'आप कैसे हैं?']],
  ['नमस्ते।आप कैसे हैं?', ['नमस्ते।', 'आप कैसे हैं?']],
  ['ধন্যবাদ। আপনি কেমন আছেন?', ['ধন্যবাদ।', 'আপনি কেমন আছেন?']],
  ['उसने कहा "हाँ।" फिर गया।', ['उसने कहा "हाँ।"', 'फिर गया।']],
  ['I am Dr. Rao of A. K. Clinic. Hello.', ['I am Dr. Rao of A. K. Clinic.', 'Hello.']],
  ['Please pay Rs. 500 today. Thanks.', ['Please pay Rs. 500 today.', 'Thanks.']],
  ['It is at No. 5 there. No. It is not.', ['It is at No. 5 there.', 'No.', 'It is not.']],
  ['Bring papers etc. to the bank.', ['Bring papers etc. to the bank.']],
  ['Bring papers etc. Then wait.', ['Bring papers etc.', 'Then wait.']],
  ['Come at 5 p.m. tomorrow. Bye.', ['Come at 5 p.m. tomorrow.', 'Bye.']],
  ['Come at 3 p.m. IST tomorrow. Bye.', ['Come at 3 p.m. IST tomorrow.', 'Bye.']],
  ['We close at 5 p.m. ISRO is next.', ['We close at 5 p.m.', 'ISRO is next.']],
  ['Come at 3 p.m. IST', ['Come at 3 p.m. IST']],
  ['It costs 500. Shall I go on?', ['It costs 500.', 'Shall I go on?']],
  ['1. Pay now. 2. Call us.', ['1. Pay now.', '2. Call us.']],
  ['See example.co.in/pay for it. Bye.', ['See example.co.in/pay for it.', 'Bye.']],
  ['Really?! Yes... I think so.', ['Really?!', 'Yes...', 'I think so.']],
  ['First line\nSecond line', ['First line', 'Second line']],
  ['请稍等。好的。', ['请稍等。', '好的。']],
];

t.test('RT-38 sentences become clauses; dandas count, decimals and abbreviations do not', async (t) => {
  for (const [text, clauses] of SENTENCES) {
    for (const sizes of [[1], [3], [200], [2, 7]]) t.same(split(text, sizes), clauses, `${text} by ${sizes}`);
  }
});

t.test(
  'RT-38 the first clause ends at a comma from three words on, later ones when they are long enough',
  async (t) => {
    t.same(split('Well, madam, here is, as you wished, the whole of the list, and more.', [5]), [
      'Well, madam, here is,',
      'as you wished, the whole of the list, and more.',
    ]);
  },
);

t.test('RT-38 text that never has punctuation still becomes clauses of whole words', async (t) => {
  const text = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
  const clauses = split(text, [7]);
  t.equal(clauses.join(' '), text);
  t.ok((clauses[0]?.length ?? 0) <= 90, 'the first one is short');
  t.ok(clauses.every((clause) => clause.length <= 240));
});

t.test('a wall of letters without a space is cut between characters, not inside of one', async (t) => {
  for (const letters of ['क्षि'.repeat(200), '😀'.repeat(300)]) {
    const clauses = split(letters, [11]);
    t.equal(clauses.join(''), letters);
    t.ok(clauses.length > 1);
    t.ok(clauses.every((clause) => clause.isWellFormed() && !/^\p{M}/u.test(clause)));
  }
});

t.test('RT-38 a first clause without its comma goes after 250 ms, cut before a connective', async (t) => {
  const splitter = new ClauseSplitter();
  t.equal(splitter.dueAtMs(), null, 'nothing waits');
  t.same(splitter.push('I have looked into your account and ', 1_000), []);
  t.equal(splitter.dueAtMs(), 1_250);
  t.same(splitter.flushDue(1_249), []);
  t.same(splitter.push('the bill', 1_240), []);
  t.same(splitter.flushDue(1_250), ['I have looked into your account']);
  t.same(splitter.push(' was paid. ', 1_300), ['and the bill was paid.']);
  t.same(splitter.flush(), []);
});

t.test('a first clause of fewer than three words waits for more, or for the stall', async (t) => {
  const splitter = new ClauseSplitter();
  splitter.push('Please pause ', 0);
  t.same(splitter.flushDue(260), []);
  t.same(splitter.flushDue(350), ['Please pause']);
});

t.test(
  'RT-38 a model that stalls for 350 ms has its whole words spoken, and no amount is torn apart',
  async (t) => {
    const splitter = new ClauseSplitter();
    t.same(splitter.push('Good. ', 0), ['Good.']);
    splitter.push('You owe us Rs. 45', 10);
    t.equal(splitter.dueAtMs(), 360);
    t.same(splitter.flushDue(359), []);
    t.same(splitter.flushDue(360), ['You owe us'], 'the amount may still grow');
    t.same(splitter.flushDue(5_000), [], 'and waits however long it takes');
    t.same(splitter.push('0 today. ', 5_010), ['Rs. 450 today.']);
    splitter.push('One moment please.', 6_000);
    t.same(splitter.flushDue(6_350), ['One moment please.'], 'a finished sentence goes whole');
    t.equal(splitter.dueAtMs(), null);
  },
);

t.test('a stall that cannot be helped is asked about again later, not at once', async (t) => {
  const splitter = new ClauseSplitter();
  splitter.push('4', 0);
  t.same(splitter.flushDue(350), []);
  t.equal(splitter.dueAtMs(), 700);
  t.same(splitter.flush(), ['4']);
});

const PIECES = fc.oneof(
  fc.stringMatching(/^[a-z]{1,20}[.,!?]?$/),
  fc.constantFrom(
    'Rs.',
    '500',
    '3.5',
    'No.',
    'etc.',
    'नमस्ते।',
    'है,',
    'a.m.',
    '"yes."',
    '1.',
    '😀',
    '...',
    '\n',
  ),
);
const SIZES = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });

t.test('RT-38 no clause is endless, no word is lost, and the cut of the stream changes nothing', async () => {
  const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');
  fc.assert(
    fc.property(fc.array(PIECES, { maxLength: 80 }), SIZES, (pieces, sizes) => {
      const text = pieces.join(' ');
      const clauses = split(text, sizes);
      return (
        words(clauses.join(' ')) === words(text) &&
        clauses.every((clause) => clause.length <= 241) &&
        JSON.stringify(clauses) === JSON.stringify(split(text, [text.length + 1]))
      );
    }),
    { seed: 3, numRuns: 500 },
  );
});

t.test('no word is lost whatever the clock does', async () => {
  const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');
  fc.assert(
    fc.property(fc.array(fc.tuple(PIECES, fc.integer({ min: 0, max: 600 })), { maxLength: 40 }), (timed) => {
      const splitter = new ClauseSplitter();
      const clauses: string[] = [];
      let nowMs = 0;
      for (const [piece, waitMs] of timed) {
        clauses.push(...splitter.push(`${piece} `, nowMs));
        nowMs += waitMs;
        clauses.push(...splitter.flushDue(nowMs));
      }
      clauses.push(...splitter.flush());
      return words(clauses.join(' ')) === words(timed.map(([piece]) => piece).join(' '));
    }),
    { seed: 5, numRuns: 500 },
  );
});
