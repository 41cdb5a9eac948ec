import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test as TestContext } from 'tap';
import { readWav } from '../../src/platform/wav.ts';
import { Recorder } from '../../src/slot/record/recorder.ts';
import { tempFolder } from '../harness/temp-folder.ts';

async function record(t: TestContext, play: (recorder: Recorder) => void | Promise<void>) {
  const folder = tempFolder();
  const path = join(folder, 'recording.wav');
  const recorder = await Recorder.create(path, (error) => t.fail(error.message));
  await play(recorder);
  const kept = await recorder.close();
  const wav = readWav(readFileSync(path));
  const channel = (which: 0 | 1) => wav.samples.filter((_, i) => i % 2 === which);
  return { kept, wav, left: channel(0), right: channel(1) };
}

t.test('RT-64 left is the caller, right is the bot, both where they were on the line clock', async (t) => {
  const { wav, left, right, kept } = await record(t, (recorder) => {
    for (let frame = 0; frame < 200; frame++) {
      recorder.caller(new Int16Array(160).fill(frame + 1));
      // The bot's frames run 200 ms ahead of the clock, as the pacer sends them.
      if (frame >= 50 && frame < 60) recorder.bot(new Int16Array(160).fill(-frame), 160 * (frame + 10));
    }
  });
  t.ok(kept);
  t.equal(wav.channels, 2);
  t.equal(wav.sampleRate, 8000);
  t.equal(left.length, 32_000, 'every received sample, none more');
  t.ok(left.every((value, i) => value === Math.floor(i / 160) + 1));
  t.ok(right.every((value, i) => value === (i >= 9600 && i < 11_200 ? -Math.floor(i / 160) + 10 : 0)));
});

t.test('RT-64 what the far end dropped at a clear is not in the recording', async (t) => {
  const { right } = await record(t, (recorder) => {
    recorder.caller(new Int16Array(1600));
    for (let frame = 0; frame < 20; frame++) recorder.bot(new Int16Array(160).fill(9), 1600 + frame * 160);
    recorder.caller(new Int16Array(800));
    recorder.cutBot();
    recorder.caller(new Int16Array(8000));
  });
  t.ok(
    right.subarray(1600, 2400).every((value) => value === 9),
    'heard until the cut',
  );
  t.ok(
    right.subarray(2400).every((value) => value === 0),
    'silent from it on',
  );
});

t.test(
  'a caller who stops sending leaves silence of the right length, and odd frame sizes change nothing',
  async (t) => {
    const { left } = await record(t, (recorder) => {
      recorder.caller(new Int16Array(333).fill(1));
      recorder.gap(20_001);
      recorder.caller(new Int16Array(7).fill(2));
    });
    t.equal(left.length, 333 + 20_001 + 7);
    t.equal(left.at(-1), 2);
    t.ok(left.subarray(333, 20_334).every((value) => value === 0));
  },
);

t.test('a long call comes out whole, long after the rings have gone round', async (t) => {
  const block = new Int16Array(8000);
  const { left } = await record(t, async (recorder) => {
    for (let second = 0; second < 120; second++) {
      recorder.caller(block.fill(second));
      // Writes are asynchronous; a real call leaves them a second each.
      if (second % 4 === 3) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  t.equal(left.length, 120 * 8000);
  t.ok([0, 59, 119].every((second) => left[second * 8000 + 4000] === second));
});
