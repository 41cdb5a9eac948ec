import t from 'tap';
import { SaidWords } from '../../../src/slot/turn/said-words.ts';

const SECOND = 8_000;

/** A bot that said this from second 1 to second 4. */
function said(text: string, spoken = text): SaidWords {
  const words = new SaidWords();
  for (let at = SECOND; at < 4 * SECOND; at += 160) words.heard({ id: 1, text, spoken }, at, at + 160);
  return words;
}

/** Heard from second 3 on. */
const holds = (words: SaidWords, text: string) => words.holds(text, 3 * SECOND, 5 * SECOND);

t.test('RT-18 words are the bot\u2019s where they are a stretch of what it said', async (t) => {
  const words = said('Your order has been shipped. Would you like to change the address?');
  for (const text of [
    'would you like to change the address',
    'Would you like to change a dress',
    'been shipped',
    'shipped would',
    'address',
    'order has been ship',
  ]) {
    t.ok(holds(words, text), text);
  }
  for (const text of [
    '',
    'no',
    'no address',
    'address change',
    'I want to keep it as it is',
    'no please send it to my old place',
  ]) {
    t.notOk(holds(words, text), text);
  }
});

t.test('RT-18 a number is heard as it was spoken, and a word in the other script', async (t) => {
  t.ok(
    holds(said('You owe ₹1,500.', 'You owe one thousand five hundred rupees.'), 'one thousand five hundred'),
  );
  t.ok(holds(said('क्या आप पेमेंट कल करेंगे?'), 'क्या आप payment कल करेंगे'));
  t.ok(holds(said('Would you like a loan from our bank?'), 'लाइक लोन फ्रॉम आवर बैंक'), 'mostly');
  const asked = said('क्या आपने किस्त जमा कर दी है?');
  for (const text of ['हाँ', 'नहीं', 'haan', 'जी हाँ', 'hai']) t.notOk(holds(asked, text), text);
});

t.test('RT-18 what the bot said long before comes back no more', async (t) => {
  const words = said('yes or no?');
  t.ok(words.holds('no', 4.5 * SECOND, 5 * SECOND));
  t.notOk(words.holds('no', 7 * SECOND, 8 * SECOND));
  t.notOk(words.holds('no', 0, 0.5 * SECOND), 'nor what it had not said yet');
  words.heard({ id: 2, text: 'Please tell me.', spoken: 'Please tell me.' }, 5 * SECOND, 6 * SECOND);
  t.ok(
    words.holds('or no please tell', 5 * SECOND, 7 * SECOND),
    'clauses that follow each other are one text',
  );
});
