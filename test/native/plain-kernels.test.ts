import fc from 'fast-check';
import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';

const { mix, level, interleave } = audioKernels();

t.test('the level of silence and of no samples is -100 dBFS', async (t) => {
  t.equal(level(new Int16Array(0)), -100);
  t.equal(level(new Int16Array(160)), -100);
});

t.test('the level is the RMS against full scale', async (t) => {
  const sine = Int16Array.from({ length: 8000 }, (_, n) =>
    Math.round(32767 * Math.sin((2 * Math.PI * n) / 80)),
  );
  t.ok(Math.abs(level(sine) + 3.0103) < 0.001, 'a full-scale sine lies 3 dB under full scale');
  t.equal(level(new Int16Array(100).fill(-32768)), 0);
  t.ok(Math.abs(level(new Int16Array(100).fill(3277)) + 20) < 0.01);
  const faint = new Int16Array(10_000_000);
  faint[0] = 1;
  t.equal(level(faint), -100, 'nothing lies under the floor');
});

t.test('mixing saturates, rounds and stops at the shorter block', async (t) => {
  const into = Int16Array.of(30000, -30000, 100, 100, 5);
  mix(into, Int16Array.of(30000, -30000, 51, -51), 0.5);
  t.strictSame([...into], [32767, -32768, 126, 74, 5]);
  const short = Int16Array.of(1);
  mix(short, Int16Array.of(1, 2, 3), 1);
  t.strictSame([...short], [2]);
  mix(new Int16Array(0), Int16Array.of(1), 1);
});

t.test('mixing equals the sum in exact arithmetic for any block and gain', async () => {
  const gains = fc.constantFrom(0, 1, -1, 0.5, -0.25, 4, 1e300, -1e300);
  const blocks = fc.int16Array({ maxLength: 400 });
  fc.assert(
    fc.property(blocks, blocks, gains, (into, from, gain) => {
      const mixed = Int16Array.from(into);
      mix(mixed, from, gain);
      return into.every((sample, n) => {
        const sum = n < from.length ? sample + (from[n] ?? 0) * gain : sample;
        // Half a step goes to the even neighbour.
        const floor = Math.floor(sum);
        const even = floor % 2 === 0 ? floor : floor + 1;
        const rounded = sum - floor === 0.5 ? even : Math.round(sum);
        return mixed[n] === Math.min(32767, Math.max(-32768, rounded));
      });
    }),
    { seed: 20240611, numRuns: 300 },
  );
});

t.test('interleaving alternates left and right', async (t) => {
  const out = new Int16Array(6);
  interleave(Int16Array.of(1, 2, 3), Int16Array.of(-1, -2, -3), out);
  t.strictSame([...out], [1, -1, 2, -2, 3, -3]);
  interleave(new Int16Array(0), new Int16Array(0), new Int16Array(0));
});

t.test('wrong arguments throw and never crash', async (t) => {
  const loose = { mix, level, interleave } as unknown as Record<string, (...values: unknown[]) => unknown>;
  const block = new Int16Array(4);
  const strangers = [
    undefined,
    null,
    4,
    'four',
    {},
    [1, 2],
    new Uint8Array(4),
    new Float32Array(4),
    Buffer.alloc(8),
  ];
  for (const stranger of strangers) {
    t.throws(() => loose.level?.(stranger), { name: 'TypeError' });
    t.throws(() => loose.mix?.(stranger, block, 1), { name: 'TypeError' });
    t.throws(() => loose.mix?.(block, stranger, 1), { name: 'TypeError' });
    t.throws(() => loose.interleave?.(stranger, block, new Int16Array(8)), { name: 'TypeError' });
    t.throws(() => loose.interleave?.(block, block, stranger), { name: 'TypeError' });
  }
  for (const gain of [undefined, '1', Number.NaN, Number.POSITIVE_INFINITY, 1n]) {
    t.throws(() => loose.mix?.(block, block, gain), { name: 'TypeError' });
  }
  t.throws(() => interleave(block, new Int16Array(3), new Int16Array(8)), { name: 'RangeError' });
  t.throws(() => interleave(block, block, new Int16Array(7)), { name: 'RangeError' });
});
