import fc from 'fast-check';
import t from 'tap';
import { ClauseSplitter } from '../../src/slot/speak/clause-splitter.ts';

function split(text: string, sizes: number[]): string[] {
  const splitter = new ClauseSplitter();
  const clauses: string[] = [];
  let at = 0;
  for (let i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    clauses.push(...splitter.push(text.slice(at, at + size)));
    at += size;
  }
  return [...clauses, ...splitter.flush()];
}

t.test('sentences become clauses, numbers stay whole', async (t) => {
  t.same(split('Your balance is 3.5 rupees. Shall I go on?', [1]), [
    'Your balance is 3.5 rupees.',
    'Shall I go on?',
  ]);
  t.same(split('नमस्ते। आप कैसे हैं?', [3]), ['नमस्ते।', 'आप कैसे हैं?']);
});

t.test('the first clause ends at an early comma, because the caller waits for it', async (t) => {
  t.same(split('Certainly, madam, here is, as you wished, the list.', [5]), [
    'Certainly, madam,',
    'here is, as you wished, the list.',
  ]);
});

t.test('no clause is endless, no word is lost, however the text was streamed', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,20}[.,!?]?$/), { maxLength: 80 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
      (words, sizes) => {
        const text = words.join(' ');
        const clauses = split(text, sizes);
        return clauses.join(' ') === text && clauses.every((clause) => clause.length <= 241);
      },
    ),
    { seed: 3, numRuns: 300 },
  );
});
