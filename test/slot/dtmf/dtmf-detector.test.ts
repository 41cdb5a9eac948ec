import t from 'tap';
import { MAX_TONE_KEYS } from '../../../src/contracts/digit-tools.ts';
import { dtmfTones } from '../../../src/slot/dtmf/digit-tools.ts';
import { DtmfDetector, type InBandDigit } from '../../../src/slot/dtmf/dtmf-detector.ts';
import {
  addNoise,
  humanRecordings,
  interval,
  joined,
  silence,
  spoken,
  tones,
  withNoise,
} from '../../harness/line-sounds.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

const KEYS = '123A456B789C*0#D';
const ROWS = [697, 770, 852, 941];
const COLUMNS = [1209, 1336, 1477, 1633];

t.test('RT-32 every key is heard at every noise, loudness and twist a receiver must take', async (t) => {
  const random = seededRandom(32);
  const wanted = [
    { snrDb: 60, ms: 40, share: 0.99 },
    { snrDb: 20, ms: 40, share: 0.99 },
    { snrDb: 10, ms: 40, share: 0.99 },
    { snrDb: 10, ms: 100, share: 0.99 },
    { snrDb: 5, ms: 100, share: 0.9 },
  ];
  for (const { snrDb, ms, share } of wanted) {
    let right = 0;
    let n = 0;
    for (const key of KEYS) {
      for (let trial = 0; trial < 20; trial++) {
        const before = silence(40 + random() * 20);
        const sound = keySound(key, ms, { dbfs: -30 + random() * 20, twistDb: -7.5 + random() * 11 });
        const line = withNoise(joined(before, sound, silence(80)), snrDb, random);
        const digits = hear(line);
        n++;
        if (digits.length === 1 && digits[0]?.digit === key) right++;
      }
    }
    t.comment(`${ms} ms at ${snrDb} dB: ${interval(right, n)}`);
    t.ok(right / n >= share, `${ms} ms at ${snrDb} dB`);
  }
});

t.test('RT-32 no voice is taken for a key', async (t) => {
  const random = seededRandom(7);
  const voices = ['en', 'en+f2', 'en+f3', 'en+m3', 'en+m5', 'en-us', 'hi', 'hi+f2', 'hi+m3'];
  const text =
    'One two three four five, ooh, no no, hello, who is it? Hmm. I knew you would move to the room soon.';
  const hindi = 'एक दो तीन चार पाँच छह सात आठ नौ दस। हाँ जी, ठीक है, अच्छा, बताइए।';
  const made = voices.map((voice) => spoken(voice.startsWith('hi') ? hindi : text, voice, 150));
  for (const [name, clips] of [
    ['human', humanRecordings()],
    ['synthesised', made],
  ] as const) {
    let digits = 0;
    let seconds = 0;
    for (const clip of clips) {
      seconds += clip.length / 8_000;
      for (const gain of [1, 0.3]) {
        const quieter = clip.map((value) => value * gain);
        for (const line of [quieter, addNoise(quieter, 150, random)]) {
          digits += hear(line).length;
        }
      }
    }
    const bound = ((digits === 0 ? 3 : digits) / seconds) * 3_600;
    t.comment(
      `${name} speech: ${digits} digits in ${seconds.toFixed(0)} s, each heard four ways (95 %: under ${bound.toFixed(0)} an hour)`,
    );
    t.equal(digits, 0, `${name} speech of ${seconds.toFixed(0)} s holds no key`);
  }
});

t.test('a key is one digit: however long, with a short break, and however its audio is cut', async (t) => {
  t.equal(hear(joined(keySound('5', 3_000), silence(100))).length, 1, 'three seconds');
  const broken = joined(keySound('5', 80), silence(10), keySound('5', 80), silence(100));
  t.equal(hear(broken).length, 1, 'a break of 10 ms');
  const twice = joined(keySound('5', 60), silence(50), keySound('5', 60), silence(100));
  t.equal(hear(twice).length, 2, 'a pause of 50 ms makes two');
  const line = addNoise(joined(silence(33), dtmfTones('0123456789*#ABCD'), silence(50)), 40, seededRandom(1));
  const whole = hear(line);
  t.equal(whole.map(({ digit }) => digit).join(''), '0123456789*#ABCD');
  for (const block of [1, 77, 160, 800, line.length]) {
    t.same(hear(line, 8_000, block), whole, `blocks of ${block} samples`);
  }
});

t.test(
  'positions are those of the line, at 8 and at 16 kHz, and a jump of its clock begins anew',
  async (t) => {
    for (const rateHz of [8_000, 16_000] as const) {
      const detector = new DtmfDetector(rateHz);
      const perMs = rateHz / 1_000;
      const line = joined(silence(200, rateHz), dtmfTones('7', rateHz), silence(100, rateHz));
      const [digit] = feed(detector, line, 160, 50_000);
      t.equal(digit?.digit, '7');
      const startMs = ((digit?.fromSample ?? 0) - 50_000) / perMs;
      t.ok(Math.abs(startMs - 200) <= 15, `found at ${startMs} ms`);
      t.ok((digit?.atSample ?? 0) - 50_000 <= 260 * perMs, 'within 60 ms');
      const half = dtmfTones('7', rateHz).subarray(0, 25 * perMs);
      t.same(feed(detector, half, half.length, 500_000), []);
      t.same(feed(detector, half, half.length, 900_000), [], 'halves from before and after a gap are no key');
    }
  },
);

