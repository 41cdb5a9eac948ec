import t from 'tap';
import { FRAME_SAMPLES } from '../../../src/contracts/limits.ts';
import { AgentMixer } from '../../../src/slot/handoff/agent-mixer.ts';
import { AgentAudio } from '../../../src/slot/handoff/agent-voices.ts';
import { HOLD_LEVEL_DBFS, holdMusic } from '../../../src/slot/handoff/hold-music.ts';
import { levelDbfs } from '../../stack/correlate.ts';

/** So many ms of a steady value at 16 kHz: what comes out at 8 kHz is the same value. */
function steady(value: number, ms: number): Int16Array {
  return new Int16Array(ms * 16).fill(value);
}

function mixer() {
  const frames: Int16Array[] = [];
  const mix = new AgentMixer((frame) => frames.push(Int16Array.from(frame)));
  return { mix, frames };
}

t.test('R25 two people of a room are heard together', async (t) => {
  const { mix, frames } = mixer();
  mix.add('agent-1');
  mix.add('supervisor-1');
  for (let at = 0; at < 10; at++) {
    mix.heard('agent-1', steady(1_000, 20));
    mix.heard('supervisor-1', steady(500, 20));
  }
  t.equal(frames.length, 10);
  t.equal(frames.at(-1)?.[80], 1_500);
});

t.test('somebody whose audio is late does not keep the others waiting for long', async (t) => {
  const { mix, frames } = mixer();
  mix.add('agent-1');
  mix.add('agent-2');
  for (let at = 0; at < 10; at++) mix.heard('agent-1', steady(1_000, 20));
  t.ok(frames.length >= 6, `${frames.length} of 10 frames left without the other`);
  t.equal(frames.at(-1)?.[80], 1_000);
});

t.test('pieces of any length come out as frames; nobody who is not there is heard', async (t) => {
  const { mix, frames } = mixer();
  mix.heard('agent-1', steady(1_000, 100));
  t.equal(frames.length, 0);
  mix.add('agent-1');
  for (let at = 0; at < 20; at++) mix.heard('agent-1', steady(1_000, 7));
  t.equal(frames.length, 7);
  mix.remove('agent-1');
  mix.heard('agent-1', steady(1_000, 100));
  t.equal(frames.length, 7);
});

t.test('two loud people do not overflow', async (t) => {
  const { mix, frames } = mixer();
  mix.add('a');
  mix.add('b');
  for (let at = 0; at < 5; at++) {
    mix.heard('a', steady(30_000, 20));
    mix.heard('b', steady(30_000, 20));
  }
  t.equal(frames.at(-1)?.[80], 32_767);
});

t.test('R25 a live stream begins with a cushion, and leaves out what would be heard too late', async (t) => {
  const line = {
    aheadMs: 0,
    frames: [] as Int16Array[],
    stream(frame: Int16Array) {
      line.frames.push(frame);
      line.aheadMs += 20;
    },
  };
  const audio = new AgentAudio(line);
  const reused = new Int16Array(FRAME_SAMPLES);
  audio.frame(reused.fill(1));
  audio.frame(reused.fill(2));
  t.equal(line.frames.length, 0);
  audio.frame(reused.fill(3));
  t.strictSame(
    line.frames.map(([first]) => first),
    [1, 2, 3],
    'the memory of a frame may be used again',
  );
  line.aheadMs = 40;
  audio.frame(reused.fill(4));
  t.equal(line.frames.length, 4, 'then each frame goes at once');
  line.aheadMs = 0;
  audio.frame(reused);
  t.equal(line.frames.length, 4, 'a stream that ran dry gathers anew');
  line.aheadMs = 400;
  for (let left = 0; left < 5; left++) audio.frame(reused);
  t.equal(line.frames.length, 4, 'what would be heard too late is left out');
});

t.test('RT-37 the music is quiet, has no seam and begins from nothing', async (t) => {
  const music = await holdMusic();
  t.equal(music.length % FRAME_SAMPLES, 0, 'whole frames');
  t.ok(Math.abs(levelDbfs(music) - HOLD_LEVEL_DBFS) < 0.5, `${levelDbfs(music).toFixed(1)} dBFS`);
  t.ok(
    music.every((value) => Math.abs(value) < 16_000),
    'far from full scale',
  );
  t.ok(Math.abs(music[0] ?? 1) < 10 && Math.abs(music.at(-1) ?? 1) < 10);
  t.equal(await holdMusic(), music, 'made once');
});
