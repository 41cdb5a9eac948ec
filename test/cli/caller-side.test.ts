import fc from 'fast-check';
import t from 'tap';
import { bytesToSamples, samplesToBytes, toLine } from '../../src/cli/caller-audio.ts';
import type { ClipOutcome, LoadedClip } from '../../src/cli/demo/conversation.ts';
import { describeRate, isRecognised, judgeClips, misses, voicedMs } from '../../src/cli/demo/verdict.ts';
import { LinePlayout } from '../../src/cli/line-playout.ts';
import { nearest } from '../../src/cli/nearest.ts';
import { SoundTrack, stereoWav } from '../../src/cli/sound-track.ts';
import { endOfSpeech, levelDbfs, VoiceTracker } from '../../src/cli/voice-tracker.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { readWav } from '../../src/platform/wav.ts';
import { toneFrame } from './far-end.ts';

const SEED = 20_261_120;

t.test(
  'whatever arrives in whatever pieces is played in order, whole, with each mark behind its audio',
  async (t) => {
    const item = fc.oneof(
      fc.record({ samples: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ mark: fc.string({ minLength: 1, maxLength: 3 }) }),
      fc.record({ ticks: fc.integer({ min: 1, max: 5 }) }),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), (items) => {
        const playout = new LinePlayout(40);
        const heard: number[] = [];
        const marksAt: [string, number][] = [];
        const due: [string, number][] = [];
        let next = 1;
        const tick = () => {
          const frame = playout.tick();
          for (const sample of frame.samples) if (sample !== 0) heard.push(sample);
          for (const mark of frame.marks) marksAt.push([mark, heard.length]);
        };
        for (const step of items) {
          if ('samples' in step) {
            playout.pushAudio(
              Int16Array.from({ length: step.samples }, () => ((next++ - 1) % 30_000) + 1),
              0,
            );
          } else if ('mark' in step) {
            playout.pushMark(step.mark);
            due.push([step.mark, next - 1]);
          } else for (let i = 0; i < step.ticks; i++) tick();
        }
        for (let i = 0; i < 400; i++) tick();
        if (heard.some((sample, index) => sample !== (index % 30_000) + 1) || heard.length !== next - 1)
          return false;
        // A mark is told with the tick that plays the last sample before it, and never earlier.
        return (
          marksAt.length === due.length &&
          marksAt.every(([name, at], index) => name === due[index]?.[0] && at >= (due[index]?.[1] ?? 0))
        );
      }),
      { seed: SEED, numRuns: 200 },
    );
    t.pass('200 random arrivals');
  },
);

t.test('a full jitter buffer drops what comes', async (t) => {
  const playout = new LinePlayout(0);
  for (let second = 0; second < 125; second++) playout.pushAudio(new Int16Array(8000), 0);
  t.equal(playout.queuedMs, 120_000);
  t.same(playout.clear(), { droppedMs: 120_000, marks: [] });
});

t.test('a sound track keeps up to its end', async (t) => {
  const track = new SoundTrack(1500);
  for (let i = 0; i < 100; i++) track.append(toneFrame());
  t.equal(track.samples.length, 12_000);
  const wav = readWav(stereoWav(track.samples, new Int16Array(10)));
  t.equal(wav.samples.length, 24_000);
  t.ok(voicedMs(wav, 0) > 1400 && voicedMs(wav, 1) === 0);
});

t.test('samples survive the way through bytes', async (t) => {
  fc.assert(
    fc.property(fc.int16Array({ maxLength: 400 }), (samples) => {
      t.same(bytesToSamples(samplesToBytes(samples)), samples);
    }),
    { seed: SEED, numRuns: 50 },
  );
});

t.test('recordings of other rates and channels become 8 kHz mono of the same length and level', async (t) => {
  for (const sampleRate of [8000, 16_000, 44_100, 48_000]) {
    const samples = new Int16Array(sampleRate * 2);
    for (let i = 0; i < sampleRate; i++) {
      const value = Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / sampleRate));
      samples[2 * i] = value;
      samples[2 * i + 1] = value;
    }
    const line = toLine({ sampleRate, channels: 2, samples });
    t.ok(Math.abs(line.length - 8000) <= 40, `${sampleRate} Hz became ${line.length} samples`);
    t.ok(Math.abs(levelDbfs(line) - levelDbfs(toneFrame(50))) < 0.3, 'the level stays');
  }
});

