import t from 'tap';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../../src/contracts/limits.ts';
import { audioKernels } from '../../../src/platform/audio-kernels.ts';
import { Background, backgroundSettings } from '../../../src/slot/speak/background/background.ts';
import {
  type BackgroundSound,
  backgroundLoop,
  LOOP_LEVEL_DBFS,
} from '../../../src/slot/speak/background/background-loop.ts';
import { farEnd, framesOf, numbered } from './far-end.ts';

const SOUNDS: BackgroundSound[] = ['office', 'call_center', 'cafe', 'street'];
const level = (samples: Int16Array) => audioKernels().level(samples);
const SILENCE = new Int16Array(FRAME_SAMPLES);

t.test('RT-44 every background has its level, no seam, and stays below full scale', async (t) => {
  for (const sound of SOUNDS) {
    const loop = await backgroundLoop(sound);
    t.equal(await backgroundLoop(sound), loop, `${sound}: made once`);
    t.equal(loop.length, 20 * LINE_RATE_HZ);
    t.ok(Math.abs(level(loop) - LOOP_LEVEL_DBFS) < 0.2, `${sound}: ${level(loop).toFixed(1)} dBFS`);
    const peak = loop.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    t.ok(peak < 32_767, `${sound}: nothing is clipped, the peak is ${peak}`);
    for (let second = 0; second < 20; second++) {
      const dbfs = level(loop.subarray(second * LINE_RATE_HZ, (second + 1) * LINE_RATE_HZ));
      t.ok(Math.abs(dbfs - LOOP_LEVEL_DBFS) < 8, `${sound}: second ${second} has ${dbfs.toFixed(1)} dBFS`);
    }
    const steps = loop.map((sample, at) => Math.abs((loop[at + 1] ?? sample) - sample)).sort();
    const seam = Math.abs((loop[0] ?? 0) - (loop.at(-1) ?? 0));
    t.ok(seam <= (steps[Math.floor(steps.length * 0.999)] ?? 0), `${sound}: the seam is no step: ${seam}`);
  }
});

t.test(
  'RT-44 it comes in at its gain, steps back 6 dB under speech and returns, without a jump',
  async (t) => {
    const loop = await backgroundLoop('office');
    const background = new Background({ sound: 'office', gainDb: -30 }, Promise.resolve(loop), 0);
    await Promise.resolve();
    const seconds = (make: () => Int16Array, count: number) => {
      const all = new Int16Array(count * LINE_RATE_HZ);
      for (let at = 0; at < all.length; at += FRAME_SAMPLES) all.set(make(), at);
      return all;
    };
    const alone = seconds(() => background.alone(), 20);
    t.ok(Math.abs(level(alone) + 30) < 0.5, `alone ${level(alone).toFixed(1)} dBFS`);
    t.ok(Math.abs(alone[0] ?? 0) < 20, 'it begins from nothing');
    const under = seconds(() => background.under(SILENCE), 20);
    t.ok(Math.abs(level(under) + 36) < 0.5, `under speech ${level(under).toFixed(1)} dBFS`);
    const loud = new Int16Array(FRAME_SAMPLES).fill(32_700);
    t.ok(
      background.under(loud).every((sample) => sample > 30_000),
      'a loud voice saturates instead of wrapping round',
    );
  },
);

t.test('the settings of a bot are read leniently', async (t) => {
  t.equal(backgroundSettings(null), null);
  t.equal(backgroundSettings({ enabled: false, sound: 'cafe' }), null);
  t.same(backgroundSettings({ enabled: true }), { sound: 'office', gainDb: -28 });
  t.same(backgroundSettings({ enabled: true, sound: 'cafe', gain_db: -35 }), { sound: 'cafe', gainDb: -35 });
  t.same(backgroundSettings({ enabled: true, sound: 'beach' }), { sound: 'office', gainDb: -28 });
});

t.test('before its loop is made a line has the voice alone', async (t) => {
  const background = new Background({ sound: 'cafe', gainDb: -20 }, new Promise(() => undefined));
  const voice = new Int16Array(FRAME_SAMPLES).fill(77);
  t.same(background.under(voice), voice);
  t.ok(background.alone().every((sample) => sample === 0));
});

t.test('RT-44 RT-43 with a background the line never pauses, and speech waits for two frames', async (t) => {
  const far = farEnd({ idleLeadMs: 2 * FRAME_MS });
  far.pacer.start();
  t.teardown(() => far.pacer.stop());
  far.pass(1_000);
  t.notOk(far.pacer.isSpeaking, 'a background is no speech');
  t.ok(far.buffered() <= 3, `${far.buffered()} frames lie ahead`);
  const askedMs = far.now();
  far.pacer.push(far.pacer.epoch, 1, numbered(1, 50));
  far.pacer.endUnit(far.pacer.epoch, 1);
  t.ok(far.pacer.isSpeaking);
  far.pass(2_000);
  const first = far.heard.find((frame) => frame.value === 1);
  t.ok(
    (first?.playAtMs ?? 0) - askedMs <= 3 * FRAME_MS,
    `heard after ${(first?.playAtMs ?? 0) - askedMs} ms`,
  );
  far.pause();
  far.pass(500);
  far.pacer.resume();
  far.pass(500);
  const grid = far.heard.map((frame, at) => frame.playAtMs - at * FRAME_MS);
  t.ok(Math.max(...grid) - Math.min(...grid) < 0.001, 'one grid from beginning to end');
  t.ok(far.heard.length >= framesOf(3_900));
  t.same(
    far.values(),
    Array.from({ length: 50 }, (_, at) => at + 1),
  );
});

t.test('RT-44 the background goes on while the bot is paused or cut', async (t) => {
  const far = farEnd({ idleLeadMs: 40 });
  far.pacer.start();
  t.teardown(() => far.pacer.stop());
  far.pacer.push(far.pacer.epoch, 1, numbered(1, 100));
  far.pass(500);
  far.pause();
  const idleBefore = far.counts.idle;
  far.pass(1_000);
  t.ok(far.counts.idle - idleBefore >= framesOf(980));
  far.clear();
  const spoken = far.values().length;
  far.pass(1_000);
  t.equal(far.values().length, spoken, 'nothing of the bot');
  t.ok(far.counts.idle - idleBefore >= framesOf(1_960));
  for (let at = 0; at < 100; at++) {
    far.pause();
    far.pacer.resume();
    far.pacer.clear(false);
  }
  t.ok(far.buffered() <= 3, 'nothing piles up at the far end');
});

t.test('RT-44 RT-01 the background stops with the leg', async (t) => {
  const far = farEnd({ idleLeadMs: 40 });
  far.pacer.start();
  far.pass(100);
  far.pacer.stop();
  const { idle } = far.counts;
  far.pass(2_000);
  t.equal(far.counts.idle, idle);
});
