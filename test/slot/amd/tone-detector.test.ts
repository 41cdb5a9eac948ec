import t from 'tap';
import type { ProgressKind } from '../../../src/slot/amd/call-progress.ts';
import { ToneDetector, type ToneEvent } from '../../../src/slot/amd/tone-detector.ts';
import { dtmfTones } from '../../../src/slot/dtmf/digit-tools.ts';
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

t.test('RT-28 a beep of 150 ms or more is found at every frequency and noise, with its end', async (t) => {
  const random = seededRandom(28);
  for (const snrDb of [60, 20, 10, 5]) {
    for (const ms of [150, 250, 600]) {
      const n = 60;
      let found = 0;
      let latestMs = 0;
      for (let trial = 0; trial < n; trial++) {
        const hz = 400 + random() * 1_600;
        const leadMs = Math.floor(200 + random() * 160) + 0.125 * Math.floor(random() * 8);
        const beep = tones([hz], ms, -30 + random() * 24);
        const line = withNoise(joined(silence(leadMs), beep, silence(400)), snrDb, random);
        const ends = hear(line).filter((event) => event.type === 'tone_end');
        const end = ends[0];
        if (ends.length !== 1 || end?.type !== 'tone_end' || !end.isBeep) continue;
        if (Math.abs(end.hz - hz) > 3 || Math.abs(end.fromSample / 8 - leadMs) > 30) continue;
        const lateMs = Math.abs(end.toSample / 8 - leadMs - ms);
        latestMs = Math.max(latestMs, lateMs);
        found++;
      }
      t.comment(
        `${ms} ms at ${snrDb} dB: ${interval(found, n)}; end off by at most ${latestMs.toFixed(0)} ms`,
      );
      t.ok(found / n >= (ms === 150 && snrDb === 5 ? 0.9 : 0.99), `${ms} ms at ${snrDb} dB`);
      t.ok(latestMs <= 30);
    }
  }
});

t.test('RT-28 no voice is taken for a beep or for the rhythm of a network', async (t) => {
  const random = seededRandom(4);
  const voices = [
    'en',
    'en+f1',
    'en+f3',
    'en+f4',
    'en+m1',
    'en+m5',
    'en-us',
    'en+whisper',
    'hi',
    'hi+f2',
    'hi+m3',
  ];
  const text =
    'Ooh, mmm, hello? No no no. Who is this? I knew you would move to the new room soon. Yes, yes, aha.';
  const hindi = 'हाँ जी, नमस्ते, आप कौन बोल रहे हैं? हम्म, ठीक है, रुकिए, मैं अभी बाहर हूँ। बाद में फ़ोन कीजिए।';
  const made = voices.map((voice) => spoken(voice.startsWith('hi') ? hindi : text, voice, 150));
  for (const [name, clips] of [
    ['human', humanRecordings()],
    ['synthesised', made],
  ] as const) {
    let seconds = 0;
    const wrong: ToneEvent[] = [];
    for (const clip of clips) {
      seconds += clip.length / 8_000;
      for (const gain of [1, 0.3]) {
        const quieter = clip.map((value) => value * gain);
        for (const line of [quieter, addNoise(quieter, 120, random)]) {
          wrong.push(...hear(line));
        }
      }
    }
    const bound = ((wrong.length === 0 ? 3 : wrong.length) / seconds) * 3_600;
    t.comment(
      `${name}: ${wrong.length} tones in ${seconds.toFixed(0)} s, each heard four ways (95 %: under ${bound.toFixed(0)} an hour)`,
    );
    t.same(wrong, [], `${name} speech of ${seconds.toFixed(0)} s holds no tone`);
  }
});

t.test('RT-28 what is shorter than a beep, keys, sweeps, noise and silence are none', async (t) => {
  const beeps = (line: Int16Array) => hear(line).filter(({ type }) => type !== 'progress');
  t.same(beeps(joined(silence(100), tones([1_000], 90, -14), silence(200))), [], '90 ms');
  t.same(beeps(dtmfTones('0123456789*#ABCD')), [], 'keys');
  t.same(beeps(tones([350], 1_000, -14)), [], 'below the band');
  t.same(beeps(tones([2_300], 1_000, -14)), [], 'above the band');
  t.same(beeps(tones([440, 1_100], 1_000, -14)), [], 'two tones');
  const sweep = Int16Array.from(
    { length: 8_000 },
    (_, n) => 6_000 * Math.sin(2 * Math.PI * (500 + n / 16) * (n / 8_000)),
  );
  t.same(beeps(sweep), [], 'a sweep');
  t.same(beeps(addNoise(silence(20_000), 2_000, seededRandom(2))), [], 'noise');
  t.same(beeps(silence(2_000)), []);
  const long = hear(joined(tones([1_000], 5_000, -14), silence(300)));
  t.match(long.at(-1), { type: 'tone_end', isBeep: false }, 'five seconds are a tone, and no beep');
});

