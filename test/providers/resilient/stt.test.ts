import t from 'tap';
import { AppError } from '../../../src/platform/app-error.ts';
import { providerError } from '../../../src/providers/contract/provider-error.ts';
import type { SpeechToText, SttTurnEvent } from '../../../src/providers/contract/speech-to-text.ts';
import { createResilientStt } from '../../../src/providers/resilient/resilient-stt.ts';
import { chainOf, configInputs } from './bench-call.ts';
import { NEVER, wordCall, words } from './word-call.ts';
import { askedTooMuch, broken, RATE_HZ, spoken, WORD_SAMPLES, wordEngine } from './word-engine.ts';

t.setTimeout(280_000);

t.test(
  'RT-57 a session that is cut in mid-utterance is dialled again and hears what was not final',
  async (t) => {
    const live = await wordCall({ deepgram: [{ breaksAfterSamples: 5 * WORD_SAMPLES + 100 }] });
    await live.pause(100);
    await live.say(1, 8);
    t.equal(await live.text(), words(1, 8));
    t.match(live.named('provider_reconnected'), [{ provider: 'deepgram', attempt: 1, family: 'stt' }]);
    t.match(live.named('provider_failed'), [{ class: 'transient' }], 'the failure is in the record');
    t.same(
      live.interims.at(-1),
      words(1, 8),
      'interims hold the whole turn, not only what the new session heard',
    );
    const replayed = live.engines[0]?.fed[1];
    t.ok((replayed?.samples ?? 0) < 20 * WORD_SAMPLES, 'what was final is not heard again');
    await live.session.close();
  },
);

t.test('RT-57 what is replayed comes at no more than one and a half times real time', async (t) => {
  const live = await wordCall(
    { deepgram: [{ breaksAfterSamples: 30 * WORD_SAMPLES }] },
    { wordsPerFinal: 0 },
  );
  await live.pause(100);
  await live.say(1, 31);
  const brokeAt = live.named('provider_reconnected')[0];
  t.ok(Number(brokeAt?.replayed_ms) >= 2_900, 'an engine that settles nothing hears the whole turn again');
  await live.say(32, 40);
  const fed = live.engines[0]?.fed[1] ?? { samples: 0, firstAtMs: 0, lastAtMs: 0 };
  const heardMs = (fed.samples * 1000) / RATE_HZ;
  const tookMs = fed.lastAtMs - fed.firstAtMs;
  t.ok(heardMs / (tookMs + 100) <= 1.5, `${heardMs} ms of audio in ${tookMs} ms`);
  t.equal(await live.text(), words(1, 40));
  await live.session.close();
});

t.test(
  'RT-57 an engine is dialled three times, after 0, 250 and 1000 ms; then the fallback listens',
  async (t) => {
    const refused = { failsToOpen: true, openMs: 1 };
    const live = await wordCall({ deepgram: [refused, refused, refused, refused], soniox: [] });
    const startedMs = live.clock.nowMs();
    await live.say(1, 20);
    const failed = live.named('provider_failed');
    t.same(
      failed.map(({ provider, attempt }) => [provider, attempt]),
      [
        ['deepgram', 1],
        ['deepgram', 2],
        ['deepgram', 3],
      ],
    );
    t.match(live.named('provider_switched'), [{ from: 'deepgram', provider: 'soniox' }]);
    t.equal(await live.text(), words(1, 20), 'nothing of what was said meanwhile is lost');
    t.equal(live.stt.name, 'soniox', 'metrics name who listens');
    t.ok(live.clock.nowMs() - startedMs >= 1_250);
    await live.session.close();
  },
);

t.test('RT-57 when nobody can be reached the call is told, once, within its budget', async (t) => {
  const refused = Array.from({ length: 20 }, () => ({ failsToOpen: true, openMs: 1 }));
  const live = await wordCall({ deepgram: refused });
  const startedMs = live.clock.nowMs();
  while (live.failures.length === 0 && live.clock.nowMs() - startedMs < 20_000) await live.pause(100);
  t.equal(live.failures.length, 1);
  t.ok(live.clock.nowMs() - startedMs <= 5_500, 'five seconds and no more');
  t.match(live.failures[0], { code: 'provider_failed', details: { provider: 'deepgram' } });
  await t.rejects(live.session.flush(NEVER), { code: 'provider_failed' });
  await live.session.close();
  await live.clock.advance(10_000, 1_000);
  t.equal(live.failures.length, 1);
  t.equal(live.clock.pendingTimers, 0, 'no timer is left');
});

