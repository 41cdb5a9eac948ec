import fc from 'fast-check';
import t from 'tap';
import { cutAtWord, SpeechLedger } from '../../src/slot/speak/speech-ledger.ts';

/** A unit of one second that began to play at 1000 ms. */
function playing(ledger: SpeechLedger, text: string) {
  const unit = ledger.add(1, text);
  unit.sentSamples = 8000;
  unit.synthesisDone = true;
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
  ledger.truncate(half.id, 8000);
  t.equal(half.text, 'these words');
  const none = ledger.add(1, 'not a sound');
  ledger.truncate(none.id, 0);
  t.same(none.heard, { text: '', evidence: 'none' });
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
