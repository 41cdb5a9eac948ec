import t from 'tap';
import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import type { LlmDelta } from '../../../src/providers/contract/language-model.ts';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import type { ProviderContext, ProviderTrouble } from '../../../src/providers/contract/provider-context.ts';
import type { SttTurnEvent } from '../../../src/providers/contract/speech-to-text.ts';
import { openResilientProviders } from '../../../src/providers/resilient/open-resilient.ts';
import { LocalProviderHealth } from '../../../src/providers/resilient/provider-health.ts';
import { startCartesia } from '../../emulators/cartesia.ts';
import { startElevenLabs } from '../../emulators/elevenlabs.ts';
import { startGemini } from '../../emulators/gemini.ts';
import { silence, speakTones } from '../../emulators/kit/tone-words.ts';
import type { ScriptedAnswer } from '../../emulators/llm/answer.ts';
import { startOpenAi } from '../../emulators/openai.ts';
import { WORDS } from '../stt/caller.ts';
import { VENDORS } from '../stt/vendors.ts';

// Real clients and emulated vendors, in real time.
t.setTimeout(280_000);

const SAMPLE_RATE = 8_000;
/** What a caller in a room is heard at. */
const ROOM_RATE = 16_000;
const FRAME_MS = 20;
const SCRIPTED = { provider: 'scripted' };

async function open(
  config: { stt?: ProviderConfig; llm?: ProviderConfig; tts?: ProviderConfig },
  hearHz?: number,
) {
  const troubles: ProviderTrouble[] = [];
  const context: ProviderContext = {
    sampleRate: SAMPLE_RATE,
    clock: realClock,
    report: (trouble) => void troubles.push(trouble),
  };
  const llm = { ...SCRIPTED, rules: [], fallback: { reply: 'I see.' } };
  const providers = await openResilientProviders(
    { stt: SCRIPTED, llm, tts: SCRIPTED, ...config },
    context,
    new LocalProviderHealth(),
    hearHz,
  );
  const named = (event: string) => troubles.filter((trouble) => trouble.event === event);
  return { ...providers, troubles, named };
}

/** A caller who speaks in real time, frame by frame, by absolute deadlines. */
async function caller(config: ProviderConfig, rateHz = SAMPLE_RATE) {
  const call = await open({ stt: config }, rateHz);
  const frameSamples = (rateHz * FRAME_MS) / 1_000;
  const turns: SttTurnEvent[] = [];
  const failures: Error[] = [];
  const session = await call.stt.open({
    onInterim: () => undefined,
    onTurn: (event) => void turns.push(event),
    onFailure: (error) => void failures.push(error),
  });
  let dueMs = performance.now();
  const feed = async (samples: Int16Array, isSpeech: boolean) => {
    for (let at = 0; at < samples.length; at += frameSamples) {
      session.feed(samples.subarray(at, at + frameSamples));
      if (isSpeech) session.speechHeard?.(FRAME_MS);
      dueMs += FRAME_MS;
      const aheadMs = dueMs - performance.now();
      if (aheadMs > 0) await realClock.sleep(aheadMs);
    }
  };
  return {
    ...call,
    session,
    turns,
    failures,
    say: (text: string) => feed(speakTones(text, WORDS, rateHz), true),
    pause: (ms: number) => feed(silence(ms, rateHz), false),
  };
}

const FIRST = 'good morning i would like to book';
const REST = 'a table for two at seven please';
const NEXT = 'yes no thank you';

/** A call whose line to the vendor is cut, or goes dead, in the middle of the first of two turns. */
async function cutCall(vendor: (typeof VENDORS)[number], how: 'cut' | 'goSilent', rateHz = SAMPLE_RATE) {
  const emulator = await vendor.start();
  const call = await caller(vendor.config(emulator), rateHz);
  await emulator.control.opened(1);
  await call.pause(300);
  await call.say(FIRST);
  emulator.control.latest()[how]();
  await call.say(REST);
  const ends = () => call.turns.filter((event) => event.type === 'end');
  const texts: string[] = [];
  const take = async (count: number) => {
    if (call.stt.detectsTurns) {
      for (let waited = 0; ends().length < count && waited < 15_000; waited += 100) await call.pause(100);
      texts.push(ends().at(-1)?.text ?? 'no turn ended');
      return;
    }
    await call.pause(400);
    // The line does not stand still while the call waits for the text.
    const text = call.session.flush(AbortSignal.timeout(20_000));
    let isThere = false;
    text.then(
      () => {
        isThere = true;
      },
      () => {
        isThere = true;
      },
    );
    while (!isThere) await call.pause(100);
    texts.push((await text).text);
  };
  await take(1);
  await call.say(NEXT);
  await take(2);
  await call.session.close();
  await emulator.close();
  return { ...call, texts, violations: emulator.violations.list };
}

