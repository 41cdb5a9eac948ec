import fc from 'fast-check';
import t from 'tap';
import { cutAtWord } from '../../src/slot/speak/heard-part.ts';
import { SpeechLedger } from '../../src/slot/speak/speech-ledger.ts';

/** A unit of one second that began to play at 1000 ms. */
function playing(ledger: SpeechLedger, text: string) {
  const unit = ledger.add(1, text);
  unit.sentSamples = 8000;
  ledger.made(unit.id, 8000);
  ledger.allMade(unit.id);
  unit.playStartMs = 1000;
  unit.playEndMs = 2000;
  return unit;
}

t.test('RT-17 an echoed mark proves the whole clause', async (t) => {
  const ledger = new SpeechLedger();
  const unit = playing(ledger, 'Good morning.');
  t.equal(ledger.heardText(1), '', 'nothing is claimed before there is evidence');
  t.ok(ledger.markEchoed(unit.id));
  t.equal(ledger.heardText(1), 'Good morning.');
  t.equal(ledger.evidence(1), 'mark');
  t.equal(ledger.markEchoed(unit.id), null, 'a second echo changes nothing');
  t.equal(ledger.markEchoed(99), null, 'nor does a mark that nobody set');
});

t.test('RT-17 the transcript has clauses in the order in which they are heard', async (t) => {
  const ledger = new SpeechLedger();
  const late = ledger.add(1, 'The answer.');
  const bridge = ledger.add(1, 'One moment.', { isAside: true });
  for (const unit of [bridge, late]) {
    ledger.made(unit.id, 8_000);
    ledger.allMade(unit.id);
    ledger.markEchoed(unit.id);
  }
  t.equal(ledger.heardText(1), 'One moment. The answer.', 'the voice was late, and a line came before it');
  t.equal(ledger.heardAnswer(1), 'The answer.');
});

t.test('RT-17 a cut keeps what was heard and says what was not', async (t) => {
  const ledger = new SpeechLedger();
  ledger.markEchoed(playing(ledger, 'First clause.').id);
  const second = playing(ledger, 'one two three four five six seven eight');
  second.playStartMs = 2000;
  ledger.add(1, 'never spoken');
  ledger.cut(1, 2500);
  t.equal(ledger.heardText(1), 'First clause. one two three four');
  t.equal(ledger.unheardText(1), 'five six seven eight never spoken');
  t.equal(ledger.evidence(1), 'estimate');
  t.equal(ledger.markEchoed(second.id), null, 'a mark that comes after the cut proves nothing');
});

t.test(
  'a clause whose mark never comes counts as heard by estimate, and a late mark raises that',
  async (t) => {
    const ledger = new SpeechLedger();
    const unit = playing(ledger, 'Hello.');
    t.ok(ledger.assumePlayed(unit.id));
    t.equal(ledger.evidence(1), 'estimate');
    t.ok(ledger.markEchoed(unit.id));
    t.equal(ledger.evidence(1), 'mark');
  },
);

t.test('a voice that broke off is credited with the words that fit', async (t) => {
  const ledger = new SpeechLedger();
  const half = ledger.add(1, 'these words were all meant to be spoken aloud');
  ledger.made(half.id, 8000);
  ledger.truncate(half.id);
  t.equal(half.text, 'these words');
  const none = ledger.add(1, 'not a sound');
  ledger.truncate(none.id);
  t.same(none.heard, { text: '', evidence: 'none' });
});

t.test('RT-42 where the voice times its words, a cut falls behind the last word that ended', async (t) => {
  const ledger = new SpeechLedger();
  const unit = playing(ledger, 'Well, the quick answer is no.');
  // A voice that lingers: by the characters alone half of the clause would have been heard.
  const words = ['Well,', 'the', 'quick', 'answer', 'is', 'no.'];
  ledger.timed(
    unit.id,
    words.map((text, at) => ({ text, startMs: at * 150 + 40, endMs: at * 150 + 190 })),
  );
  ledger.cut(1, 1_000 + 345);
  t.equal(ledger.heardText(1), 'Well, the', 'the third word had begun and not ended');
  t.equal(ledger.evidence(1), 'words');
  t.equal(ledger.unheardText(1), 'quick answer is no.');
});

