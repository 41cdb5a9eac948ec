import t from 'tap';
import { benchConversation, describeConversation } from '../../bench/conversation.ts';
import type { BenchFleet } from '../../bench/fleet-run.ts';
import { describeRate, mostPerHour, rateOf } from '../../bench/rates.ts';

t.setTimeout(290_000);

t.test('the conversation bench in its quick form measures every figure', async (t) => {
  let fleet: BenchFleet | undefined;
  t.teardown(() => fleet?.stop());
  const plan = { calls: 2, atOnce: 2, roundsPerCall: 1, share: 0.03, noiseMinutes: 1 };
  const figures = await benchConversation(
    plan,
    (sentence) => t.comment(sentence),
    (started) => {
      fleet = started;
    },
  );
  for (const line of describeConversation(figures)) t.comment(line);
  t.same(
    figures.wires.map(({ wire }) => wire),
    ['json', 'partner'],
  );
  for (const wire of figures.wires) {
    t.equal(wire.openingMs.n, plan.calls);
    t.ok(wire.replyGapMs.n + wire.unanswered >= 2 * plan.calls, `${wire.replyGapMs.n} answers`);
    t.ok(wire.replyGapMs.n > wire.unanswered, 'most were answered');
    t.ok(wire.onsetToPauseMs.n + wire.missedBargeIns > 0, 'somebody broke in');
  }
  for (const set of Object.values(figures.turns)) {
    t.ok(set.natural.of > 0 && set.spliced.of > 0);
    t.ok(set.natural.count < set.natural.of, 'not every turn ends too early');
    t.ok((set.waitMsP50 ?? 0) > 100);
  }
  const { acoustics, both } = figures.turns;
  const rates = `${describeRate(acoustics.spliced)} by ear, ${describeRate(both.spliced)} with the words`;
  t.ok(
    3 * both.spliced.count < 2 * acoustics.spliced.count,
    `RT-04 words end fewer turns too early: ${rates}`,
  );
  t.ok(both.heardSpliced.count <= acoustics.heardSpliced.count, 'and callers hear fewer of them');
  const slower = (both.wholeWaitMsP50 ?? 0) - (acoustics.wholeWaitMsP50 ?? 0);
  t.ok(slower <= 20, `whole sentences wait ${slower} ms longer`);
  t.ok(figures.overlaps.missed.of > 0 && figures.overlaps.missed.count < figures.overlaps.missed.of);
  t.ok(figures.goals.length >= 8);
});

t.test('a rate comes with an interval that is honest for small numbers', async (t) => {
  t.match(rateOf(0, 0), { share: null, low: 0, high: 1 });
  const none = rateOf(0, 14);
  t.ok(none.low === 0 && none.high > 0.15 && none.high < 0.25, `${none.high}`);
  const half = rateOf(50, 100);
  t.ok(half.low > 0.39 && half.low < 0.41 && half.high > 0.59 && half.high < 0.61);
  t.match(describeRate(half), /^50\.0 % \(50 of 100; 95 %: 40\.\d % to 59\.\d %\)$/);
  t.equal(mostPerHour(0, 3), 1, 'none in three hours: at most one an hour');
});
