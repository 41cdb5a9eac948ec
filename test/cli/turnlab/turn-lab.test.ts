import t from 'tap';
import { compareTurns, drawTurns, drawTurnsSvg, TurnLab } from '../../../src/cli/turnlab/turn-lab.ts';
import { projectPath } from '../../../src/platform/project-paths.ts';
import { humanSpeech } from '../../harness/human-speech.ts';

const SECOND = 8_000;
const lab = await TurnLab.open(process.env.MODEL_DIR ?? projectPath('models'), { turnModel: true });
t.teardown(() => lab.close());
const speech = humanSpeech('goforward.raw').slice(3_000, 18_000);

/** A recording of 20 s: pieces of the caller at these seconds, and the bot as a tone between two. */
function recording(caller: { at: number; samples: Int16Array }[], bot?: { from: number; to: number }) {
  const sides = { caller: new Int16Array(20 * SECOND), bot: new Int16Array(20 * SECOND) };
  for (const { at, samples } of caller) sides.caller.set(samples, at * SECOND);
  if (bot) {
    for (let at = bot.from * SECOND; at < bot.to * SECOND; at++) sides.bot[at] = at % 16 < 8 ? 3_000 : -3_000;
  }
  return sides;
}

t.test('a recorded call is heard again: turns end where the caller stopped', async (t) => {
  const heard = await lab.hear(
    recording([
      { at: 1, samples: speech },
      { at: 10, samples: speech },
    ]),
  );
  const replay = await lab.replay(heard, { vad: {} });
  t.equal(replay.turns.length, 2);
  const [first, second] = replay.turns;
  t.ok(first && first.from > 0.8 * SECOND && first.decidedAt > first.to && first.decidedAt < 5 * SECOND);
  t.ok(second && second.from > 9.8 * SECOND);
  t.equal(first?.decidedBy, 'model');
  t.same(await lab.replay(heard, { vad: {} }), replay, 'the same again');
});

t.test('longer silence avoids a cut-in and costs its wait', async (t) => {
  const half = speech.length >> 1;
  const pieces = [
    { at: 1, samples: speech.slice(0, half) },
    { at: 1 + half / SECOND + 0.9, samples: speech.slice(half) },
  ];
  const heard = await lab.hear(recording(pieces));
  const off = { turn_model: 'off' as const };
  const before = await lab.replay(heard, { vad: { ...off, turn_silence_ms: 500 } });
  const after = await lab.replay(heard, { vad: { ...off, turn_silence_ms: 1_400 } });
  t.equal(before.turns.length, 2);
  t.equal(after.turns.length, 1);
  const comparison = compareTurns(before, after);
  t.match(comparison, { cutInsAvoided: 1, cutInsAdded: 0, before: { cutIns: 1 }, after: { cutIns: 0 } });
  t.ok((comparison.addedWaitMs ?? 0) > 800 && (comparison.addedWaitMs ?? 0) < 1_000, 'of the end in both');
});

t.test('a sentence over the bot takes the floor, a short sound only pauses it', async (t) => {
  const bot = { from: 2, to: 12 };
  const sentence = await lab.replay(await lab.hear(recording([{ at: 4, samples: speech }], bot)), {
    vad: {},
  });
  t.equal(sentence.overlaps.length, 1);
  const [overlap] = sentence.overlaps;
  t.ok(overlap?.heldAt && overlap.cutAt && overlap.cutAt > overlap.heldAt);
  const short = recording([{ at: 4, samples: speech.slice(0, 0.4 * SECOND) }], bot);
  const replay = await lab.replay(await lab.hear(short), { vad: {} });
  t.equal(replay.overlaps[0]?.cutAt ?? null, null);
  t.equal(replay.turns.length, 0, 'and it is no turn');
  const patient = await lab.replay(await lab.hear(short), { vad: { interruption_ms: 2_000 } });
  t.equal(patient.overlaps[0]?.heldAt ?? null, null, 'a longer hold does not even pause');
});

t.test('the charts show bot, caller and every end of a turn', async (t) => {
  const heard = await lab.hear(recording([{ at: 1, samples: speech }], { from: 6, to: 8 }));
  const replay = await lab.replay(heard, { vad: {} });
  const both = [
    { name: 'before', replay },
    { name: 'a<b', replay },
  ];
  const lines = drawTurns(both);
  t.match(
    lines.find((line) => line.startsWith('bot')),
    /=+/,
  );
  t.match(
    lines.find((line) => line.startsWith('caller')),
    /#+/,
  );
  t.match(
    lines.find((line) => line.startsWith('before')),
    /\|/,
  );
  const svg = drawTurnsSvg(both);
  t.match(svg, /^<svg[\s\S]*<\/svg>\n$/);
  t.notMatch(svg, /a<b/);
});
