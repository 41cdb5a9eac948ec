import t from 'tap';
import { type BenchResult, runBench } from '../../bench/bench-run.ts';
import type { BenchFleet } from '../../bench/fleet-run.ts';
import { judgeRun, readBudget } from '../../bench/judge-run.ts';

/**
 * The bench in its short form: the real appliance, four calls over the real wire, in turns with the bare loops. Only
 * ratios and counts are asserted, because absolute times are the machine's.
 */
const PLAN = {
  calls: 4,
  slots: 4,
  framings: ['json'],
  rounds: 3,
  warmUpMs: 500,
  measureMs: 7_000,
  bareMs: 2_000,
  idleMs: 300,
  calmCalls: 2,
  seed: 7,
} as const;
/** It takes about 45 s; a machine that is six times as slow is still not broken. */
const TIMEOUT_MS = 280_000;
t.setTimeout(TIMEOUT_MS);

t.test(
  'four calls at once: no frame is missing, doubled or sent after clear, near the bare loops',
  async (t) => {
    // A test that runs out of time must not leave a fleet behind.
    let fleet: BenchFleet | undefined;
    t.teardown(() => fleet?.stop());
    const result = await runBench(
      PLAN,
      (sentence) => t.comment(sentence),
      (started) => {
        fleet = started;
      },
    );
    t.comment(JSON.stringify(result.ratios));
    const verdict = judgeRun(result, readBudget('short'));
    t.same(verdict.failures, []);
    const { fleets } = result;
    t.equal(fleets.length, PLAN.rounds);
    for (const { dialler } of fleets) {
      t.ok(dialler.counts.received > 4 * 50, `${dialler.counts.received} frames came`);
      t.ok(dialler.lateness.count > 100, `${dialler.lateness.count} of them tell about pacing`);
    }
    const bargeIns = fleets.reduce((sum, { dialler }) => sum + dialler.bargeIn.count, 0);
    t.ok(bargeIns > 0, `${bargeIns} callers interrupted their bot, so clear was put to the test`);
    const answers = fleets.reduce((sum, { dialler }) => sum + dialler.response.count, 0);
    t.ok(answers > 0, `${answers} answers followed what a caller said`);
    t.test('the verdict fails a run whose frames are not whole or whose cost has grown', async (t) => {
      const failuresOf = (spoil: (copy: BenchResult) => void) => {
        const copy = structuredClone(result);
        spoil(copy);
        return judgeRun(copy, readBudget('short')).failures;
      };
      for (const key of ['missing', 'doubled', 'afterClear', 'damaged'] as const) {
        t.equal(failuresOf((copy) => bump(copy, key)).length, 1, key);
      }
      t.match(
        failuresOf((copy) => {
          for (const ratios of copy.ratios) ratios.cpuPerFrame *= 10;
        }),
        [/CPU per frame/],
      );
      t.match(
        failuresOf((copy) => {
          for (const ratios of copy.ratios) ratios.latenessP50 *= 10;
        }),
        [/lateness at p50/],
      );
    });
  },
);

function bump(result: BenchResult, key: 'missing' | 'doubled' | 'afterClear' | 'damaged'): void {
  const fleet = result.fleets[0];
  if (fleet) fleet.dialler.counts[key] += 1;
}
