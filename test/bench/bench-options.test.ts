import t from 'tap';
import { BENCH_HELP, readBenchOptions } from '../../bench/bench-options.ts';
import { readBudget } from '../../bench/judge-run.ts';

t.test('without arguments the bench places sixteen calls on sixteen slots, in both framings', async (t) => {
  const options = readBenchOptions([]);
  if (options === 'help') return t.fail('help was not asked for');
  t.match(options, {
    part: 'both',
    records: 1_000_000,
    form: 'full',
    out: null,
    plan: { calls: 16, slots: 16, framings: ['json', 'binary'] },
  });
});

t.test('the help names every argument', async (t) => {
  t.equal(readBenchOptions(['--help']), 'help');
  for (const name of [
    'part',
    'records',
    'calls',
    'slots',
    'seconds',
    'framing',
    'rounds',
    'seed',
    'out',
    'smoke',
    'quick',
  ]) {
    t.match(BENCH_HELP, new RegExp(`--${name}\\b`), name);
  }
});

t.test('a wrong argument is refused by a sentence that names it', async (t) => {
  t.throws(() => readBenchOptions(['--calls', 'many']), /--calls "many" is not a whole number from 1 to 256/);
  t.throws(() => readBenchOptions(['--calls', '8', '--slots', '4']), /--slots 4 cannot carry --calls 8/);
  t.throws(() => readBenchOptions(['--framing', 'text']), /--framing "text"/);
  t.throws(() => readBenchOptions(['--cals', '8']), /cals/);
  t.throws(
    () => readBenchOptions(['--part', 'none']),
    /--part "none" is neither calls, plane, records, providers, conversation, echo, rooms nor both/,
  );
});

t.test('--rooms is the part of room calls: more and more of them, or as many as --calls says', async (t) => {
  const options = readBenchOptions(['--rooms']);
  if (options === 'help') return t.fail('no options');
  t.equal(options.part, 'rooms');
  t.ok(options.roomsPlan.steps.includes(6), 'six at once are tried');
  t.same(
    options.roomsPlan.steps,
    [...options.roomsPlan.steps].sort((a, b) => a - b),
  );
  const one = readBenchOptions(['--rooms', '--calls', '3', '--seconds', '9']);
  if (one === 'help') return t.fail('no options');
  t.same([one.roomsPlan.steps, one.roomsPlan.measureMs], [[3], 9_000]);
});

t.test('both forms have limits, and the short one is the more generous', async (t) => {
  const full = readBudget('full');
  const short = readBudget('short');
  for (const key of ['latenessP50Ratio', 'latenessP99Ratio', 'cpuPerFrameRatio'] as const) {
    t.ok(full[key] > 1 && short[key] >= full[key], key);
  }
});
