import t, { type Test } from 'tap';
import type { SttResult } from '../../../src/providers/contract/speech-to-text.ts';
import { createResilientStt } from '../../../src/providers/resilient/resilient-stt.ts';
import { seededRandom } from '../../harness/seeded-random.ts';
import { chainOf, configInputs } from './bench-call.ts';
import { RATE_HZ, type SessionPlan, spoken, textOf, wordEngine } from './word-engine.ts';

t.setTimeout(280_000);

const ROUNDS = 200;
const WIDE_ROUNDS = 60;
const FRAME_MS = 20;

/** One call with breaks at random moments: what was said, and what was written down. */
async function round(seed: number, rateHz: number) {
  const random = seededRandom(seed);
  const pick = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const around = configInputs(undefined, rateHz);
  const frameSamples = (rateHz * FRAME_MS) / 1000;
  const { clock } = around;
  let shortInARow = 0;
  let breaks = 0;
  const plan = (): SessionPlan => {
    const openMs = pick(5, 400);
    // Five short-lived sessions in a row are an outage, which ends a call; eight breaks are enough for one test.
    if (breaks >= 8) return { openMs };
    if (shortInARow >= 4) {
      shortInARow = 0;
      return { openMs, breaksAfterSamples: pick(5 * rateHz + 1, 8 * rateHz) };
    }
    shortInARow += 1;
    breaks += 1;
    const fate = random();
    if (fate < 0.25) return { openMs, failsToOpen: true };
    if (fate < 0.5) return { openMs, breaksInFlush: pick(1, 100) };
    return { openMs, breaksAfterSamples: pick(1, 4 * rateHz) };
  };
  const rules = {
    clock,
    rateHz,
    flushMs: pick(20, 250),
    wordsPerFinal: pick(0, 3),
    stampsFinals: random() < 0.7,
    plan,
  };
  const engines = [wordEngine({ ...rules, name: 'deepgram' }), wordEngine({ ...rules, name: 'soniox' })];
  const [first] = engines;
  if (!first) throw new Error('no engine');
  const stt = createResilientStt(chainOf('stt', engines, around), first, random);
  let failure: Error | null = null;
  const session = await stt.open({
    onInterim: () => undefined,
    onFailure: (error) => {
      failure = error;
    },
  });
  const tells = random() < 0.5;
  const said: string[] = [];
  const written: Promise<SttResult>[] = [];
  const frame = async (samples: Int16Array, isSpeech: boolean) => {
    session.feed(samples);
    if (tells && isSpeech) session.speechHeard?.(FRAME_MS);
    await clock.advance(FRAME_MS, FRAME_MS);
  };
  let word = 0;
  for (let turn = pick(2, 4); turn > 0; turn -= 1) {
    const words = Array.from({ length: pick(1, 10) }, () => word++);
    for (const number of words) {
      const audio = spoken(number, rateHz);
      for (let at = 0; at < audio.length; at += frameSamples) {
        await frame(audio.subarray(at, at + frameSamples), true);
      }
      if (random() < 0.3) await frame(new Int16Array(frameSamples), false);
    }
    for (let pause = pick(10, 30); pause > 0; pause -= 1) await frame(new Int16Array(frameSamples), false);
    said.push(textOf(words));
    const text = session.flush(new AbortController().signal);
    text.catch(() => undefined);
    written.push(text);
    for (let pause = pick(5, 60); pause > 0; pause -= 1) await frame(new Int16Array(frameSamples), false);
  }
  const texts = written.map(() => 'no text came');
  let out = written.length;
  for (const [index, text] of written.entries()) {
    void text
      .then(
        (result) => result.text,
        (error: unknown) => `rejected: ${String(error)}`,
      )
      .then((got) => {
        texts[index] = got;
        out -= 1;
      });
  }
  // An engine that breaks in each flush and settles nothing makes the call hear a turn again and again.
  for (let wait = 0; wait < 2_000 && out > 0; wait += 1) await frame(new Int16Array(frameSamples), false);
  await session.close();
  await clock.advance(5_000);
  return {
    said,
    texts,
    failure: failure as Error | null,
    sessions: engines.reduce((sum, engine) => sum + engine.fed.length, 0),
    pendingTimers: clock.pendingTimers,
  };
}

t.test('RT-57 however often the engine breaks, no word is lost and none is doubled', (t) =>
  manyCalls(t, ROUNDS, RATE_HZ),
);

t.test('RT-57 RT-62 the same for a caller in a room, who is heard at 16 kHz', (t) =>
  manyCalls(t, WIDE_ROUNDS, 16_000),
);

async function manyCalls(t: Test, rounds: number, rateHz: number): Promise<void> {
  let sessions = 0;
  for (let seed = 1; seed <= rounds; seed += 1) {
    const { said, texts, failure, sessions: opened, pendingTimers } = await round(seed, rateHz);
    sessions += opened;
    if (failure || JSON.stringify(texts) !== JSON.stringify(said)) {
      t.strictSame(
        { texts, failure: failure?.message ?? null },
        { texts: said, failure: null },
        `seed ${seed}`,
      );
      return;
    }
    if (pendingTimers > 0) {
      t.equal(pendingTimers, 0, `seed ${seed}: a closed session left a timer`);
      return;
    }
  }
  t.ok(sessions > rounds * 2, `${sessions} sessions in ${rounds} calls`);
}