t.test('what is too short, off its frequency, twisted or faint is no key', async (t) => {
  t.same(hear(joined(silence(50), keySound('5', 20), silence(60))), [], '20 ms');
  for (const off of [0.965, 1.035]) {
    const line = joined(silence(50), tones([770 * off, 1_336 * off], 60, -14), silence(60));
    t.same(hear(line), [], `${Math.round((off - 1) * 1_000) / 10} % off`);
  }
  for (const off of [0.985, 1.015]) {
    const line = joined(silence(50), tones([770 * off, 1_336 * off], 60, -14), silence(60));
    t.equal(hear(line).length, 1, `${Math.round((off - 1) * 1_000) / 10} % off is one`);
  }
  t.same(hear(joined(silence(50), keySound('5', 60, { twistDb: 10 }), silence(60))), []);
  t.same(hear(joined(silence(50), keySound('5', 60, { twistDb: -13 }), silence(60))), []);
  t.same(hear(joined(silence(50), keySound('5', 60, { dbfs: -60 }), silence(60))), []);
  t.same(hear(tones([770], 500, -10)), [], 'one tone alone');
  t.same(hear(tones([440, 480], 500, -10)), [], 'ring back');
});

t.test('RT-33 tones made for a far end are 100 ms on, 80 ms off, at exact levels', async (t) => {
  for (const rateHz of [8_000, 16_000] as const) {
    const line = dtmfTones('1,#', rateHz);
    const perMs = rateHz / 1_000;
    t.equal(line.length, (180 + 1_000 + 180) * perMs);
    t.ok(line.subarray(0, 100 * perMs).some((value) => value !== 0));
    t.ok(
      line.subarray(100 * perMs, 1_180 * perMs).every((value) => value === 0),
      'pause and comma are silent',
    );
    const settled = line.subarray(10 * perMs, 90 * perMs);
    t.ok(Math.abs(levelDbm0(settled, 697, rateHz) + 11) < 0.2, 'row at -11 dBm0');
    t.ok(Math.abs(levelDbm0(settled, 1_209, rateHz) + 9) < 0.2, 'column at -9 dBm0');
    t.equal(feed(new DtmfDetector(rateHz), dtmfTones('0123456789*#ABCD', rateHz), 320).length, 16);
  }
  t.throws(() => dtmfTones('12x'), { code: 'bad_request' });
  t.throws(() => dtmfTones(''), { code: 'bad_request' });
  t.throws(() => dtmfTones('1'.repeat(MAX_TONE_KEYS + 1)), { code: 'bad_request' });
});

t.test('a second of the loudest noise is searched in far less than a second', async (t) => {
  const noise = addNoise(silence(20_000), 3_000, seededRandom(9));
  hear(noise);
  const began = performance.now();
  hear(noise);
  const perFrame = (performance.now() - began) / 1_000;
  t.comment(`${(perFrame * 1_000).toFixed(0)} microseconds for each 20 ms`);
  t.ok(perFrame < 10);
});

function hear(line: Int16Array, rateHz: 8_000 | 16_000 = 8_000, block = 160): InBandDigit[] {
  return feed(new DtmfDetector(rateHz), line, block);
}

function feed(detector: DtmfDetector, line: Int16Array, block: number, from = 0): InBandDigit[] {
  const digits: InBandDigit[] = [];
  for (let at = 0; at < line.length; at += block) {
    digits.push(...detector.feed(line.subarray(at, at + block), from + at));
  }
  return digits;
}

/** `twistDb`: how much stronger the column is than the row. */
function keySound(key: string, ms: number, level: { dbfs?: number; twistDb?: number } = {}): Int16Array {
  const { dbfs = -14, twistDb = 0 } = level;
  const place = KEYS.indexOf(key);
  const row = tones([ROWS[place >> 2] as number], ms, dbfs - twistDb / 2);
  const column = tones([COLUMNS[place & 3] as number], ms, dbfs + twistDb / 2);
  return row.map((value, at) => value + (column[at] as number));
}

/** Level of one frequency by correlation with it; 3.14 dBm0 is a sine of full scale. */
function levelDbm0(samples: Int16Array, hz: number, rateHz: number): number {
  let sine = 0;
  let cosine = 0;
  for (let n = 0; n < samples.length; n++) {
    sine += (samples[n] as number) * Math.sin((2 * Math.PI * hz * n) / rateHz);
    cosine += (samples[n] as number) * Math.cos((2 * Math.PI * hz * n) / rateHz);
  }
  return 20 * Math.log10((2 * Math.hypot(sine, cosine)) / samples.length / 32_768) + 3.14;
}