t.test('RT-57 RT-58 an engine without a fallback that names a wait is dialled when it is over', async (t) => {
  const busy = { retryAfterMs: 3_000 };
  const live = await wordCall({ deepgram: [busy, busy, busy] });
  await live.say(1, 20);
  await live.pause(7_500);
  t.equal(await live.text(), words(1, 20), 'and hears what was said meanwhile');
  t.same(live.failures, []);
  t.match(live.named('provider_retried'), [
    { provider: 'deepgram', class: 'rate_limit', family: 'stt' },
    { class: 'rate_limit' },
    { class: 'rate_limit' },
  ]);
  for (const { after_ms } of live.named('provider_retried')) t.ok(Number(after_ms) >= 3_000, `${after_ms}`);
  await live.session.close();

  const full = await wordCall({ deepgram: Array.from({ length: 9 }, () => busy) });
  const startedMs = full.clock.nowMs();
  while (full.failures.length === 0 && full.clock.nowMs() - startedMs < 30_000) await full.pause(100);
  t.match(
    full.failures,
    [{ details: { class: 'rate_limit' } }],
    'the call is told when it has waited enough',
  );
  t.ok(full.clock.nowMs() - startedMs <= 11_000);
  await full.session.close();
});

t.test('a session that is refused while it is open is opened again after the wait', async (t) => {
  const live = await wordCall({ soniox: [] });
  const handlers = live.engines[0]?.handlers ?? [];
  for (let sessions = 1; sessions <= 9 && live.failures.length === 0; sessions += 1) {
    while (handlers.length < sessions && live.failures.length === 0) await live.pause(100);
    handlers.at(-1)?.onFailure(askedTooMuch('soniox', 2_000));
  }
  t.match(live.failures, [{ details: { class: 'rate_limit' } }]);
  t.ok(handlers.length >= 4 && handlers.length <= 6, `${handlers.length} sessions, two seconds apart`);
  await live.session.close();
});

t.test('a key that is refused is not tried again; the fallback listens at once', async (t) => {
  const around = configInputs();
  let dialled = 0;
  const locked: SpeechToText = {
    name: 'sarvam',
    model: null,
    wantsSilence: true,
    async open() {
      dialled += 1;
      throw providerError({ provider: 'sarvam', family: 'stt', class: 'auth', status: 401 }, 'sarvam: 401');
    },
  };
  const open = wordEngine({
    name: 'soniox',
    clock: around.clock,
    wordsPerFinal: 2,
    stampsFinals: true,
    flushMs: 100,
    plan: () => ({}),
  });
  const stt = createResilientStt(chainOf<SpeechToText>('stt', [locked, open], around), locked, () => 0.5);
  const session = await stt.open({ onInterim: () => undefined, onFailure: (error) => t.fail(error.message) });
  await around.clock.advance(60, 10);
  t.equal(dialled, 1);
  t.equal(stt.name, 'soniox');
  t.match(around.named('provider_failed'), [{ class: 'auth', status: 401 }]);
  await session.close();
});

t.test('RT-57 a flush that breaks is answered by the next session', async (t) => {
  const live = await wordCall({ deepgram: [{ breaksInFlush: 50 }] }, { wordsPerFinal: 0 });
  await live.pause(100);
  await live.say(1, 5);
  t.equal(await live.text(), words(1, 5));
  await live.say(6, 7);
  t.equal(await live.text(), words(6, 7), 'the next turn holds only its own words');
  await live.session.close();
});

t.test('a turn that was settled whole before the break is answered without a new session', async (t) => {
  const live = await wordCall(
    { deepgram: [{ breaksInFlush: 10 }, { failsToOpen: true }, { failsToOpen: true }] },
    { wordsPerFinal: 1 },
  );
  await live.pause(100);
  await live.say(1, 4);
  await live.pause(600);
  const startedMs = live.clock.nowMs();
  t.equal(await live.text(), words(1, 4));
  t.ok(live.clock.nowMs() - startedMs <= 100);
  await live.session.close();
});

t.test('a flush whose caller gives up is over; its words do not turn up in the next turn', async (t) => {
  const live = await wordCall({ deepgram: [{}] }, { flushMs: 5_000 });
  await live.pause(100);
  await live.say(1, 2);
  const abort = new AbortController();
  const text = live.session.flush(abort.signal);
  abort.abort(new Error('no longer wanted'));
  await t.rejects(text, { message: 'no longer wanted' });
  await live.say(3, 4);
  const next = live.session.flush(NEVER);
  await live.clock.advance(6_000, 1_000);
  t.equal((await next).text, words(3, 4));
  await live.session.close();
});

