import t from 'tap';
import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import type { ProviderContext } from '../../../src/providers/contract/provider-context.ts';
import { openTts } from '../../../src/providers/open-providers.ts';
import { openResilientProviders } from '../../../src/providers/resilient/open-resilient.ts';
import { LocalProviderHealth } from '../../../src/providers/resilient/provider-health.ts';
import { hearingRate } from '../../../src/slot/audio/hearing-rate.ts';
import { startDeepgram } from '../../emulators/deepgram.ts';
import { startElevenLabs } from '../../emulators/elevenlabs.ts';
import type { SttEmulator } from '../../emulators/kit/stt-emulator.ts';
import { silence, speakTones } from '../../emulators/kit/tone-words.ts';
import { startTranscription } from '../../emulators/openai-transcription.ts';
import { until } from '../../harness/wait.ts';
import { Caller, WORDS } from './caller.ts';
import { VENDORS } from './vendors.ts';

/** A whole number of the chunks of every vendor: 40, 50 and 80 ms. */
const SPEECH_MS = 2_400;
const PHRASE = 'good morning i would like a table';

/** What was said to the vendor about the rate, in the address or in the first message. */
function announced(emulator: SttEmulator): unknown {
  const handshake = emulator.log.entries.find((entry) => entry.kind === 'handshake');
  const inAddress = new URLSearchParams(handshake?.query).get('sample_rate');
  if (inAddress !== null) return Number(inAddress);
  const first = emulator.log.entries.find((entry) => entry.direction === 'in' && entry.kind === 'text');
  return (first?.json as { sample_rate?: unknown } | undefined)?.sample_rate;
}

for (const vendor of VENDORS) {
  t.test(`RT-62 ${vendor.name}: a caller in a room is announced with 16 kHz and sent so`, async (t) => {
    const samples: number[] = [];
    for (const rateHz of [8_000, 16_000]) {
      const emulator = await vendor.start();
      t.teardown(() => emulator.close());
      const caller = await Caller.at(emulator, vendor.config(emulator), rateHz);
      const speech = speakTones(PHRASE, WORDS, rateHz);
      await caller.feed(speech);
      await caller.feed(silence(SPEECH_MS, rateHz).subarray(speech.length));
      const whole = (SPEECH_MS * rateHz) / 1_000;
      t.equal(caller.fedSamples, whole);
      await until(() => emulator.audio(0).samples >= whole, 'the audio at the vendor');
      await until(() => caller.finals.some((piece) => piece.text.includes('table')), 'the words');
      t.equal(announced(emulator), rateHz);
      samples.push(emulator.audio(0).samples);
      const placed = caller.finals.flatMap(({ uptoSample }) => uptoSample ?? []);
      t.ok(
        placed.every((upto) => upto <= whole),
        'time stamps count the samples that were fed',
      );
      if (placed.length > 0) t.ok(Math.max(...placed) > speech.length * 0.9, `${placed} of ${whole}`);
      await caller.session.close();
      t.same(emulator.violations.list, []);
    }
    // The emulators count the samples of LINEAR16 that they were sent, two bytes for each.
    t.same(samples, [19_200, 38_400], 'twice the bytes for the same speech');
  });
}

t.test('RT-62 openai transcription: the file of a turn says 16 kHz and is twice as long', async (t) => {
  const emulator = await startTranscription({ hearing: { words: WORDS } });
  t.teardown(() => emulator.close());
  for (const rateHz of [8_000, 16_000]) {
    const config = {
      provider: 'openai',
      language: 'en',
      api_key: 'openai-test-key',
      base_url: `${emulator.httpUrl}/v1`,
    };
    const caller = await Caller.calls(config, realClock, rateHz);
    await caller.say(PHRASE);
    t.equal((await caller.flush()).text, PHRASE);
    await caller.session.close();
  }
  const [phone, room] = emulator.files;
  t.same([phone?.sampleRate, room?.sampleRate], [8_000, 16_000]);
  t.equal(room?.samples, 2 * (phone?.samples ?? 0));
});

t.test('RT-62 the scripted engine counts time, not samples', async (t) => {
  const interims: Record<number, number> = {};
  for (const rateHz of [8_000, 16_000]) {
    const caller = await Caller.calls({ provider: 'scripted', script: ['a b c d e'] }, realClock, rateHz);
    await caller.feed(new Int16Array(rateHz * 0.6).fill(100));
    interims[rateHz] = caller.interims.length;
    t.equal((await caller.flush()).text, 'a b c d e');
    await caller.session.close();
  }
  t.same(interims, { 8000: 3, 16000: 3 }, 'a word for each 200 ms');
});

t.test(
  'RT-62 in a room speech to text hears 16 kHz while the voice stays at the rate of the line',
  async (t) => {
    const [ears, voice] = [await startDeepgram({ hearing: { words: WORDS } }), await startElevenLabs()];
    t.teardown(() => Promise.all([ears.close(), voice.close()]));
    const context: ProviderContext = { sampleRate: 8_000, clock: realClock, report: () => undefined };
    const tts: ProviderConfig = {
      provider: 'elevenlabs',
      api_key: voice.apiKey,
      base_url: voice.wsUrl,
      voice: 'voice-1',
    };
    const call = await openResilientProviders(
      {
        stt: { provider: 'deepgram', api_key: ears.key, base_url: ears.wsUrl, language: 'en' },
        llm: { provider: 'scripted', rules: [], fallback: { reply: 'I see.' } },
        tts,
      },
      context,
      new LocalProviderHealth(),
      16_000,
    );
    const session = await call.stt.open({ onInterim: () => undefined, onFailure: (error) => t.fail(error) });
    await ears.control.opened(1);
    const speech = speakTones('yes please', WORDS, 16_000);
    for (let at = 0; at < speech.length; at += 320) session.feed(speech.subarray(at, at + 320));
    t.equal((await session.flush(AbortSignal.timeout(15_000))).text, 'yes please');
    t.equal(announced(ears), 16_000);
    t.equal(call.tts.sampleRate, 8_000);
    t.equal((await openTts(tts, context)).sampleRate, 8_000, 'as on a telephone line');
    await session.close();
    await call.tts.close();
  },
);

t.test('RT-62 a bot whose engine insists on 8 kHz is heard at 8 kHz in a room', async (t) => {
  const deepgram = { provider: 'deepgram' };
  const narrow = { ...deepgram, sample_rate: 8_000 };
  t.equal(hearingRate(deepgram, 16_000), 16_000);
  t.equal(hearingRate(deepgram, 8_000), 8_000);
  t.equal(hearingRate({ ...deepgram, sample_rate: 16_000 }, 16_000), 16_000);
  t.equal(hearingRate(narrow, 16_000), 8_000);
  t.equal(hearingRate({ ...deepgram, fallbacks: [{ provider: 'soniox' }, narrow] }, 16_000), 8_000);
  t.equal(hearingRate({ ...narrow, sample_rate: 16_000 }, 8_000), 8_000, 'a line has no more than it has');
});