// They wait for most of their time, so they wait together.
const cutCalls = new Map(VENDORS.map((vendor) => [vendor.name, cutCall(vendor, 'cut')]));
const deadCalls = new Map(
  VENDORS.filter(({ name }) => ['deepgram', 'sarvam', 'soniox'].includes(name)).map((vendor) => [
    vendor.name,
    cutCall(vendor, 'goSilent'),
  ]),
);
const roomCalls = new Map(
  VENDORS.filter(({ name }) => ['deepgram', 'soniox'].includes(name)).map((vendor) => [
    vendor.name,
    cutCall(vendor, 'cut', ROOM_RATE),
  ]),
);
for (const call of [...cutCalls.values(), ...deadCalls.values(), ...roomCalls.values()])
  call.catch(() => undefined);

for (const [name, cut] of cutCalls) {
  t.test(`RT-57 ${name}: a line that is cut in mid-utterance costs no word`, async (t) => {
    const call = await cut;
    t.same(call.texts, [`${FIRST} ${REST}`, NEXT]);
    t.match(call.named('provider_reconnected'), [{ family: 'stt' }]);
    if (call.stt.detectsTurns) {
      t.equal(call.turns.filter((event) => event.type === 'start').length, 2, 'two turns began');
    }
    t.same(call.failures, []);
    t.same(call.violations, []);
  });
}

for (const [name, dead] of deadCalls) {
  t.test(`RT-57 ${name}: a half-open line in mid-utterance costs no word either`, async (t) => {
    const call = await dead;
    t.same(call.texts, [`${FIRST} ${REST}`, NEXT]);
    t.match(call.named('provider_failed'), [{ class: 'transient' }]);
    t.same(call.failures, []);
  });
}

for (const [name, cut] of roomCalls) {
  t.test(`RT-57 RT-62 ${name}: nor does a line that is cut while it hears a room at 16 kHz`, async (t) => {
    const call = await cut;
    t.same(call.texts, [`${FIRST} ${REST}`, NEXT]);
    t.match(call.named('provider_reconnected'), [{ family: 'stt' }]);
    t.same(call.failures, []);
    t.same(call.violations, []);
  });
}

t.test('RT-58 deepgram refuses for good, soniox takes over and hears all of it', async (t) => {
  const [deepgram, soniox] = ['deepgram', 'soniox'].map((name) => VENDORS.find((one) => one.name === name));
  if (!deepgram || !soniox) throw new Error('both are in the table');
  const [refusing, working] = [await deepgram.start(), await soniox.start()];
  refusing.control.next({ status: 402, body: { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'no credit' } });
  const call = await caller({ ...deepgram.config(refusing), fallbacks: [soniox.config(working)] });
  await call.say(FIRST);
  await call.pause(400);
  t.equal((await call.session.flush(AbortSignal.timeout(20_000))).text, FIRST);
  t.equal(call.stt.name, 'soniox');
  t.match(call.named('provider_failed'), [{ provider: 'deepgram', class: 'quota', status: 402 }]);
  await call.session.close();
  await Promise.all([refusing.close(), working.close()]);
});

async function answer(llm: Awaited<ReturnType<typeof open>>['llm']) {
  const deltas: LlmDelta[] = [];
  let error: unknown = null;
  try {
    const request = { system: 'Be brief.', messages: [{ role: 'user' as const, text: 'hello' }], tools: [] };
    for await (const delta of llm.answer(request, AbortSignal.timeout(30_000))) deltas.push(delta);
  } catch (caught) {
    error = caught;
  }
  const text = deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
  return { deltas, text, error };
}

t.test('RT-58 gemini and openai: failing, hanging and stalling models', async (t) => {
  const gemini = await startGemini();
  const openai = await startOpenAi();
  const config: ProviderConfig = {
    provider: 'gemini',
    api_key: gemini.apiKey ?? '',
    base_url: gemini.url,
    fallbacks: [{ provider: 'openai', api_key: openai.apiKey ?? '', base_url: openai.url }],
  };
  openai.desk.respondWith(() => ({ text: 'openai speaks' }));
  const ask = async (fault: ScriptedAnswer) => {
    gemini.desk.script(fault);
    const call = await open({ llm: config });
    const result = { ...(await answer(call.llm)), named: call.named };
    await call.llm.close();
    return result;
  };

  const failed = await ask({ fault: { kind: 'status', status: 500 } });
  t.equal(failed.text, 'openai speaks');
  t.match(failed.deltas[0], { type: 'served_by', provider: 'openai' });
  t.match(failed.named('provider_failed'), [{ provider: 'gemini', class: 'transient', status: 500 }]);

  const limited = await ask({ fault: { kind: 'refuse', as: 'rate_limit', retryAfterMs: 9_000 } });
  t.equal(limited.text, 'openai speaks');
  t.match(limited.named('provider_failed'), [{ provider: 'gemini', class: 'rate_limit', status: 429 }]);

  const hanging = await ask({ fault: { kind: 'silent' } });
  t.equal(hanging.text, 'openai speaks');
  t.match(hanging.named('provider_hedged'), [{ provider: 'openai', late: 'gemini' }]);

  const stalled = await ask({ text: ['one ', 'two ', 'three '], fault: { kind: 'stall', after: 2 } });
  t.match(stalled.text, /^one two/, 'what was said stays said');
  t.notMatch(stalled.text, /openai/);
  t.match(stalled.error, { code: 'provider_timeout' });

  const tools = await ask({ toolCalls: [{ name: 'end_call', args: { reason: 'done' } }] });
  t.match(
    tools.deltas.find((delta) => delta.type === 'tool_call'),
    { call: { name: 'end_call' } },
  );
  t.same(tools.named('provider_failed'), [], 'an answer of tool calls alone is a good one');
  await Promise.all([gemini.close(), openai.close()]);
});

