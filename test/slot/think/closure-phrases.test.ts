import t from 'tap';
import { closurePhrases } from '../../../src/slot/think/closure-phrases.ts';

const phrases = closurePhrases({
  closure_phrases: [
    'Thank you for your time',
    'धन्यवाद',
    'फिर मिलेंगे',
    'ご利用ありがとうございました',
    'À bientôt',
    '...',
  ],
});

t.test('RT-22 a closure phrase is found as whole words, however it is cased and parted', async (t) => {
  for (const heard of [
    'Thank you for your time.',
    'Well, THANK YOU, for your time! Bye.',
    'So: thank you\nfor your time',
  ]) {
    t.equal(phrases.find(heard), 'Thank you for your time', heard);
  }
  for (const heard of ['Thank you for your timely help', 'Thank you for', 'for your time thank you', '']) {
    t.equal(phrases.find(heard), null, heard);
  }
});

t.test('RT-22 in Indic scripts nukta, joiners and nasal signs do not tell phrases apart', async (t) => {
  t.equal(phrases.find('अच्छा, धन्यवाद।'), 'धन्यवाद');
  t.equal(phrases.find('फ़िर मिलेँगे'), 'फिर मिलेंगे');
  t.equal(phrases.find('धन्य\u200dवाद जी'), 'धन्यवाद');
  t.equal(phrases.find('धन्यवादी'), null, 'a longer word is another one');
  t.equal(phrases.find('à bientôt !'), 'À bientôt');
});

t.test('RT-22 a script without spaces has no whole words to keep to', async (t) => {
  t.equal(phrases.find('本日はご利用ありがとうございました。失礼します。'), 'ご利用ありがとうございました');
});

t.test('a bot without phrases, or with a policy of another shape, never closes by one', async (t) => {
  for (const policy of [null, undefined, {}, { closure_phrases: 'bye' }, { closure_phrases: [3, ''] }]) {
    t.equal(closurePhrases(policy).find('bye 3'), null);
  }
});
