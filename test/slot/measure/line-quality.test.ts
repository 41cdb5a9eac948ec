import t from 'tap';
import type { LineFacts } from '../../../src/contracts/call-measures.ts';
import { clippedSamples, judgeLine, LineQuality } from '../../../src/slot/measure/line-quality.ts';

const GOOD: LineFacts = {
  speech_dbfs: -22,
  noise_dbfs: -60,
  clipped_share: 0,
  missing_ms: 0,
  late_packets: 0,
  packets: 3_000,
  lateness_p95_ms: 15,
  jitter_ms: 2,
  echoes: 0,
  echo_delay_ms: null,
  echo_loss_db: null,
  mark_delay_ms: 60,
};
const SMOOTH = {
  packets: 500,
  latePackets: 0,
  missingMs: 0,
  receivedMs: 10_000,
  latenessP95Ms: 5,
  jitterMs: 1,
};
const NO_ECHO = { echoes: 0, delayMs: null, lossDb: null };

t.test(
  'a good line has a hundred, and each fault alone shows in its own part and in the score',
  async (t) => {
    const good = judgeLine(GOOD, 60_000);
    t.equal(good.score, 100);
    t.same(good.parts, { level: 100, noise: 100, clipping: 100, gaps: 100, jitter: 100, echo: 100 });
    const faults = {
      level: { speech_dbfs: -50, noise_dbfs: -90 },
      noise: { noise_dbfs: -32 },
      clipping: { clipped_share: 0.01 },
      gaps: { missing_ms: 2_000 },
      jitter: { lateness_p95_ms: 180 },
      echo: { echoes: 4, echo_loss_db: 10, echo_delay_ms: 300 },
    } as const;
    for (const [part, change] of Object.entries(faults)) {
      const { score, parts } = judgeLine({ ...GOOD, ...change }, 60_000);
      for (const [name, value] of Object.entries(parts)) {
        if (name === part) t.ok((value ?? 100) < 60, `${name} falls to ${value}`);
        else t.equal(value, 100, `${name} is not touched by ${part}`);
      }
      t.ok((score ?? 100) < 80, `the score falls to ${score}`);
    }
  },
);

t.test('the worse a line, the lower its score', async (t) => {
  let former = 101;
  for (const noise of [-60, -44, -38, -34, -30, -28]) {
    const score = judgeLine({ ...GOOD, noise_dbfs: noise }, 60_000).score ?? -1;
    t.ok(score <= former, `${score} at ${noise} dB`);
    former = score;
  }
  t.ok(former < 60);
});

t.test('a call without a word of the caller has no score, and says why', async (t) => {
  const quality = new LineQuality();
  for (let window = 0; window < 200; window++) quality.window(-60, false);
  const { score, parts, facts } = quality.report(SMOOTH, NO_ECHO);
  t.equal(score, null);
  t.equal(parts.level, null);
  t.equal(parts.jitter, 100, 'what can be judged is judged');
  t.equal(facts.speech_dbfs, null);
  t.equal(facts.noise_dbfs, -60);
});

t.test('levels, clipping and marks come out as they were put in', async (t) => {
  const quality = new LineQuality();
  for (let window = 0; window < 300; window++) quality.window(-20 - (window % 5), true);
  for (let window = 0; window < 300; window++) quality.window(-55, false);
  const clipped = new Int16Array(1_000);
  clipped.fill(32_124, 100, 110);
  quality.heard(clipped);
  quality.heard(new Int16Array(9_000));
  for (const delay of [40, 60, 50, 400, 55]) quality.markEchoed(delay);
  const { facts } = quality.report(SMOOTH, { echoes: 2, delayMs: 180, lossDb: 22 });
  t.match(facts, {
    speech_dbfs: -22,
    noise_dbfs: -55,
    clipped_share: 0.001,
    mark_delay_ms: 55,
    echoes: 2,
    echo_delay_ms: 180,
    echo_loss_db: 22,
    packets: 500,
    jitter_ms: 1,
  });
});

t.test(
  'a single loud sample is a peak, a run of them is clipping, also to the end of a packet',
  async (t) => {
    t.equal(clippedSamples(Int16Array.of(0, 32_000, 0, -32_768, -32_768, 0)), 0);
    t.equal(clippedSamples(Int16Array.of(0, 32_000, 32_000, 32_000, 0)), 3);
    t.equal(clippedSamples(Int16Array.of(0, -32_000, -32_000, -32_000, -32_768)), 4);
  },
);