t.test('RT-57 speech that the engine meets with silence for three seconds moves the call on', async (t) => {
  const live = await wordCall({ deepgram: [{ deaf: true }], soniox: [{}] });
  await live.pause(200);
  await live.say(1, 40);
  t.match(live.named('provider_failed'), [{ provider: 'deepgram', error: /heard speech for 3 s/ }]);
  t.equal(await live.text(), words(1, 40), 'and the fallback hears it from the beginning');
  await live.session.close();
});

t.test('what was given up or discarded while nobody listened stays out of the next turn', async (t) => {
  const live = await wordCall({ deepgram: [{ breaksAfterSamples: 3 * WORD_SAMPLES }, { openMs: 1_200 }] });
  await live.pause(100);
  await live.say(1, 5);
  const abort = new AbortController();
  const givenUp = live.session.flush(abort.signal);
  await live.say(6, 8);
  const wanted = live.text();
  abort.abort(new Error('too late'));
  await t.rejects(givenUp, { message: 'too late' });
  t.equal(await wanted, words(6, 8));
  await live.say(9, 9);
  live.session.discard();
  await live.say(10, 11);
  t.equal(await live.text(), words(10, 11));
  await live.session.close();
});

t.test('a turn that is given up while it is replayed stays out of the next one', async (t) => {
  const live = await wordCall(
    { deepgram: [{ breaksAfterSamples: 3 * WORD_SAMPLES }, { openMs: 1_400 }] },
    { wordsPerFinal: 0 },
  );
  await live.pause(100);
  await live.say(1, 20);
  const abort = new AbortController();
  const givenUp = live.session.flush(abort.signal);
  await live.say(21, 22);
  abort.abort(new Error('too late'));
  await t.rejects(givenUp, { message: 'too late' });
  t.equal(await live.text(), words(21, 22));
  await live.session.close();
});

t.test('a line that goes dead in mid-utterance does not leave half a sentence', async (t) => {
  const live = await wordCall({ deepgram: [{ dumbAfterSamples: 9 * WORD_SAMPLES }] });
  await live.pause(200);
  await live.say(1, 20);
  await live.pause(400);
  t.equal(await live.text(), words(1, 20), 'the turn is heard again by a new session');
  t.match(live.named('provider_failed'), [
    { provider: 'deepgram', error: /did not answer at the end of a turn/ },
  ]);
  await live.say(21, 24);
  t.equal(await live.text(), words(21, 24));
  t.equal(live.named('provider_failed').length, 1);
  await live.session.close();
});

t.test('noise that nobody can write down is no reason to go from one engine to the next', async (t) => {
  const live = await wordCall({ deepgram: [], soniox: [] });
  await live.pause(200);
  await live.noise(12_000);
  t.equal(live.named('provider_failed').length, 1, 'one second opinion, and then it is noise');
  t.equal(live.failures.length, 0);
  await live.say(1, 3);
  t.match(await live.text(), /w1 w2 w3$/);
  await live.session.close();
});

t.test(
  'an engine without interim words is deaf when two turns of speech in a row have no text',
  async (t) => {
    const live = await wordCall({ openai: [{ deaf: true }], soniox: [] }, { wordsPerFinal: 0 });
    await live.pause(200);
    await live.say(1, 12);
    t.equal(await live.text(), '', 'one empty turn may be the caller');
    await live.say(13, 25);
    t.equal(await live.text(), words(13, 25), 'the second one is heard again by somebody else');
    t.match(live.named('provider_switched'), [{ from: 'openai', provider: 'soniox' }]);
    await live.session.close();
  },
);

t.test('short noises without text say nothing about the engine', async (t) => {
  const live = await wordCall({ openai: [], soniox: [] });
  for (let cough = 0; cough < 6; cough += 1) {
    await live.noise(400);
    t.equal(await live.text(), '');
  }
  t.same(live.named('provider_failed'), []);
  t.equal(live.stt.name, 'openai');
  await live.session.close();
});

