import t from 'tap';
import { FRAME_MS, FRAME_SAMPLES } from '../../../src/contracts/limits.ts';
import { seededRandom } from '../../harness/seeded-random.ts';
import { farEnd, numbered } from './far-end.ts';

t.test(
  'RT-14 RT-16 RT-17 whatever is pushed, paused, resumed and cut: no sample twice, none of a dead reply, and the ledger is what was heard',
  async (t) => {
    for (let seed = 1; seed <= 150; seed++) {
      const random = seededRandom(seed);
      const far = farEnd(random() < 0.5 ? {} : { idleLeadMs: 40 });
      far.pacer.start();
      t.teardown(() => far.pacer.stop());
      /** What was pushed in each life of the pacer, and what was heard by its end. */
      const lives: { from: number; pushed: number; heardFrom: number }[] = [
        { from: 1, pushed: 0, heardFrom: 0 },
      ];
      let next = 1;
      let unit = 1;
      const check = () => {
        const life = lives.at(-1);
        if (!life) return;
        const heard = far.values().slice(life.heardFrom);
        const expected = Array.from({ length: heard.length }, (_, at) => life.from + at);
        t.strictSame(heard, expected, `seed ${seed}: a prefix of what was pushed, in order`);
        t.ok(heard.length <= life.pushed);
      };
      for (let at = 0; at < 80; at++) {
        const pick = random();
        const life = lives.at(-1);
        if (!life) break;
        if (pick < 0.3) {
          const frames = 1 + Math.floor(random() * 12);
          far.pacer.push(far.pacer.epoch, unit, numbered(next, frames));
          next += frames;
          life.pushed += frames;
          if (random() < 0.5) far.pacer.endUnit(far.pacer.epoch, unit++);
        } else if (pick < 0.5) far.pause();
        else if (pick < 0.68) far.pacer.resume();
        else if (pick < 0.74) {
          const stale = far.pacer.epoch;
          far.clear();
          check();
          t.notOk(far.pacer.push(stale, unit, numbered(9_000, 2)), 'late audio of the dead reply is refused');
          unit++;
          lives.push({ from: next, pushed: 0, heardFrom: far.values().length });
        } else far.pass(Math.floor(random() * 300));
      }
      const last = lives.at(-1);
      far.pacer.endUnit(far.pacer.epoch, unit);
      far.pacer.resume();
      far.pass((last?.pushed ?? 0) * FRAME_MS + 1_000);
      check();
      t.equal(far.values().length - (last?.heardFrom ?? 0), last?.pushed, `seed ${seed}: the rest is whole`);
      const heardFrames = far.heard.filter((frame) => frame.value !== null).length;
      const ledger = [...far.ledger.values()].reduce((sum, samples) => sum + samples, 0);
      t.equal(ledger, far.counts.sent - far.counts.unsent);
      t.ok(ledger >= heardFrames * FRAME_SAMPLES, 'everything that was heard is in the ledger');
      t.equal(
        far.counts.sent,
        (heardFrames + far.counts.dropped) * FRAME_SAMPLES,
        `seed ${seed}: sent is heard plus dropped`,
      );
      far.pacer.stop();
    }
  },
);

t.test('RT-14 a far end that is behind the pacer hears from where it really was', async (t) => {
  const far = farEnd({ leadMs: 280 });
  far.pacer.start();
  t.teardown(() => far.pacer.stop());
  far.pacer.push(far.pacer.epoch, 1, numbered(1, 100));
  far.pass(600);
  const byPacer = far.pacer.playEndMs - far.now();
  // The far end keeps 100 ms against jitter.
  far.pacer.pause(far.now() - 100);
  t.equal(
    far.counts.unsent / FRAME_SAMPLES,
    Math.floor((byPacer + 100) / FRAME_MS),
    'those are sent again too',
  );
});

t.test(
  'RT-14 where the place of a pause is an estimate, the bot goes on from the last gap between words',
  async (t) => {
    /** Ten frames of a word, then one of silence. */
    const words = new Int16Array(66 * FRAME_SAMPLES);
    for (let at = 0; at < words.length; at++) {
      const frame = Math.floor(at / FRAME_SAMPLES);
      words[at] = frame % 11 === 10 ? 0 : Math.round(8_000 * Math.sin(at / 3));
    }
    const pausedAt = (rewindMs: number) => {
      const far = farEnd({ rewindMs });
      far.pacer.start();
      t.teardown(() => far.pacer.stop());
      far.pacer.push(far.pacer.epoch, 1, words);
      far.pass(590);
      far.pause();
      return (far.counts.sent - far.counts.unsent) / FRAME_SAMPLES;
    };
    const exact = pausedAt(0);
    t.ok(exact % 11 > 1 && exact % 11 < 10, `in the middle of a word: frame ${exact}`);
    t.equal(pausedAt(400) % 11, 10, 'the gap before that word');
    t.ok(exact - pausedAt(400) < 11, 'the nearest one');
    t.equal(pausedAt(40), exact, 'which lies further back than it may go: from the exact frame');
  },
);

t.test('a voice that comes back after a pause fades in, so that it does not click', async (t) => {
  const far = farEnd();
  far.pacer.start();
  t.teardown(() => far.pacer.stop());
  far.pacer.push(far.pacer.epoch, 1, new Int16Array(50 * FRAME_SAMPLES).fill(10_000));
  far.pass(200);
  far.pause();
  far.pass(100);
  const before = far.heard.length;
  far.pacer.resume();
  far.pass(400);
  const [first, ...rest] = far.heard.slice(before);
  t.equal(first?.first, 0, 'from nothing');
  t.equal(first?.value, 10_000, 'to full level within the frame');
  t.ok(rest.length > 10 && rest.every((frame) => frame.first === 10_000), 'and no later frame is touched');
});