t.test('ring back, busy, congestion, unobtainable, special information and fax are told apart', async (t) => {
  const burst = (hz: number[], on: number, off: number, dbfs = -17) =>
    joined(tones(hz, on, dbfs), silence(off));
  const times = (count: number, part: Int16Array) => joined(...Array.from({ length: count }, () => part));
  const indian = (on: number) => modulated(400, 25, on);
  const sounds: [string, Int16Array, ProgressKind][] = [
    [
      'ring back of India',
      times(3, joined(indian(400), silence(200), indian(400), silence(2_000))),
      'ringback',
    ],
    ['ring back at 425 Hz', times(3, burst([425], 1_000, 4_000)), 'ringback'],
    ['ring back of two tones', times(3, burst([440, 480], 2_000, 4_000)), 'ringback'],
    ['busy of India', times(4, burst([400], 750, 750)), 'busy'],
    ['busy at 425 Hz', times(5, burst([425], 500, 500)), 'busy'],
    ['busy of two tones', times(5, burst([480, 620], 500, 500)), 'busy'],
    ['congestion of India', times(8, burst([400], 250, 250)), 'congestion'],
    ['congestion of 200 ms', times(8, burst([425], 200, 200)), 'congestion'],
    ['unobtainable of India', times(4, burst([400], 2_800, 200)), 'unobtainable'],
    [
      'special information tone',
      joined(tones([950], 330, -17), tones([1_400], 330, -17), tones([1_800], 330, -17), silence(1_000)),
      'information',
    ],
    [
      'special information tone with gaps',
      joined(burst([970], 330, 30), burst([1_390], 330, 30), burst([1_830], 330, 1_000)),
      'information',
    ],
    ['fax', joined(tones([2_100], 2_800, -17), silence(500)), 'fax'],
  ];
  const random = seededRandom(17);
  for (const [name, sound, kind] of sounds) {
    for (const snrDb of [60, 20, 10]) {
      const line = withNoise(joined(silence(150 + random() * 40), sound), snrDb, random);
      const kinds = hear(line).flatMap((event) => (event.type === 'progress' ? [event.kind] : []));
      t.same(kinds, [kind], `${name} at ${snrDb} dB`);
    }
  }
});

t.test('a tone has the same place however its audio is cut, at 8 and at 16 kHz', async (t) => {
  const line = joined(silence(700), tones([1_000], 400, -12), silence(500));
  const whole = hear(line);
  t.equal(whole.length, 2);
  for (const block of [1, 77, 800, line.length])
    t.same(hear(line, 8_000, block), whole, `blocks of ${block}`);
  const wide = hear(
    joined(silence(700, 16_000), tones([1_000], 400, -12, 16_000), silence(500, 16_000)),
    16_000,
  );
  const ends = [whole, wide].map((events) => events.find(({ type }) => type === 'tone_end'));
  const [narrowEnd, wideEnd] = ends.map((event) => (event?.type === 'tone_end' ? event.toSample : 0));
  t.ok(Math.abs((narrowEnd ?? 0) / 8 - 1_100) < 30);
  t.ok(Math.abs((wideEnd ?? 0) / 16 - 1_100) < 30);
  const detector = new ToneDetector();
  const half = tones([1_000], 80, -12);
  t.same(detector.feed(half, 0), []);
  t.same(detector.feed(half, 80_000), [], 'halves from before and after a gap of the clock are no beep');
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

function hear(line: Int16Array, rateHz: 8_000 | 16_000 = 8_000, block = 160): ToneEvent[] {
  const detector = new ToneDetector(rateHz);
  const events: ToneEvent[] = [];
  for (let at = 0; at < line.length; at += block) {
    events.push(...detector.feed(line.subarray(at, at + block), at));
  }
  return events;
}

/** A tone whose loudness goes up and down, as ring back in India does. */
function modulated(hz: number, byHz: number, ms: number): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, n) => {
    const gain = 1 + 0.9 * Math.cos((2 * Math.PI * byHz * n) / 8_000);
    return Math.round(2_500 * gain * Math.sin((2 * Math.PI * hz * n) / 8_000));
  });
}