t.test('RT-05 turn events: a break does not begin the turn again, and its end holds all of it', async (t) => {
  const around = configInputs();
  const engine = wordEngine({
    name: 'deepgram_flux',
    clock: around.clock,
    wordsPerFinal: 2,
    stampsFinals: true,
    flushMs: 100,
    plan: () => ({}),
    detectsTurns: true,
  });
  const plain = wordEngine({
    name: 'soniox',
    clock: around.clock,
    wordsPerFinal: 2,
    stampsFinals: true,
    flushMs: 100,
    plan: () => ({}),
  });
  const turns: SttTurnEvent[] = [];
  const engines: boolean[] = [];
  const stt = createResilientStt(chainOf('stt', [engine, plain], around), engine, () => 0.5);
  const session = await stt.open({
    onInterim: () => undefined,
    onTurn: (event) => void turns.push(event),
    onEngine: (one) => void engines.push(one.detectsTurns ?? false),
    onFailure: (error) => t.fail(error.message),
  });
  const say = async (from: number, to: number) => {
    for (let word = from; word <= to; word += 1) {
      session.feed(spoken(word));
      session.speechHeard?.(100);
      await around.clock.advance(100, 50);
    }
  };
  await around.clock.advance(100, 20);
  t.equal(stt.detectsTurns, true);
  engine.handlers[0]?.onTurn?.({ type: 'start' });
  await say(1, 5);
  engine.handlers[0]?.onFailure(broken('deepgram_flux', 'cut the line'));
  await around.clock.advance(500, 50);
  engine.handlers[1]?.onTurn?.({ type: 'start' });
  engine.handlers[1]?.onTurn?.({ type: 'end', text: 'w5', confidence: 0.9 });
  t.same(turns, [{ type: 'start' }, { type: 'end', text: words(1, 5), confidence: 0.9 }]);
  engine.handlers[0]?.onTurn?.({ type: 'end', text: 'ghost', confidence: 1 });
  t.equal(turns.length, 2, 'a session that is gone is not heard any more');
  engine.handlers[1]?.onFailure(
    providerError({ provider: 'deepgram_flux', family: 'stt', class: 'quota', status: 402 }, 'no credit'),
  );
  await around.clock.advance(500, 50);
  t.equal(stt.detectsTurns, false, 'from now on the call ends turns itself');
  t.same(engines, [true, false]);
  await session.close();
});

t.test('more than ten seconds without anybody listening is lost, and the record says so', async (t) => {
  const refused = Array.from({ length: 2 }, () => ({ failsToOpen: true, openMs: 1 }));
  const live = await wordCall(
    { deepgram: [{ breaksAfterSamples: 3 * WORD_SAMPLES }, ...refused] },
    { wordsPerFinal: 0 },
  );
  await live.pause(100);
  await live.say(1, 2);
  // A session that took the audio of eleven seconds and settled none of it.
  for (let second = 0; second < 11; second += 1) live.session.feed(new Int16Array(RATE_HZ).fill(4_000));
  live.session.speechHeard?.(11_000);
  await live.clock.advance(3_000, 50);
  t.match(live.named('provider_audio_dropped'), [{ provider: 'deepgram', family: 'stt' }]);
  t.ok(Number(live.named('provider_audio_dropped')[0]?.ms) >= 1_000);
  await live.session.close();
});

t.test('a session that breaks between opening and its first audio is replaced', async (t) => {
  const around = configInputs();
  let opened = 0;
  const fragile: SpeechToText = {
    name: 'deepgram',
    model: null,
    wantsSilence: true,
    async open(handlers) {
      opened += 1;
      if (opened === 1) queueMicrotask(() => handlers.onFailure(broken('deepgram', 'broke at once')));
      return {
        feed: () => undefined,
        flush: async () => ({ text: `session ${opened}`, confidence: 1 }),
        discard: () => undefined,
        close: async () => undefined,
      };
    },
  };
  const stt = createResilientStt(chainOf<SpeechToText>('stt', [fragile], around), fragile, () => 0.5);
  const session = await stt.open({ onInterim: () => undefined, onFailure: (error) => t.fail(error.message) });
  await around.clock.advance(1_000, 50);
  session.feed(spoken(1));
  session.speechHeard?.(100);
  t.equal((await session.flush(NEVER)).text, 'session 2');
  await session.close();
});

t.test('a setting that replays faster must be a number from 1 to 4', async (t) => {
  const around = configInputs();
  const engine = wordEngine({
    name: 'deepgram',
    clock: around.clock,
    wordsPerFinal: 2,
    stampsFinals: true,
    flushMs: 100,
    plan: () => ({}),
  });
  const chain = chainOf<SpeechToText>('stt', [engine], around, { replay_rate: 40 });
  const failures: Error[] = [];
  const session = await createResilientStt(chain, engine, () => 0.5).open({
    onInterim: () => undefined,
    onFailure: (error) => void failures.push(error),
  });
  await around.clock.advance(6_000, 500);
  t.match(failures, [{ code: 'bad_provider_config' }]);
  t.ok(failures[0] instanceof AppError);
  await session.close();
});
