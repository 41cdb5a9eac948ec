import t from 'tap';
import { ANSWER_PHRASES, phraseFinder } from '../../../src/slot/amd/voicemail-phrases.ts';

t.test('RT-27 every phrase of every language is found in a sentence, and says the same of it', async (t) => {
  const counts = new Map<string, number>();
  for (const [section, phrases] of ANSWER_PHRASES) {
    const [language = '', kind] = section.split(' ');
    const find = phraseFinder(`${language}-IN`);
    for (const phrase of phrases) {
      const said = `xyz, ${phrase.replace(' * ', ' qq rr ')}! abc`;
      const found = find(said).some((one) => one.kind === kind && one.phrase === phrase);
      if (!found) t.fail(`${section}: ${phrase}`);
    }
    counts.set(language, (counts.get(language) ?? 0) + phrases.length);
  }
  t.equal(counts.size, 8);
  for (const [language, count] of counts) t.ok(count >= 15, `${language}: ${count} phrases`);
});

t.test('RT-27 spelling, punctuation and words in between do not hide a phrase', async (t) => {
  const find = phraseFinder('hi-IN');
  const kinds = (text: string) => [...new Set(find(text).map(({ kind }) => kind))];
  t.same(kinds('PLEASE, leave us a short Message...'), ['invitation']);
  t.same(kinds("You've reached Sam."), ['absence']);
  t.same(kinds('संदेश छोड़ें'), ['invitation'], 'nuqta in one character');
  t.same(kinds('संदेश छोड\u093cें'), ['invitation'], 'nuqta in two');
  t.same(kinds('वॉइसमेल'), ['invitation'], 'people speak of theirs');
  t.same(kinds('leave one two three four five message'), [], 'too much in between is another sentence');
  t.same(kinds('messages are left'), []);
  t.same(kinds('the mailboxes'), [], 'a Latin phrase ends at a word');
  t.same(kinds('do you want to leave a message'), [], 'a person offers to take one');
  t.same(kinds('can i leave a message'), []);
  t.same(kinds('who are you trying to reach'), []);
  t.same(
    kinds('if you want to leave a message press one'),
    ['mailbox'],
    'a machine does too, in other words',
  );
  t.same(kinds('कोई संदेश छोड़ना है क्या'), [], 'also in Hindi');
  t.same(kinds(''), []);
  t.same(kinds('हाँ बोलिए मैं सुन रहा हूँ'), []);
  t.same(phraseFinder('ta-IN')('வணக்கம் யார் பேசுறீங்க'), []);
  t.same(phraseFinder(undefined)('after the tone').length, 1, 'English holds everywhere');
});

t.test('a bot adds phrases of its own', async (t) => {
  const find = phraseFinder('en', {
    voicemail: ['Acme * night line', '  ', '***'],
    screening: ['gate keeper'],
  });
  t.same(
    find('this is the acme brand night line').map(({ kind }) => kind),
    ['mailbox'],
  );
  t.same(
    find('Gate keeper here').map(({ kind }) => kind),
    ['screening'],
  );
  t.same(find('anything else'), [], 'an empty phrase finds nothing');
  t.same(
    phraseFinder('en', { voicemail: ['(a+)+$'] })('a'.repeat(2_000)),
    [],
    'patterns are words, not expressions',
  );
});
