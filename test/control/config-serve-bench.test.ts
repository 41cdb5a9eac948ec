import t from 'tap';
import { benchConfigServe, describeConfigServe } from '../../bench/config-serve.ts';

// A busy machine may need longer than the runner's usual limit for a file.
t.setTimeout(280_000);

t.test(
  'the control-plane bench runs, and every request of it is answered',
  { timeout: 280_000 },
  async (t) => {
    const figures = await benchConfigServe({ seconds: 0.3, rounds: 1, connections: 8, resultsPerRound: 200 });
    for (const line of describeConfigServe(figures).split('\n')) t.comment(line);
    const { frameworks, read, config, floor, results } = figures;
    for (const side of [...Object.values(frameworks), read, config, floor, results]) {
      t.ok(side.requestsPerSecond > 10);
      t.ok(side.p99Ms >= side.p50Ms);
    }
    t.ok(figures.bareSyncsPerSecond > 0);
  },
);
