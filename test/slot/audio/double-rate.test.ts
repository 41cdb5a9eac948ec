import t from 'tap';
import { DoubleRate, HalveRate } from '../../../src/slot/audio/half-rate.ts';

/** Both filters together, in samples at 8 kHz: 11 at 16 kHz each, less the one that halving waits for. */
const DELAY_SAMPLES = 10.5;
const SECOND = 8_000;

t.test('what is doubled and halved again is the same audio, whatever the pieces', async (t) => {
  for (const hz of [100, 1_000, 2_500, 2_900]) {
    const original = tone(hz, 8_000);
    for (const piece of [1, 7, 160, SECOND]) {
      const wide = doubled(original, piece);
      t.equal(wide.length, 2 * original.length, 'exactly two samples for each');
      const back = halved(wide);
      const lost = difference(tone(hz, 8_000, DELAY_SAMPLES), back);
      t.ok(lost < -35, `${hz} Hz in pieces of ${piece}: the difference is at ${lost.toFixed(1)} dB`);
    }
  }
});

t.test('doubling adds nothing above the telephone band, and nothing to silence', async (t) => {
  for (const hz of [300, 1_000, 2_000, 2_900]) {
    const wide = doubled(tone(hz, 8_000), 160);
    // Doubling without a filter would put the same tone, as loud, at its mirror image.
    const image = strength(wide, 8_000 - hz) / strength(wide, hz);
    t.ok(20 * Math.log10(image) < -40, `${hz} Hz: image ${(20 * Math.log10(image)).toFixed(1)} dB`);
  }
  t.ok(doubled(new Int16Array(800), 160).every((sample) => sample === 0));
});

t.test('the loudest audio stays within 16 bits', async (t) => {
  const square = Int16Array.from({ length: 400 }, (_, at) => (at % 16 < 8 ? 32_767 : -32_768));
  const wide = doubled(square, 160);
  let looked = 0;
  for (let at = 6; at < square.length; at++) {
    const [older, newer] = [square[at - 6] as number, square[at - 5] as number];
    if (older > 0 !== newer > 0) continue;
    looked++;
    // Between two samples of one sign the curve overshoots 16 bits; one that ran over would have the other sign.
    t.equal((wide[2 * at] as number) > 0, newer > 0);
  }
  t.ok(looked > 300);
});

function tone(hz: number, peak: number, lateBy = 0): Int16Array {
  return Int16Array.from({ length: SECOND }, (_, at) =>
    Math.round(peak * Math.sin((2 * Math.PI * hz * (at - lateBy)) / 8_000)),
  );
}

function doubled(samples: Int16Array, piece: number): Int16Array {
  const double = new DoubleRate();
  const wide = new Int16Array(2 * samples.length);
  for (let at = 0; at < samples.length; at += piece) {
    const part = samples.subarray(at, at + piece);
    double.process(part, wide.subarray(2 * at, 2 * (at + part.length)));
  }
  return wide;
}

function halved(wide: Int16Array): Int16Array {
  const halve = new HalveRate();
  const narrow: number[] = [];
  for (const sample of wide) {
    const out = halve.push(sample);
    if (!Number.isNaN(out)) narrow.push(out);
  }
  return Int16Array.from(narrow, Math.round);
}

/** How loud a difference is against the audio itself, in dB; the first 50 samples, where a filter fills, left out. */
function difference(wanted: Int16Array, got: Int16Array): number {
  let apart = 0;
  let whole = 0;
  for (let at = 50; at < Math.min(wanted.length, got.length); at++) {
    apart += ((wanted[at] as number) - (got[at] as number)) ** 2;
    whole += (wanted[at] as number) ** 2;
  }
  return 10 * Math.log10(apart / whole);
}

/** Strength of one frequency in audio at 16 kHz. */
function strength(wide: Int16Array, hz: number): number {
  let real = 0;
  let imaginary = 0;
  for (let at = 0; at < wide.length; at++) {
    const angle = (2 * Math.PI * hz * at) / 16_000;
    real += (wide[at] as number) * Math.cos(angle);
    imaginary += (wide[at] as number) * Math.sin(angle);
  }
  return Math.hypot(real, imaginary);
}
