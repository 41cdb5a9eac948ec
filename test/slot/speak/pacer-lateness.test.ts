import t from 'tap';
import { FRAME_SAMPLES } from '../../../src/contracts/limits.ts';
import { Pacer } from '../../../src/slot/speak/pacer.ts';

const LEAD_MS = 200;
/** Frames whose end lies no more than the lead ahead leave at once. */
const AT_ONCE = LEAD_MS / 20 + 1;

/** A pacer on a hand clock, and how late each frame left. */
function aPacer() {
  let nowMs = 1_000;
  const late: number[] = [];
  const pacer = new Pacer({
    leadMs: LEAD_MS,
    now: () => nowMs,
    lineSamples: () => 0,
    sink: {
      onFrame: (_frame, _playAtSample, _unitId, _playAtMs, lateMs) => late.push(lateMs),
      onUnitSent: () => undefined,
      onUnsent: () => undefined,
      onTick: () => undefined,
    },
  });
  pacer.start();
  t.teardown(() => pacer.stop());
  const push = (frames: number) => pacer.push(pacer.epoch, 1, new Int16Array(frames * FRAME_SAMPLES));
  return {
    pacer,
    push,
    /** The process wakes so much later, as its timer would wake it. */
    wakeAfter: (ms: number) => {
      nowMs += ms;
      late.length = 0;
      pacer.endUnit(pacer.epoch, 0);
      return [...late];
    },
    take: () => late.splice(0),
  };
}

t.test('RT-43 a frame is as late as this process was asleep when it should have left', async (t) => {
  const { push, wakeAfter, take } = aPacer();
  push(200);
  t.same(take(), new Array(AT_ONCE).fill(0), 'the lead leaves at once, and is not late');
  t.same(wakeAfter(20), [0], 'on its place');
  t.same(wakeAfter(150), [130, 110, 90, 70, 50, 30, 10], 'a stall of 150 ms');
  const [first = 0, ...rest] = wakeAfter(500);
  // 350 ms lay ahead when it fell asleep, of which 200 are the lead: the next frame was due 10 ms later.
  t.equal(first, 490, 'a stall that is longer than the lead counts in full for the frame that it held up');
  t.same(rest, new Array(AT_ONCE - 1).fill(0), 'the others begin a grid of their own');
});

t.test('RT-43 audio that comes late, and a voice that was held, make no frame late', async (t) => {
  const { pacer, push, wakeAfter, take } = aPacer();
  push(1);
  take();
  wakeAfter(700);
  push(3);
  t.same(take(), [0, 0, 0], 'the voice was slow, not the pacer');
  wakeAfter(60);
  push(30);
  take();
  pacer.pause();
  wakeAfter(2_000);
  take();
  pacer.resume();
  t.ok(
    take().every((lateMs) => lateMs === 0),
    'nor was it late when it held back',
  );
});
