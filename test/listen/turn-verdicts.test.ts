import t from 'tap';
import { loadModelPath } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { TurnModel } from '../../src/slot/listen/turn-model.ts';
import { cutClip, humanClip, wideHumanClip } from './fixtures/human-clips.ts';

/** Complete above this (D-36). */
const THRESHOLD = 0.5;
/** Other processors round the int8 network differently by this much. */
const TOLERANCE = 0.1;
/** The pause after which voice activity calls the model. */
const SILENCE_MS = 200;
/** A busy test machine must not turn a slow verdict into one of the silence rule. */
const DEADLINE_MS = 20_000;

const SHARES = [1, 0.25, 0.4, 0.5, 0.6, 0.75];
const PROSE = 'librivox/sense_and_sensibility_01_austen_64kb-';
/**
 * Probability of "complete" for each share of each clip, measured with smart-turn 3.2. The first column is the whole
 * clip, the others break off at that share, wherever that is: a word, a pause, or a place where a speaker might have
 * finished. Null marks a place where the model is undecided: a change of one bit in the audio, of the level by 3 % or
 * of the cut by 3 samples moved its answer by more than 0.08.
 */
const EXPECTED: [clip: string, probabilities: (number | null)[]][] = [
  ['cards/001.wav', [0.99, null, 0.89, null, 0.98, 0.98]],
  ['cards/002.wav', [0.99, 0.96, null, 0.98, 0.95, 0.97]],
  ['cards/003.wav', [0.99, 0.87, 0.96, 0.95, 0.98, 0.98]],
  ['cards/004.wav', [0.92, 0.86, 0.91, 0.9, 0.94, 0.92]],
  ['cards/005.wav', [0.99, 0.93, 0.98, 0.93, 0.98, 0.97]],
  [`${PROSE}0870.wav`, [0.98, null, null, 0.92, 0.03, 0.97]],
  [`${PROSE}0880.wav`, [0.07, 0.1, null, 0.09, null, null]],
  [`${PROSE}0890.wav`, [0.93, 0.98, 0.96, null, null, 0.01]],
  [`${PROSE}0920.wav`, [0.98, 0.94, null, 0.87, 0.06, 0.97]],
  [`${PROSE}0930.wav`, [0.06, null, 0.04, 0.05, null, null]],
  ['goforward.raw', [0.99, 0.94, 0.96, 0.96, 0.97, 0.99]],
  ['numbers.raw', [null, 0.98, null, 0.01, null, 0.96]],
  ['something.raw', [0.99, 0.98, 0.09, null, null, 0.97]],
  ['tidigits/dhd.2934z.raw', [0.99, 0.99, 0.98, 0.97, 0.98, 0.99]],
];

t.test(
  'R9 the real turn model judges a fixed set of human clips as measured, at telephone rate',
  async (t) => {
    const model = await TurnModel.start({
      modelPath: await loadModelPath('smart-turn', projectPath('models')),
    });
    t.teardown(() => model.close());
    const whole = { right: 0, n: 0 };
    const brokenOff = { right: 0, n: 0 };
    const computeMs: number[] = [];
    for (const [name, expected] of EXPECTED) {
      const clip = humanClip(name);
      for (const [i, share] of SHARES.entries()) {
        const verdict = await model.judge(cutClip(clip, share, SILENCE_MS), DEADLINE_MS);
        if (verdict.decidedBy !== 'model') {
          t.fail(`${name} at ${share}: the silence rule decided (${verdict.reason}), the model must`);
          continue;
        }
        computeMs.push(verdict.computeMs);
        const tally = share === 1 ? whole : brokenOff;
        tally.n++;
        if (verdict.probability > THRESHOLD === (share === 1)) tally.right++;
        const wanted = expected[i] ?? null;
        if (wanted === null) continue;
        const label = `${name} at ${share}: ${verdict.probability.toFixed(3)}, measured ${wanted}`;
        t.ok(Math.abs(verdict.probability - wanted) <= TOLERANCE, label);
        t.equal(verdict.probability > THRESHOLD, wanted > THRESHOLD, `${label}, same verdict`);
      }
    }
    t.equal(whole.n + brokenOff.n, EXPECTED.length * SHARES.length, 'the model decided every clip');
    computeMs.sort((a, b) => a - b);
    t.comment(`whole clips called complete: ${describeRate(whole)}`);
    t.comment(
      `broken-off clips called incomplete: ${describeRate(brokenOff)}; places were not chosen by meaning`,
    );
    t.comment(`compute per verdict: median ${computeMs[computeMs.length >> 1]?.toFixed(1)} ms`);
  },
);

t.test(
  'R9 RT-62 the real turn model judges the same clips at 16 kHz, as a room hears them, no worse',
  async (t) => {
    const model = await TurnModel.start({
      modelPath: await loadModelPath('smart-turn', projectPath('models')),
    });
    t.teardown(() => model.close());
    const tally = {
      narrow: { whole: { right: 0, n: 0 }, brokenOff: { right: 0, n: 0 } },
      wide: { whole: { right: 0, n: 0 }, brokenOff: { right: 0, n: 0 } },
    };
    let otherVerdict = 0;
    for (const [name] of EXPECTED) {
      const clips = { narrow: humanClip(name), wide: wideHumanClip(name) };
      for (const share of SHARES) {
        const judged = {
          narrow: await model.judge(cutClip(clips.narrow, share, SILENCE_MS), DEADLINE_MS),
          wide: await model.judge(cutClip(clips.wide, share, SILENCE_MS, 16_000), DEADLINE_MS, 16_000),
        };
        const complete: boolean[] = [];
        for (const rate of ['narrow', 'wide'] as const) {
          const verdict = judged[rate];
          if (verdict.decidedBy !== 'model') throw new Error(`the silence rule decided (${verdict.reason})`);
          const count = tally[rate][share === 1 ? 'whole' : 'brokenOff'];
          count.n++;
          complete.push(verdict.probability > THRESHOLD);
          if (complete.at(-1) === (share === 1)) count.right++;
        }
        if (complete[0] !== complete[1]) otherVerdict++;
      }
    }
    for (const rate of ['narrow', 'wide'] as const) {
      t.comment(`${rate}: whole clips called complete: ${describeRate(tally[rate].whole)}`);
      t.comment(`${rate}: broken-off clips called incomplete: ${describeRate(tally[rate].brokenOff)}`);
    }
    t.comment(`${otherVerdict} of ${EXPECTED.length * SHARES.length} verdicts are others at 16 kHz`);
    const { narrow, wide } = tally;
    // Seven verdicts differ on the machine where this was measured, and another processor may add a few.
    t.ok(otherVerdict <= 16, 'it is the same judge');
    t.ok(wide.whole.right >= narrow.whole.right - 2, 'whole turns end');
    t.ok(wide.brokenOff.right >= narrow.brokenOff.right - 4, 'no more premature ends');
  },
);

/** The rate with its 95 % Wilson interval. */
function describeRate({ right, n }: { right: number; n: number }): string {
  const z = 1.96;
  const p = right / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  return `${right} of n=${n}, ${percent(p)} (95 % Wilson interval ${percent(middle - half)} to ${percent(middle + half)})`;
}
