import fc from 'fast-check';
import t from 'tap';
import { firstNameOf, transliterateName } from '../../../src/control/runtime-config/transliterate-name.ts';

const SEED = 84;

t.test('whole names with titles, initials and joined words come out readable', async (t) => {
  const expected: readonly (readonly [string, string])[] = [
    ['Rajesh Kumar', 'राजेश कुमार'],
    ['sunita sharma', 'सुनीता शर्मा'],
    ['PRIYA SINGH', 'प्रिया सिंह'],
    ['Mr. Amit Gupta', 'श्री अमित गुप्ता'],
    ['Mrs Kavita Joshi', 'श्रीमती कविता जोशी'],
    ['Shri Ramesh Patil', 'श्री रमेश पाटिल'],
    ['Dr. S. Ramesh Rao', 'डॉ. एस. रमेश राव'],
    ['R.K. Verma', 'आर.के. वर्मा'],
    ['RK Verma', 'आरके वर्मा'],
    ['Md. Imran Khan', 'मोहम्मद इमरान खान'],
    ['MS Rao', 'एमएस राव'],
    ['Ms Asha', 'सुश्री आशा'],
    ['Shiva Saurav', 'शिवा सौरव'],
    ['Asha-Devi', 'आशा-देवी'],
    ["D'Souza", 'डिसूजा'],
    ['Ramesh S/o Suresh', 'रमेश पुत्र सुरेश'],
    ['Harpreet Kaur', 'हरप्रीत कौर'],
  ];
  for (const [latin, devanagari] of expected) {
    t.equal(transliterateName(latin), devanagari.normalize('NFC'), latin);
  }
});

t.test('an unknown name and an unknown spelling get a spelling too', async (t) => {
  t.equal(transliterateName('Raajesh Kummar'), 'राजेश कुमार');
  t.equal(transliterateName('Rameshlal'), 'रमेशलाल');
  t.match(transliterateName('Zbignew'), /^\p{Script=Devanagari}+$/u);
});

t.test('Devanagari, figures and other scripts pass through to the letter', async (t) => {
  for (const text of ['राजेश कुमार', 'सुनीता', '', '  ', '12/4', 'রাজেশ', '李', '🙂', 'क्\u200dष']) {
    t.equal(transliterateName(text), text);
  }
  t.equal(transliterateName('राजेश Kumar 2'), 'राजेश कुमार 2');
});

t.test('the first name leaves titles and initials out', async (t) => {
  t.equal(firstNameOf('Dr. S. Ramesh Rao'), 'Ramesh');
  t.equal(firstNameOf('Mrs Sunita Devi'), 'Sunita');
  t.equal(firstNameOf('  Asha  '), 'Asha');
  t.equal(firstNameOf('Md Imran'), 'Md');
  t.equal(firstNameOf('R.K.'), 'R.K.');
  t.equal(firstNameOf('श्री राजेश कुमार'), 'राजेश');
  t.equal(firstNameOf(''), '');
});

t.test('no text throws, and no Latin letter stays in a name of Latin letters', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      transliterateName(text);
      firstNameOf(text);
    }),
    { seed: SEED, numRuns: 500 },
  );
  const letter = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .-'");
  fc.assert(
    fc.property(fc.string({ unit: letter, maxLength: 40 }), (text) => {
      const written = transliterateName(text);
      if (/\p{Script=Latin}/u.test(written)) throw new Error(`${text} gives ${written}`);
      if (/[a-z]/i.test(text) && !/\p{Script=Devanagari}/u.test(written)) throw new Error(`${text} is gone`);
    }),
    { seed: SEED, numRuns: 500 },
  );
});

t.test('what is written is a word that Devanagari allows', async () => {
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');
  fc.assert(
    fc.property(fc.string({ unit: letter, minLength: 2, maxLength: 15 }), (text) => {
      const written = transliterateName(text);
      // A vowel sign needs a consonant before it, and so does the virama; no word ends in a virama.
      if (/(^|[^क-ह\u093c])[ा-ौ्]|्$/u.test(written)) throw new Error(`${text} gives ${written}`);
    }),
    { seed: SEED, numRuns: 500 },
  );
});

t.test('the longest text takes bounded work: what is beyond 64 characters is dropped', async (t) => {
  const long = 'Bcdfghjklmnpqrstvwxz'.repeat(50_000);
  t.equal(transliterateName(long), transliterateName(long.slice(0, 64)));
  t.equal(transliterateName('क'.repeat(1_000)).length, 64);
  t.ok(firstNameOf(long).length <= 64);
});
