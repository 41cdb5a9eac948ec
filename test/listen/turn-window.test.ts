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
  ring.clear();
  t.equal(ring.endSample, 0, 'the next call begins at 0');
  t.equal(ring.segment(0, 100).length, 0, 'and hears nothing of the last one');
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