t.test('the end of speech is the last loud frame, not the noise behind it', async (t) => {
  const clip = new Int16Array(8000);
  clip.set(toneFrame(20), 800);
  for (let i = 4000; i < 8000; i++) clip[i] = i % 2 === 0 ? 150 : -150;
  t.equal(endOfSpeech(clip), 4000);
  t.equal(endOfSpeech(new Int16Array(8000)), 0);
});

t.test('voice begins with its first loud frame and ends with its last, after a pause', async (t) => {
  const tracker = new VoiceTracker();
  const changes: unknown[] = [];
  for (let frame = 0; frame < 100; frame++) {
    const loud = (frame >= 10 && frame < 20) || (frame >= 40 && frame < 45);
    const change = tracker.take(loud ? toneFrame() : new Int16Array(160), frame * 20);
    if (change) changes.push(change);
  }
  t.same(changes, [
    { change: 'started', atMs: 200 },
    { change: 'stopped', atMs: 880 },
  ]);
});

t.test('the nearest command is the one that is likely meant', async (t) => {
  const known = ['start', 'demo', 'call', 'models', 'doctor'];
  t.equal(nearest('docter', known), 'doctor');
  t.equal(nearest('strat', known), 'start');
  t.equal(nearest('mod', known), 'models');
  t.equal(nearest('backup', known), null);
});

t.test('rates are printed with n and an interval', async (t) => {
  t.equal(describeRate(14, 14), '14 of 14 (100 %; n=14, 95 % interval 78-100 %)');
  t.equal(describeRate(0, 0), '0 of 0');
  t.match(describeRate(7, 14), /50 %; n=14, 95 % interval 27-73 %/);
});

const clip = (name: string, expectedPhrase: string, intent: string, interrupts = false): LoadedClip => ({
  name,
  samples: new Int16Array(0),
  expectedPhrase,
  intent,
  interrupts,
});
const outcome = (demo: LoadedClip, fromSeconds: number, more: Partial<ClipOutcome> = {}): ClipOutcome => ({
  clip: demo,
  fromSeconds,
  toSeconds: fromSeconds + 5,
  answerMs: 400,
  cutMs: null,
  audioAfterCut: 0,
  ...more,
});

t.test('the demo names every promise that was missed, and nothing when all held', async (t) => {
  const clips = [clip('a', 'ten of clubs', 'card'), clip('b', 'stop it', 'stop', true)];
  const outcomes = [outcome(clips[0] as LoadedClip, 1), outcome(clips[1] as LoadedClip, 6, { cutMs: 300 })];
  const events = [
    { event: 'user_turn', ts: 3, text: 'ten of clubs', note: 'rule:card' },
    { event: 'interrupted', ts: 6.3 },
    { event: 'user_turn', ts: 8, text: 'stop it', note: 'rule:stop' },
  ];
  const results = { session_id: 's', disconnected_by: 'bot', events } as unknown as CallResults;
  const left = toneFrame(50);
  const recording = readWav(stereoWav(left, left));
  const evidence = {
    verdicts: judgeClips(outcomes, results),
    outcomes,
    clips,
    delivery: { payload: results as unknown as Record<string, unknown>, status: 200 },
    sessionId: 's',
    recording,
  };
  t.same(misses(evidence), []);

  const deaf = { ...results, events: [] } as unknown as CallResults;
  const found = misses({
    ...evidence,
    verdicts: judgeClips(outcomes, deaf),
    outcomes: [outcomes[0] as ClipOutcome, { ...(outcomes[1] as ClipOutcome), cutMs: null }],
    delivery: { payload: { ...deaf, disconnected_by: 'error' }, status: 500 },
    sessionId: 'other',
    recording: readWav(stereoWav(left, new Int16Array(8000))),
  }).join('\n');
  for (const miss of [
    /a: "ten of clubs" was heard as ""/,
    /rule "stop" did not answer/,
    /was not cut/,
    /with 500/,
    /another session/,
    /say "error"/,
    /no speech of the bot/,
  ]) {
    t.match(found, miss);
  }
  t.match(
    misses({ ...evidence, delivery: null, recording: null, verdicts: [] }).join('\n'),
    /received nothing[\s\S]*no recording/,
  );
});

t.test('recognition is strict for short phrases and allows a slip in long ones', async (t) => {
  t.ok(isRecognised('ten of clubs', 'Ten of clubs.'));
  t.notOk(isRecognised('ten of clubs', 'ten of hearts'));
  t.ok(
    isRecognised(
      'had he married a more a amiable woman he might have been',
      'had he married a more amiable woman he might have been',
    ),
  );
});
