import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { FRAME_SAMPLES } from '../../src/contracts/limits.ts';
import { Pacer } from '../../src/slot/speak/pacer.ts';
import { until } from '../harness/wait.ts';

const LEAD_MS = 100;
const MAX_ROUNDS = 30;

interface Sent {
  atMs: number;
  first: number;
  playAtSample: number;
  playAtMs: number;
  unitId: number;
}

function pacerUnderTest(leadMs: number, now: () => number = () => performance.now()) {
  const sent: Sent[] = [];
  const ended: { unitId: number; playEndMs: number }[] = [];
  const unsent: { unitId: number; samples: number }[] = [];
  let ticks = 0;
  const pacer = new Pacer({
    leadMs,
    now,
    lineSamples: () => 1000,
    sink: {
      onFrame: (frame, playAtSample, unitId, playAtMs) =>
        sent.push({ atMs: now(), first: frame[0] ?? 0, playAtSample, playAtMs, unitId }),
      onUnitSent: (unitId, playEndMs) => ended.push({ unitId, playEndMs }),
      onUnsent: (unitId, samples) => unsent.push({ unitId, samples }),
      onTick: () => {
        ticks++;
      },
    },
  });
  pacer.start();
  t.teardown(() => pacer.stop());
  return { pacer, sent, ended, unsent, ticks: () => ticks };
}

/** Frames whose first sample is their number. */
function numbered(from: number, frames: number): Int16Array {
  const samples = new Int16Array(frames * FRAME_SAMPLES);
  for (let i = 0; i < frames; i++) samples[i * FRAME_SAMPLES] = from + i;
  return samples;
}

t.test('RT-43 frames leave on an absolute grid, the lead at once and the rest every 20 ms', async (t) => {
  // A pacer that did not run for longer than its lead begins a new grid, so a round counts where this process ran.
  for (let round = 1; ; round++) {
    const { pacer, sent, ended } = pacerUnderTest(LEAD_MS);
    pacer.push(pacer.epoch, 1, numbered(0, 40));
    pacer.endUnit(pacer.epoch, 1);
    const atOnce = sent.length;
    await until(() => ended.length === 1, 'the end of the unit');
    t.same(
      sent.map((frame) => frame.first),
      [...Array(40).keys()],
      'in order, none missing or doubled',
    );
    const startMs = sent[0]?.atMs ?? 0;
    const isLate = sent.some(({ atMs }, i) => i >= 7 && atMs - startMs - i * 20 > -LEAD_MS / 4);
    if (isLate && round < MAX_ROUNDS) continue;
    t.ok(atOnce >= 5 && atOnce <= 7, `the lead leaves at once: ${atOnce} frames`);
    const grid = sent.map((frame, i) => frame.playAtMs - i * 20);
    t.ok(Math.max(...grid) - Math.min(...grid) < 0.001, 'play times lie on one grid: no drift');
    t.same(
      sent.map((frame) => frame.playAtSample),
      sent.map((_, i) => 1000 + i * FRAME_SAMPLES),
      'and so do their places on the line clock',
    );
    t.equal(ended.length, 1);
    t.ok(Math.abs((ended[0]?.playEndMs ?? 0) - ((sent[0]?.playAtMs ?? 0) + 800)) < 0.001);
    return;
  }
});

t.test('RT-16 nothing of a cancelled reply leaves after clear', async (t) => {
  const { pacer, sent } = pacerUnderTest(60);
  const old = pacer.epoch;
  pacer.push(old, 1, numbered(0, 50));
  await wait(100);
  pacer.clear();
  const before = sent.length;
  t.equal(pacer.push(old, 1, numbered(50, 50)), false, 'late audio of the old epoch is refused');
  t.equal(pacer.endUnit(old, 1), false);
  await wait(100);
  t.equal(sent.length, before, 'and nothing leaves');
  t.notOk(pacer.isSpeaking);
  pacer.push(pacer.epoch, 2, numbered(100, 3));
  pacer.endUnit(pacer.epoch, 2);
  t.equal(sent.at(-1)?.unitId, 2, 'the next reply begins at once, on a grid of its own');
});

t.test('a voice slower than the line leaves a gap and no frames to catch up with', async (t) => {
  const { pacer, sent } = pacerUnderTest(40);
  pacer.push(pacer.epoch, 1, numbered(0, 2));
  await wait(200);
  pacer.push(pacer.epoch, 1, numbered(2, 10));
  t.ok(sent.length <= 6, 'after the gap the lead leaves, not everything that would be due');
  await until(() => sent.length === 12, 'the rest');
});

t.test('the rest of a finished unit is padded to a frame, that of an unfinished one waits', async (t) => {
  const { pacer, sent, ended } = pacerUnderTest(200);
  pacer.push(pacer.epoch, 1, new Int16Array(FRAME_SAMPLES + 10).fill(7));
  t.equal(sent.length, 1, 'ten samples alone are no frame');
  pacer.endUnit(pacer.epoch, 1);
  t.equal(sent.length, 2);
  t.equal(ended.length, 1);
  pacer.endUnit(pacer.epoch, 2);
  t.equal(ended.length, 2, 'a unit without audio ends too');
});

t.test('RT-74 the clock ticks while there is nothing to say', async () => {
  const { ticks } = pacerUnderTest(200);
  await until(() => ticks() >= 3, 'three ticks');
});

t.test('RT-74 the clock ticks while live audio comes in frame by frame', async (t) => {
  const { pacer, sent, ticks } = pacerUnderTest(200);
  for (let at = 0; at < 40; at++) {
    pacer.push(pacer.epoch, 1, numbered(at, 1));
    await wait(15);
  }
  t.equal(sent.length, 40);
  await until(() => ticks() >= 4, 'four ticks');
});
