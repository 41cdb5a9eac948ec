import t from 'tap';
import { COLLECT_PARAMETERS } from '../../../src/contracts/digit-tools.ts';
import {
  COLLECT_DEFAULTS,
  cancelDigits,
  collectDigits,
  collectRules,
  pressDigit,
  tickDigits,
} from '../../../src/slot/dtmf/collect-digits.ts';
import { DigitLine } from '../../../src/slot/dtmf/key-pad.ts';

const SECOND = 8_000;

t.test('RT-32 a key is one digit event, whether it is signalled, heard, or both', async (t) => {
  const signals = new DigitLine();
  t.same(signals.signalled('5', 100), { digit: '5', by: 'signalled', atSample: 100 });
  t.equal(signals.inBand('5', 400), null, 'its sound after the signal is dropped');
  t.same(signals.signalled('5', 4_000)?.digit, '5', 'the same key pressed again is a digit again');
  t.equal(signals.needsDetector, false);

  const sound = new DigitLine();
  t.same(sound.inBand('1', 100), { digit: '1', by: 'in_band', atSample: 100 });
  t.same(sound.inBand('1', 3_000)?.digit, '1', 'a line without signals is heard');
  t.equal(sound.needsDetector, true);

  const both = new DigitLine();
  t.ok(both.inBand('9', 1_000));
  t.equal(both.signalled('9', 3_000), null, 'the sound came first, the signal is the duplicate');
  t.equal(both.inBand('8', 9_000), null, 'from now on the signal counts');
  t.equal(both.signalled('8', 10_000)?.digit, '8');

  const late = new DigitLine();
  late.inBand('9', 1_000);
  t.equal(late.signalled('9', 1_000 + 2 * SECOND)?.digit, '9', 'two seconds later it is another key');
  t.equal(late.signalled('x', 0), null);
  t.equal(late.signalled('', 0), null);
  t.equal(late.signalled('a', 0)?.digit, 'A');
});

t.test('RT-32 digits end at the terminator, at their number, at a pause and at the limit', async (t) => {
  const by = (keys: string, changes = {}) => {
    const entry = collectDigits({ ...COLLECT_DEFAULTS, ...changes }, 0);
    let at = 0;
    for (const key of keys) {
      at += SECOND / 2;
      pressDigit(entry, key, at);
    }
    return { entry, at };
  };
  t.match(by('123#').entry.result, { status: 'complete', endedBy: 'terminator', digits: '123' });
  t.match(by('1234', { maxDigits: 4 }).entry.result, {
    status: 'complete',
    endedBy: 'max_digits',
    digits: '1234',
  });
  t.match(by('12345', { maxDigits: 4 }).entry.result, { digits: '1234' }, 'later keys are ignored');
  t.match(by('#').entry.result, { status: 'no_input', endedBy: 'terminator', digits: '' });
  t.match(by('12#', { minDigits: 4 }).entry.result, { status: 'too_few', digits: '12' });
  t.match(by('12#3', { terminator: null, maxDigits: 4 }).entry.result, { digits: '12#3' });

  const paused = by('12');
  t.equal(tickDigits(paused.entry, paused.at + 2 * SECOND - 1), null, 'just under two seconds');
  t.match(tickDigits(paused.entry, paused.at + 2 * SECOND), {
    status: 'complete',
    endedBy: 'pause',
    digits: '12',
  });
  t.equal(tickDigits(paused.entry, paused.at + 9 * SECOND), null, 'it ends once');
  t.equal(cancelDigits(paused.entry), null);

  const silent = by('');
  t.equal(tickDigits(silent.entry, 20 * SECOND - 1), null, 'the first digit may take its time');
  t.match(tickDigits(silent.entry, 20 * SECOND), { status: 'no_input', endedBy: 'total_time' });
  t.match(cancelDigits(by('1').entry), { status: 'cancelled', digits: '1' });
  t.match(cancelDigits(by('1').entry, 'hang_up'), { status: 'hung_up', endedBy: 'hang_up', digits: '1' });
});

t.test('RT-32 secret digits are masked wherever people read them', async (t) => {
  const entry = collectDigits({ ...COLLECT_DEFAULTS, isSecret: true, maxDigits: 3 }, 0);
  for (const key of '417') pressDigit(entry, key, 10);
  t.equal(entry.result?.digits, '417', 'the tool that asked gets them');
  t.equal(entry.result?.shown, '••••', 'even their number is hidden');
  const open = collectDigits(COLLECT_DEFAULTS, 0);
  pressDigit(open, '4', 1);
  t.equal(pressDigit(open, '#', 2)?.shown, '4');
});

t.test('a tool call cannot ask for an entry without end', async (t) => {
  t.same(collectRules({}), COLLECT_DEFAULTS);
  const wild = {
    min_digits: 99,
    max_digits: 1e9,
    inter_digit_ms: -5,
    timeout_ms: 1e12,
    terminator: 'x',
    secret: 'yes',
  };
  t.same(collectRules(wild), {
    minDigits: 32,
    maxDigits: 32,
    terminator: '#',
    interDigitMs: 500,
    totalMs: 60_000,
    isSecret: false,
  });
  t.same(collectRules({ terminator: '', secret: true, max_digits: Number.NaN }), {
    ...COLLECT_DEFAULTS,
    terminator: null,
    isSecret: true,
  });
  t.ok(Object.keys(COLLECT_PARAMETERS.properties).includes('secret'));
});
