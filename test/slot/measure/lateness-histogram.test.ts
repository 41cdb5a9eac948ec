import t from 'tap';
import { JITTER_EDGES_MS } from '../../../src/contracts/call-measures.ts';
import { LatenessHistogram } from '../../../src/slot/measure/lateness-histogram.ts';

t.test('RT-43 lateness is counted between the edges, and beyond the last one', async (t) => {
  const histogram = new LatenessHistogram();
  for (const edgeMs of [0, ...JITTER_EDGES_MS]) histogram.add(edgeMs);
  t.same(histogram.counts(), [1, ...JITTER_EDGES_MS.map(() => 1)], 'what is as late as an edge is beyond it');
  histogram.add(-3);
  histogram.add(60_000);
  t.equal(histogram.counts()[0], 2, 'early is on time');
  t.equal(histogram.counts().at(-1), 2);
  t.equal(histogram.total, JITTER_EDGES_MS.length + 3);
});