t.test('RT-42 timings of what was spoken cut what was written', async (t) => {
  const ledger = new SpeechLedger();
  const spoken = 'You owe one lakh fifty thousand rupees today.';
  const unit = ledger.add(1, 'You owe ₹1,50,000 today.', { spoken });
  ledger.made(unit.id, 4 * 8_000);
  ledger.allMade(unit.id);
  unit.sentSamples = 4 * 8_000;
  unit.playStartMs = 0;
  const words = spoken.split(' ').map((text, at) => ({ text, startMs: at * 500, endMs: at * 500 + 480 }));
  ledger.timed(unit.id, words.slice(0, 3));
  ledger.timed(unit.id, words.slice(3));
  ledger.cut(1, 3_490);
  t.equal(ledger.heardText(1), 'You owe ₹1,50,000');
  t.equal(ledger.evidence(1), 'words');
});

t.test('RT-42 timings that stop early are followed by an estimate, and it is called one', async (t) => {
  const ledger = new SpeechLedger();
  const unit = ledger.add(1, 'one two three four five six seven eight');
  ledger.made(unit.id, 16_000);
  ledger.allMade(unit.id);
  unit.sentSamples = 16_000;
  unit.playStartMs = 0;
  ledger.timed(unit.id, [{ text: 'one', startMs: 0, endMs: 900 }]);
  ledger.cut(1, 1_450);
  t.equal(ledger.heardText(1), 'one two three four', 'half of the rest in half of the time that was left');
  t.equal(ledger.evidence(1), 'estimate');
});

t.test('RT-17 a voice that is faster than the line is not heard before it is played', async (t) => {
  const ledger = new SpeechLedger();
  const unit = ledger.add(1, 'one two three four five six seven eight nine ten');
  ledger.made(unit.id, 80_000);
  ledger.allMade(unit.id);
  unit.sentSamples = 16_000;
  unit.playStartMs = 0;
  ledger.cut(1, 2_000);
  t.equal(ledger.heardText(1), 'one two', 'two of ten seconds, although the whole clause was there');
});

t.test('RT-13 what is left of a reply is known while it is heard, and while it is paused', async (t) => {
  const ledger = new SpeechLedger();
  const [first, second] = [ledger.add(1, 'Your order is on its way.'), ledger.add(1, 'Is that right?')];
  for (const unit of [first, second]) {
    ledger.made(unit.id, 16_000);
    ledger.allMade(unit.id);
  }
  t.equal(ledger.leftMs(1, 0), 4_000);
  first.sentSamples = 16_000;
  first.playStartMs = 0;
  t.equal(ledger.leftMs(1, 500), 3_500);
  first.sentSamples = 4_000;
  t.equal(ledger.leftMs(1, 900), 3_500, 'a pause is not heard');
  first.sentSamples = 16_000;
  ledger.markEchoed(first.id);
  t.equal(ledger.leftMs(1, 2_300), 2_000);
});

t.test('RT-42 the pace of the voice is learned from the clauses that it has spoken', async (t) => {
  const ledger = new SpeechLedger();
  const text = 'this sentence has forty characters in it.';
  for (let at = 0; at < 20; at++) {
    const slow = ledger.add(1, text);
    ledger.made(slow.id, text.length * 2_000);
    ledger.allMade(slow.id);
  }
  const open = ledger.add(2, 'one two three four five six seven eight');
  ledger.made(open.id, 16_000);
  open.sentSamples = 16_000;
  open.playStartMs = 0;
  ledger.cut(2, 2_000);
  t.equal(ledger.heardText(2), 'one two', 'a voice of four characters a second');
});

t.test('a cut text is a prefix at a word border, and grows with the fraction', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-zé।]{1,8}$/), { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (words, a, b) => {
        const text = words.join(' ');
        const [less, more] = a <= b ? [a, b] : [b, a];
        const short = cutAtWord(text, less);
        const long = cutAtWord(text, more);
        return (
          text.startsWith(short) &&
          long.startsWith(short) &&
          (short === text || short === '' || /^\s/.test(text.slice(short.length)))
        );
      },
    ),
    { seed: 17, numRuns: 500 },
  );
});

t.test('RT-66 how far a reply has come is told without settling anything', async (t) => {
  const ledger = new SpeechLedger();
  ledger.markEchoed(playing(ledger, 'First clause.').id);
  const second = playing(ledger, 'one two three four five six seven eight');
  second.playStartMs = 2000;
  ledger.add(1, 'never spoken');
  t.same(ledger.heardSoFar(1, 1900), {
    text: 'First clause.',
    evidence: 'mark',
    unheard: 'one two three four five six seven eight never spoken',
  });
  t.same(ledger.heardSoFar(1, 2500), {
    text: 'First clause. one two three four',
    evidence: 'estimate',
    unheard: 'five six seven eight never spoken',
  });
  t.equal(second.heard, null);
  t.equal(ledger.heardText(1), 'First clause.');
});
