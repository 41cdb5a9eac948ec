import fc from 'fast-check';
import t from 'tap';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import type { ProviderTrouble } from '../../../src/providers/contract/provider-context.ts';
import { AudioOutlet } from '../../../src/providers/stt/audio-outlet.ts';

const RATE = 8_000;
const CHUNK_MS = 50;
const CHUNK = (RATE * CHUNK_MS) / 1_000;
/** Sample `n` of the caller has the value `n % CYCLE + 1`, so that silence of the outlet's own is told apart. */
const CYCLE = 30_000;

/** An outlet on a line that a test congests at will; what was sent is read back sample by sample. */
function lineOf() {
  const reports: ProviderTrouble[] = [];
  const sent: number[] = [];
  const line = { congested: false, chunks: [] as number[] };
  const outlet = new AudioOutlet({
    context: { sampleRate: RATE, clock: realClock, report: (trouble) => reports.push(trouble) },
    provider: 'test',
    chunkMs: CHUNK_MS,
    send(chunk, evenIfCongested) {
      if (line.congested && !evenIfCongested) return false;
      line.chunks.push(chunk.length / 2);
      for (let at = 0; at < chunk.length; at += 2) sent.push(chunk.readInt16LE(at));
      return true;
    },
  });
  const feed = (samples: number) => {
    const from = outlet.fedSamples;
    outlet.feed(Int16Array.from({ length: samples }, (_, n) => ((from + n) % CYCLE) + 1));
  };
  return { outlet, line, sent, reports, feed };
}

t.test('audio leaves in whole chunks, in order, and nothing is lost on a line that takes it', async (t) => {
  const { outlet, line, sent, reports, feed } = lineOf();
  for (const samples of [160, 160, 1, 159, 5_000, 79]) feed(samples);
  t.ok(line.chunks.every((chunk) => chunk === CHUNK));
  outlet.flush();
  t.equal(sent.length, outlet.fedSamples);
  t.ok(sent.every((value, n) => value === (n % CYCLE) + 1));
  outlet.flush();
  t.ok(
    line.chunks.every((chunk) => chunk > 0),
    'an empty chunk is never sent',
  );
  t.same(reports, []);
});

t.test('a flood longer than what is kept passes whole through an open line', async (t) => {
  const { outlet, sent, reports, feed } = lineOf();
  feed(10 * RATE);
  outlet.flush();
  t.equal(sent.length, 10 * RATE);
  t.same(reports, []);
});

t.test('a congested line keeps the newest two seconds and tells once what went', async (t) => {
  const { outlet, line, sent, reports, feed } = lineOf();
  line.congested = true;
  for (let frame = 0; frame < 250; frame++) feed(160);
  t.equal(sent.length, 0);
  line.congested = false;
  outlet.pump();
  outlet.flush();
  const dropped = 250 * 160 - sent.length;
  t.ok(Math.abs(sent.length - 2 * RATE) <= CHUNK, `${sent.length} samples were kept`);
  t.same(reports, [
    { event: 'provider_audio_dropped', provider: 'test', family: 'stt', dropped_ms: dropped / 8 },
  ]);
  t.equal(outlet.fedSampleAt(0), dropped, 'the vendor’s zero is the first sample that it heard');
  outlet.reportDropped();
  t.equal(reports.length, 1);
});

t.test(
  'the vendor’s clock is told as samples of the call, through drops and silence of our own',
  async (t) => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 900 }).map((samples) => ({ feed: samples })) },
      { weight: 1, arbitrary: fc.boolean().map((congested) => ({ congested })) },
      { weight: 1, arbitrary: fc.constant({ silence: true }) },
      { weight: 1, arbitrary: fc.constant({ flush: true }) },
      { weight: 1, arbitrary: fc.constant({ feed: 3 * RATE }) },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { outlet, line, sent, feed } = lineOf();
        for (const act of actions) {
          if ('feed' in act) feed(act.feed);
          else if ('congested' in act) {
            line.congested = act.congested;
            if (!act.congested) outlet.pump();
          } else if ('silence' in act) outlet.sendSilence();
          else outlet.flush();
        }
        if (sent.length !== outlet.sentSamples) throw new Error('what was sent is counted wrongly');
        let before = 0;
        for (let at = 0; at < sent.length; at += 37) {
          const told = outlet.fedSampleAt(at / RATE);
          if (told < before) throw new Error(`time went back at ${at}`);
          before = told;
          if (told > outlet.fedSamples) throw new Error('more than was fed');
          const value = sent[at] as number;
          if (value !== 0 && (told % CYCLE) + 1 !== value) throw new Error(`sample ${at} is told as ${told}`);
        }
      }),
      { seed: 20261120, numRuns: 200 },
    );
    t.pass('200 runs');
  },
);

t.test('times that a vendor makes up stay within what was fed', async (t) => {
  const { outlet, feed } = lineOf();
  feed(1_000);
  outlet.flush();
  t.equal(outlet.fedSampleAt(-5), 0);
  t.equal(outlet.fedSampleAt(1e9), 1_000);
});
