import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { projectPath } from '../../../../src/platform/project-paths.ts';
import { speakableOptions, toSpeakable } from '../../../../src/slot/speak/text/to-speakable.ts';

/** The tables beside this test, and how many rows each has at least. */
const TABLES: Array<[string, string, number]> = [
  ['en-IN', 'english-india', 460],
  ['en-US', 'english-united-states', 180],
  ['hi-IN', 'hindi', 290],
  ['mr-IN', 'marathi', 60],
  ['bn-IN', 'bengali', 60],
  ['ta-IN', 'tamil', 60],
  ['te-IN', 'telugu', 60],
  ['gu-IN', 'gujarati', 60],
  ['kn-IN', 'kannada', 60],
  ['ml-IN', 'malayalam', 60],
  ['pa-IN', 'punjabi', 60],
];

/** What is written, a tab, what is said. */
function tableRows(path: string): Array<[string, string]> {
  const lines = readFileSync(projectPath(path), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const [written = '', said = ''] = line.split('\t');
      return [written, said];
    });
}

for (const [language, table, least] of TABLES) {
  t.test(`RT-40 numbers, money, dates, telephones, signs and codes are said right: ${table}`, async (t) => {
    const rows = tableRows(`test/slot/speak/text/data/${table}.txt`);
    t.ok(rows.length >= least, `${rows.length} rows`);
    const options = speakableOptions(language);
    for (const [written, said] of rows) {
      const { spoken } = toSpeakable(written, options);
      t.equal(spoken, said, written);
      t.equal(toSpeakable(spoken, options).spoken, said, `${said} stays as it is`);
    }
  });
}

const SIZES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1e3,
  lakh: 1e5,
  million: 1e6,
  crore: 1e7,
  billion: 1e9,
  trillion: 1e12,
  सौ: 100,
  हज़ार: 1e3,
  लाख: 1e5,
  करोड़: 1e7,
  अरब: 1e9,
  खरब: 1e11,
};

/** Words back to a number, by the sizes alone: an independent reading of what was said. */
function count(said: string, small: ReadonlyMap<string, number>): number {
  const words = said.split(' ');
  const largest = words.reduce(
    (best, word, at) => ((SIZES[word] ?? 0) >= (SIZES[words[best] ?? ''] ?? 0) && SIZES[word] ? at : best),
    0,
  );
  const size = SIZES[words[largest] ?? ''];
  if (!size) return words.reduce((sum, word) => sum + (small.get(word) ?? Number.NaN), 0);
  const head = words.slice(0, largest).join(' ');
  const tail = words.slice(largest + 1).join(' ');
  return (head === '' ? 1 : count(head, small)) * size + (tail === '' ? 0 : count(tail, small));
}

t.test('RT-40 every whole number is said so that it can be counted back', async () => {
  for (const [language, suffix] of [
    ['en-IN', ''],
    ['en-US', ''],
    ['hi-IN', ' है'],
  ] as const) {
    const options = speakableOptions(language);
    const say = (value: number) =>
      toSpeakable(`${value}${suffix}`, options).spoken.slice(0, -suffix.length || undefined);
    const small = new Map<string, number>();
    for (let value = 0; value < 100; value++) small.set(say(value), value);
    fc.assert(
      // Ten digits and more are telephone numbers.
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (value) => count(say(value), small) === value),
      { seed: 11, numRuns: 1_000 },
    );
  }
});

t.test('RT-40 the script of the clause decides in which language a mixed bot says numbers', async (t) => {
  const hindi = speakableOptions('hi-IN');
  t.equal(toSpeakable('Aap ka bill 500 hai', hindi).spoken, 'Aap ka bill five hundred hai');
  t.equal(toSpeakable('आपका bill 500 है', hindi).spoken, 'आपका bill पाँच सौ है');
  const english = speakableOptions('en');
  t.equal(toSpeakable('आपका बिल 500 है', english).spoken, 'आपका बिल पाँच सौ है');
  t.equal(toSpeakable('உங்கள் ₹500', english).spoken, 'உங்கள் 500 ரூபாய்');
});

t.test('a language without rules keeps its numbers and signs for its voice', async (t) => {
  const french = speakableOptions('fr-FR');
  t.equal(
    toSpeakable('Vous devez **1 500,50 €** le 20/11/2026.', french).spoken,
    'Vous devez 1 500,50 € le 20/11/2026.',
  );
  t.equal(toSpeakable('', speakableOptions('')).spoken, '');
});
