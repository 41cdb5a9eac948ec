import t from 'tap';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/contracts/limits.ts';
import { Pacer } from '../../src/slot/speak/pacer.ts';
import { seededRandom } from '../harness/seeded-random.ts';

const LEAD_MS = 200;

/**
 * A pacer on a hand clock and a far end that plays what it gets and drops what it is told to: what the caller hears is
 * written down sample by sample.
 */
function line() {
  let nowMs = 1_000;
  let buffered: { playAtMs: number; value: number; unitId: number }[] = [];
  const heard: { value: number; unitId: number }[] = [];
  const ends: number[] = [];
  let unsentSamples = 0;
  const pacer = new Pacer({
    leadMs: LEAD_MS,
    now: () => nowMs,
    lineSamples: () => 0,
    sink: {
      onFrame: (frame, _playAtSample, unitId, playAtMs) =>
        buffered.push({ playAtMs, value: frame.at(-1) ?? 0, unitId }),
      onUnitSent: (unitId) => ends.push(unitId),
      onUnsent: (_unitId, samples) => {
        unsentSamples += samples;
      },
      onTick: () => undefined,
    },
  });
  pacer.start();
  t.teardown(() => pacer.stop());
  return {
    pacer,
    heard,
    ends,
    unsent: () => unsentSamples,
    pause() {
      if (pacer.pause()) buffered = [];
    },
    clear() {
      pacer.clear();
      buffered = [];
    },
    /** Time passes in steps; `push` with nothing wakes the pacer as its timer would. */
    pass(ms: number) {
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs += 5;
        pacer.push(pacer.epoch, 0, new Int16Array(0));
        pacer.endUnit(pacer.epoch, 0);
        while (buffered[0] && buffered[0].playAtMs < nowMs) {
          const frame = buffered.shift();
          if (frame) heard.push(frame);
        }
      }
    },
  };
}

/** Frames that carry their number in their last sample, where no fade reaches. */
function numbered(from: number, frames: number): Int16Array {
  const samples = new Int16Array(frames * FRAME_SAMPLES);
  for (let at = 0; at < frames; at++) samples[(at + 1) * FRAME_SAMPLES - 1] = from + at;
  return samples;
}

t.test('RT-14 a paused bot falls silent within a frame and goes on from the exact frame', async (t) => {
  const far = line();
  far.pacer.push(far.pacer.epoch, 1, numbered(1, 100));
  far.pacer.endUnit(far.pacer.epoch, 1);
  far.pass(400);
  const before = far.heard.length;
  t.ok(before > 15 && before < 25, `${before} frames heard`);
  far.pause();
  far.pass(1_500);
  t.equal(far.heard.length, before, 'nothing sounds while it is paused, not even what had left already');
  t.ok(far.unsent() >= (LEAD_MS / FRAME_MS - 2) * FRAME_SAMPLES, 'the lead was taken back');
  t.notOk(far.pacer.isSpeaking);
  far.pacer.resume();
  far.pass(3_000);
  t.same(
    far.heard.map((frame) => frame.value),
    Array.from({ length: 100 }, (_, at) => at + 1),
    'none missing, none twice',
  );
});

t.test(
  'RT-14 the end of a unit that was taken back comes again, and only once it is heard anew',
  async (t) => {
    const far = line();
    far.pacer.push(far.pacer.epoch, 7, numbered(1, 5));
    far.pacer.endUnit(far.pacer.epoch, 7);
    far.pass(10);
    t.same(
      far.ends.filter((unit) => unit === 7),
      [7],
      'the lead swallows a short unit whole',
    );
    far.pause();
    far.pass(300);
    far.pacer.resume();
    far.pass(300);
    t.same(
      far.ends.filter((unit) => unit === 7),
      [7, 7],
    );
    t.same(
      far.heard.map((frame) => frame.value),
      [1, 2, 3, 4, 5],
    );
  },
);

t.test('RT-16 a bot that is cut while it is paused says nothing more', async (t) => {
  const far = line();
  far.pacer.push(far.pacer.epoch, 1, numbered(1, 100));
  far.pass(200);
  far.pause();
  const before = far.heard.length;
  far.clear();
  far.pacer.resume();
  far.pass(500);
  t.equal(far.heard.length, before);
  far.pacer.push(far.pacer.epoch, 2, numbered(500, 3));
  far.pacer.endUnit(far.pacer.epoch, 2);
  far.pass(200);
  t.same(
    far.heard.slice(before).map((frame) => frame.value),
    [500, 501, 502],
    'the next reply is whole',
  );
});

t.test(
  'RT-14 RT-17 whatever is pushed, paused and resumed, the caller hears all of it once and in order',
  async (t) => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed);
      const far = line();
      let pushed = 0;
      let unit = 1;
      for (let at = 0; at < 60; at++) {
        const pick = random();
        if (pick < 0.35) {
          const frames = 1 + Math.floor(random() * 12);
          far.pacer.push(far.pacer.epoch, unit, numbered(pushed + 1, frames));
          pushed += frames;
          if (random() < 0.5) far.pacer.endUnit(far.pacer.epoch, unit++);
        } else if (pick < 0.55) far.pause();
        else if (pick < 0.75) far.pacer.resume();
        else far.pass(Math.floor(random() * 400));
      }
      far.pacer.endUnit(far.pacer.epoch, unit);
      far.pacer.resume();
      far.pass(pushed * FRAME_MS + 1_000);
      t.same(
        far.heard.map((frame) => frame.value).filter((value) => value > 0),
        Array.from({ length: pushed }, (_, at) => at + 1),
        `seed ${seed}`,
      );
    }
  },
);
