import t from 'tap';
import { SpurtLateness } from '../../bench/spurt-lateness.ts';

const LEAD_FRAMES = 10;

function newLateness(): SpurtLateness {
  const lateness = new SpurtLateness({ leadFrames: LEAD_FRAMES, bufferMs: 60 });
  lateness.recording = true;
  return lateness;
}

/** Arrival of a frame of a spurt that begins at 0: the lead at once, then one each 20 ms. */
function onTimeMs(frame: number): number {
  return Math.max(0, (frame - LEAD_FRAMES) * 20);
}

t.test('frames on their grid are not late, and the lead is not judged', async (t) => {
  const lateness = newLateness();
  for (let frame = 0; frame < 100; frame++) lateness.take(1_000 + onTimeMs(frame), frame > 0);
  lateness.end();
  t.equal(lateness.readings.length, 100 - LEAD_FRAMES - 1);
  t.equal(Math.max(...lateness.readings), 0);
  t.equal(lateness.lateFrames, 0);
  t.equal(lateness.underruns, 0);
});

t.test('a late frame is late by what it is late, whatever the spurt began with', async (t) => {
  const lateness = newLateness();
  for (let frame = 0; frame < 100; frame++) {
    const firstIsLate = frame === 0 ? 15 : 0;
    const late = frame === 50 ? 7 : frame === 51 ? 61 : 0;
    lateness.take(1_000 + onTimeMs(frame) + firstIsLate + late, frame > 0);
  }
  lateness.end();
  t.same(
    lateness.readings.filter((ms) => ms !== 0),
    [7, 61],
  );
  t.equal(lateness.lateFrames, 1, 'one frame missed the jitter buffer');
  t.equal(lateness.underruns, 0, 'the lead saved the line from running dry');
});

t.test('a pacer that drifts is seen as late', async (t) => {
  const lateness = newLateness();
  for (let frame = 0; frame < 500; frame++) lateness.take(onTimeMs(frame) * 1.01, frame > 0);
  lateness.end();
  const sorted = [...lateness.readings].sort((a, b) => a - b);
  t.ok((sorted[sorted.length >> 1] as number) > 30, 'one per cent over 10 s');
});

t.test('a pause between replies begins a new grid; a stall inside a clause runs the line dry', async (t) => {
  const lateness = newLateness();
  for (let frame = 0; frame < 50; frame++) lateness.take(onTimeMs(frame), frame > 0);
  for (let frame = 0; frame < 50; frame++) lateness.take(5_003 + onTimeMs(frame), frame > 0);
  t.equal(lateness.underruns, 0);
  lateness.take(8_000, true);
  t.equal(lateness.underruns, 1);
  lateness.end();
  t.ok(Math.max(...lateness.readings) > 1_000, 'and the frame behind the stall is late');
});

t.test('what is heard outside the measured time does not count', async (t) => {
  const lateness = newLateness();
  lateness.recording = false;
  for (let frame = 0; frame < 100; frame++)
    lateness.take(onTimeMs(frame) + (frame === 50 ? 90 : 0), frame > 0);
  lateness.end();
  t.equal(lateness.readings.length, 0);
  t.equal(lateness.lateFrames, 0);
});
