import fc from 'fast-check';
import t from 'tap';
import { NoiseFloor } from '../../src/slot/listen/noise-floor.ts';

/** So many windows of noise at a level. */
function quietLine(levelDbfs: number, windows = 60): NoiseFloor {
  const floor = new NoiseFloor();
  for (let i = 0; i < windows; i++) floor.gate(0.05, levelDbfs);
  return floor;
}

t.test(
  'RT-02 what is no louder than the noise between words is not speech, whatever the network says',
  async (t) => {
    const floor = quietLine(-40);
    t.equal(floor.gate(0.9, -39), 0);
    t.equal(floor.gate(0.9, -36), 0.9);
  },
);

t.test('RT-02 a quiet caller on a quiet line is heard, and so is one on a silent line', async (t) => {
  t.equal(quietLine(-75).gate(0.8, -70), 0.8);
  t.equal(quietLine(-100).gate(0.8, -80), 0.8, 'digital silence teaches nothing');
  t.equal(new NoiseFloor().gate(0.8, -95), 0.8, 'nor does a line that nothing is known of');
});

t.test('RT-02 the floor follows a line that grows quiet at once, one that grows loud slowly', async (t) => {
  const floor = quietLine(-30);
  floor.gate(0.01, -70);
  t.equal(floor.gate(0.7, -60), 0.7);
  const slow = quietLine(-70);
  for (let i = 0; i < 30; i++) slow.gate(0.01, -30);
  t.equal(slow.gate(0.7, -50), 0.7, 'a second of noise does not deafen the bot');
  for (let i = 0; i < 64; i++) slow.gate(0.01, -30);
  t.equal(slow.gate(0.7, -29), 0, 'a line that stays loud is learned');
});

t.test('RT-02 a call may begin with speech, and speech does not raise the floor', async (t) => {
  const floor = new NoiseFloor();
  const syllables = [-25, -22, -20, -24, -28, -45, -60, -58, -30, -22];
  const heard = Array.from({ length: 120 }, (_, i) => floor.gate(0.9, syllables[i % syllables.length] ?? 0));
  t.ok(
    heard.every((probability, i) => probability === 0.9 || (syllables[i % syllables.length] ?? 0) <= -57),
    'only the dips between syllables are taken for noise',
  );
});

t.test('RT-02 decisions do not depend on how loud the line is as a whole', async () => {
  const window = fc.record({
    p: fc.double({ min: 0, max: 1, noNaN: true }),
    db: fc.integer({ min: -60, max: -20 }),
  });
  fc.assert(
    fc.property(fc.array(window, { maxLength: 80 }), fc.integer({ min: -25, max: 15 }), (windows, gain) => {
      const [plain, louder] = [new NoiseFloor(), new NoiseFloor()];
      return windows.every(({ p, db }) => {
        const [a, b] = [plain.gate(p, db), louder.gate(p, db + gain)];
        // Levels that lie on the margin may fall either way by rounding.
        return a === b || Math.abs(a - b) === p;
      });
    }),
    { seed: 2, numRuns: 200 },
  );
});
