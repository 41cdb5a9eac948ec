import t from 'tap';
import type { ProviderConfig } from '../../src/contracts/runtime-config.ts';
import { realClock } from '../../src/providers/contract/provider-clock.ts';
import type { AcceptedRequest, ProviderContext } from '../../src/providers/contract/provider-context.ts';
import { openLlm, openStt, openTts } from '../../src/providers/open-providers.ts';
import { startAnthropic } from '../emulators/anthropic.ts';
import { startDeepgram } from '../emulators/deepgram.ts';
import { startElevenLabs } from '../emulators/elevenlabs.ts';
import { startSarvamTts } from '../emulators/sarvam-tts.ts';
import { ask } from './llm/asking.ts';

function listening(): { context: ProviderContext; accepted: AcceptedRequest[] } {
  const accepted: AcceptedRequest[] = [];
  return {
    accepted,
    context: {
      sampleRate: 8_000,
      clock: realClock,
      report: () => undefined,
      accepted: (request) => accepted.push(request),
    },
  };
}

t.test('RT-67 an ear tells how long its connection took, and by which id the vendor knows it', async (t) => {
  const emulator = await startDeepgram({ key: 'k1' });
  const { context, accepted } = listening();
  const config = { provider: 'deepgram', api_key: 'k1', base_url: emulator.wsUrl };
  const stt = await openStt(config, context);
  const session = await stt.open({ onInterim: () => undefined, onFailure: () => undefined });
  t.match(accepted, [{ provider: 'deepgram', family: 'stt', waitMs: Number, requestId: /./ }]);
  t.ok((accepted[0]?.waitMs ?? -1) >= 0);
  await session.close();
  await emulator.close();
});

t.test('RT-67 a model tells the same of each answer, and a refused request tells nothing', async (t) => {
  const emulator = await startAnthropic({
    answers: [{ text: 'Hello.' }, { fault: { kind: 'status', status: 500 } }],
  });
  const { context, accepted } = listening();
  const config: ProviderConfig = { provider: 'anthropic', api_key: emulator.apiKey, base_url: emulator.url };
  const llm = await openLlm(config, context);
  t.equal((await ask(llm, 'hi')).text, 'Hello.');
  t.match(accepted, [{ provider: 'anthropic', family: 'llm', waitMs: Number, requestId: /^req_/ }]);
  t.ok((await ask(llm, 'again')).error);
  t.equal(accepted.length, 1);
  await llm.close();
  await emulator.close();
});

t.test('RT-67 a voice tells of its connection, also where the vendor names no id', async (t) => {
  const voices = {
    elevenlabs: { start: startElevenLabs, settings: { voice: 'rachel' } },
    sarvam: { start: startSarvamTts, settings: { language: 'en-IN', warm_spare: false } },
  };
  for (const [provider, { start, settings }] of Object.entries(voices)) {
    const emulator = await start({});
    const { context, accepted } = listening();
    const key = emulator.apiKey === null ? {} : { api_key: emulator.apiKey };
    const tts = await openTts({ provider, base_url: emulator.wsUrl, ...key, ...settings }, context);
    for await (const block of tts.speak('Good morning.', new AbortController().signal))
      t.ok(block.length > 0);
    t.match(accepted[0], { provider, family: 'tts', waitMs: Number });
    await tts.close();
    await emulator.close();
  }
});
