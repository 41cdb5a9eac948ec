import fc from 'fast-check';
import t from 'tap';
import { TURN_SEGMENT_MAX_SAMPLES, TurnWindow } from '../../src/slot/listen/turn-window.ts';

const SEED = 20_262;

t.test('RT-10 audio is found again by its received-sample index', async (t) => {
  const ring = new TurnWindow();
  const said = (from: number, to: number) =>
    Int16Array.from({ length: Math.max(0, to - from) }, (_, i) => ((from + i) * 31) % 30_011);
  const push = (count: number) => ring.push(said(ring.endSample, ring.endSample + count));
  push(1000);
  t.same(ring.segment(200, 900), said(200, 900));
  t.same(ring.segment(-500, 5000), said(0, 1000), 'what is not there is left out');
  t.equal(ring.segment(2000, 3000).length, 0);
  for (let i = 0; i < 1200; i++) push(160);
  t.equal(ring.endSample, 193_000);
  t.ok(ring.endSample - ring.startSample >= 8.5 * 8000, 'at least 8.5 s are held');
  t.same(
    ring.segment(0, 193_000),
    said(193_000 - TURN_SEGMENT_MAX_SAMPLES, 193_000),
    'of more than 8 s the end',
  );
  t.same(ring.segment(150_000, 151_000), said(150_000, 151_000));
  push(200_000);
  t.same(ring.segment(390_000, 393_000), said(390_000, 393_000), 'a push larger than the ring keeps its end');
});

t.test('RT-62 RT-10 audio at 16 kHz is found by the same index, two samples for each', async (t) => {
  const ring = new TurnWindow(2);
  const said = (from: number, to: number) =>
    Int16Array.from({ length: Math.max(0, to - from) }, (_, i) => ((from + i) * 31) % 30_011);
  const push = (indexes: number) => ring.push(said(2 * ring.endSample, 2 * (ring.endSample + indexes)));
  push(1_000);
  t.equal(ring.endSample, 1_000);
  t.same(ring.segment(200, 901), said(400, 1_802));
  t.same(ring.segment(-500, 5_000), said(0, 2_000), 'what is not there is left out');
  for (let i = 0; i < 1_200; i++) push(160);
  t.equal(ring.endSample, 193_000);
  const narrow = new TurnWindow();
  narrow.push(new Int16Array(193_000));
  t.equal(ring.startSample, narrow.startSample, 'as long as at 8 kHz');
  t.same(
    ring.segment(0, 193_000),
    said(2 * (193_000 - TURN_SEGMENT_MAX_SAMPLES), 386_000),
    'of more than 8 s the end',
  );
  const window = new Int16Array(512);
  t.notOk(ring.copyTo(window, ring.endSample - 255), 'a window that is not whole is not there');
  t.ok(ring.copyTo(window, ring.startSample), 'the oldest is');
  t.same(window, said(2 * ring.startSample, 2 * ring.startSample + 512));
  push(200_000);
  t.same(ring.segment(390_000, 393_000), said(780_000, 786_000), 'a push larger than the ring keeps its end');
});

t.test('RT-10 any chunks and any questions agree with a plain list of all samples', async (t) => {
  const step = fc.record({
    count: fc.integer({ min: 0, max: 70_000 }),
    back: fc.integer({ min: 0, max: 120_000 }),
    length: fc.integer({ min: 0, max: 90_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const ring = new TurnWindow();
      const all: number[] = [];
      for (const { count, back, length } of steps) {
        const chunk = Int16Array.from({ length: count }, (_, i) => ((all.length + i) * 7919) % 32_749);
        ring.push(chunk);
        for (const sample of chunk) all.push(sample);
        const from = all.length - back;
        const to = from + length;
        const end = Math.min(to, all.length);
        const begin = Math.max(from, ring.startSample, end - TURN_SEGMENT_MAX_SAMPLES);
        const wanted = Int16Array.from(all.slice(Math.min(begin, end), end));
        if (Buffer.compare(bytes(ring.segment(from, to)), bytes(wanted)) !== 0) {
          throw new Error(`[${from}, ${to}) of ${all.length} differs`);
        }
      }
    }),
    { seed: SEED, numRuns: 60 },
  );
  t.pass(`60 random courses, seed ${SEED}`);
});

function bytes(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}