const CLAUSE = 'The parcel comes on Friday between nine and eleven in the morning.';

t.test('RT-47 elevenlabs stalls in mid-clause and cartesia speaks the rest', async (t) => {
  const [eleven, cartesia] = [await startElevenLabs(), await startCartesia()];
  const voice = { voice: 'voice-1', language: 'en-IN' };
  const call = await open({
    tts: {
      provider: 'elevenlabs',
      api_key: eleven.apiKey,
      base_url: eleven.wsUrl,
      ...voice,
      fallbacks: [{ provider: 'cartesia', api_key: cartesia.apiKey, base_url: cartesia.wsUrl, ...voice }],
    },
  });
  const servedBy: string[] = [];
  let samples = 0;
  const hooks = { onServedBy: (provider: string) => void servedBy.push(provider) };
  for await (const block of call.tts.speak(CLAUSE, AbortSignal.timeout(30_000), hooks)) {
    samples += block.length;
    if (servedBy.length === 1) eleven.control.latest().goSilent();
  }
  t.same(servedBy, ['elevenlabs', 'cartesia']);
  const wholeMs = CLAUSE.length * eleven.voice.msPerChar;
  const gotMs = (samples * 1000) / call.tts.sampleRate;
  t.ok(gotMs > wholeMs * 0.8 && gotMs < wholeMs * 1.3, `${gotMs} ms of audio for a clause of ${wholeMs} ms`);
  t.match(call.named('provider_switched'), [{ from: 'elevenlabs', provider: 'cartesia' }]);
  await call.tts.close();
  await Promise.all([eleven.close(), cartesia.close()]);
});

t.test('a fallback that nobody knows is left out and said to be when the call opens', async (t) => {
  const call = await open({
    tts: { ...SCRIPTED, fallbacks: [{ provider: 'nobody' }, { provider: 'scripted' }] },
  });
  t.match(call.named('provider_failed'), [{ provider: 'nobody', family: 'tts', class: 'config' }]);
  await t.rejects(open({ tts: { provider: 'nobody' } }), { code: 'bad_provider_config' });
});

t.test('a first provider with wrong settings leaves the call to its fallback', async (t) => {
  const call = await open({ tts: { provider: 'scripted', ms_per_char: -1, fallbacks: [SCRIPTED] } });
  t.match(call.named('provider_failed'), [{ provider: 'scripted', class: 'config', error: /ms_per_char/ }]);
  let samples = 0;
  for await (const block of call.tts.speak('Hello.', AbortSignal.timeout(10_000))) samples += block.length;
  t.ok(samples > 0);
});

t.test('RT-58 elevenlabs: a socket given up in mid-clause is dialled again for the rest', async (t) => {
  const emulator = await startElevenLabs({ voice: { speed: 4 } });
  t.teardown(() => emulator.close());
  const { apiKey, wsUrl } = emulator;
  const { tts, named } = await open({
    tts: { provider: 'elevenlabs', voice: 'v', api_key: apiKey, base_url: wsUrl },
  });
  let isCut = false;
  for await (const _block of tts.speak(
    'Your parcel comes on Tuesday, madam.',
    new AbortController().signal,
  )) {
    if (isCut) continue;
    isCut = true;
    emulator.control.connection(0).close(1008, 'voice_settings field must be provided in the first message');
  }
  t.match(named('provider_failed'), [{ class: 'transient', status: 1008 }]);
  t.equal(named('provider_failed').length, 1);
  t.equal(emulator.counters().handshakes, 2);
  const texts = emulator.log.messages('in').flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  t.match(texts.at(-1), /Tuesday, madam\. $/, 'the rest is said over the new socket');
  await tts.close();
});
