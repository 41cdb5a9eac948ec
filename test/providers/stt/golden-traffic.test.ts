import t from 'tap';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import { startDeepgram } from '../../emulators/deepgram.ts';
import { startFlux } from '../../emulators/deepgram-flux.ts';
import { goldenDeepgram, goldenFlux } from '../../emulators/golden-deepgram.ts';
import { GOLDEN_KEY, GOLDEN_WORDS, goldenFrames } from '../../emulators/golden-run.ts';
import { goldenSarvam, goldenSarvamLegacy } from '../../emulators/golden-sarvam-stt.ts';
import { goldenSoniox } from '../../emulators/golden-soniox.ts';
import { goldenTranscription } from '../../emulators/golden-transcription.ts';
import type { Emulator } from '../../emulators/kit/emulator.ts';
import { startTranscription } from '../../emulators/openai-transcription.ts';
import { startSarvamStt } from '../../emulators/sarvam-stt.ts';
import { startSoniox } from '../../emulators/soniox.ts';
import { until } from '../../harness/wait.ts';
import { Caller } from './caller.ts';

/**
 * Our client and the vendor's own SDK run one scenario under the settings that our client sends; what they send must
 * be the same, line by line. The SDK leaves out what it does not know, so a parameter of our invention would show.
 */
const hearing = { key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } };

/** What a client sent, but for the close frame, which either side may begin. */
const sent = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('> close'));

const ours = (emulator: Emulator) => {
  const lines = sent(emulator.log.normalise({ only: 'client' }));
  if (lines.length < 3) throw new Error(`a whole scenario is more than ${lines.length} lines`);
  return lines;
};

async function speak(caller: Caller, frameMs: number, silenceMs: number): Promise<void> {
  for (const frame of goldenFrames(caller.sampleRate, frameMs, silenceMs)) {
    await caller.feed(new Int16Array(frame.buffer, frame.byteOffset, frame.length / 2));
  }
}

/** The query that our client sent, as settings for an SDK: repeated keys become lists. */
function asked(emulator: Emulator): Record<string, string | string[]> {
  const settings: Record<string, string | string[]> = {};
  for (const [key, value] of emulator.log.entries[0]?.query ?? []) {
    const before = settings[key];
    settings[key] = before === undefined ? value : [before, value].flat();
  }
  return settings;
}

const bot = (provider: string, url: string, more: Record<string, unknown> = {}) => ({
  provider,
  api_key: GOLDEN_KEY,
  base_url: url,
  ...more,
});

t.test('R8 deepgram: our traffic is the traffic of the vendor’s SDK', async (t) => {
  const emulator = await startDeepgram(hearing);
  t.teardown(() => emulator.close());
  const caller = await Caller.calls(
    bot('deepgram', emulator.wsUrl, {
      language: 'multi',
      keyterms: ['Trunk Line', 'Termin'],
      redact: ['pci', 'ssn'],
      numerals: true,
      tag: ['a', 'b'],
    }),
    realClock,
  );
  await speak(caller, 20, 600);
  await caller.flush();
  await caller.session.close();
  const golden = await goldenDeepgram(asked(emulator), ['speak', 'finalize', 'close']);
  t.same(ours(emulator), sent(golden.lines));
  t.same([...emulator.violations.list, ...golden.violations], []);
});

t.test('R8 deepgram_flux: our traffic is the traffic of the vendor’s SDK', async (t) => {
  const emulator = await startFlux({ ...hearing, connectedAfterMs: 50 });
  t.teardown(() => emulator.close());
  const caller = await Caller.calls(
    bot('deepgram_flux', emulator.wsUrl, {
      language: 'hi-IN',
      eager_eot_threshold: 0.5,
      keyterms: ['Trunk Line', 'Termin'],
    }),
    realClock,
  );
  await speak(caller, 80, 1_500);
  await until(() => caller.ended.length === 1, 'the end of the turn');
  await caller.session.close();
  const golden = await goldenFlux(asked(emulator), ['speak', 'close']);
  t.same(ours(emulator), sent(golden.lines));
  t.same([...emulator.violations.list, ...golden.violations], []);
});

t.test('R8 sarvam: our traffic is the traffic of the vendor’s SDK, vad and manual', async (t) => {
  for (const endpointing of ['vad', 'manual']) {
    const emulator = await startSarvamStt(hearing);
    t.teardown(() => emulator.close());
    const caller = await Caller.calls(
      bot('sarvam', emulator.wsUrl, {
        language: 'hi-IN',
        endpointing,
        prompt: 'dates and names',
        threshold: 0.4,
      }),
      realClock,
    );
    await speak(caller, 50, 700);
    await caller.flush();
    await caller.session.close();
    const golden = await goldenSarvam(asked(emulator) as Record<string, string>, ['speak', 'close']);
    t.same(ours(emulator), sent(golden.lines), endpointing);
    t.same([...emulator.violations.list, ...golden.violations], []);
  }
});

t.test('R8 sarvam legacy: our traffic is the SDK’s, but for the key in the subprotocol', async (t) => {
  const emulator = await startSarvamStt(hearing);
  t.teardown(() => emulator.close());
  const caller = await Caller.calls(
    bot('sarvam', emulator.wsUrl, { language: 'hi-IN', endpoint: 'legacy' }),
    realClock,
  );
  await speak(caller, 50, 0);
  await caller.flush();
  await caller.session.close();
  const golden = await goldenSarvamLegacy(asked(emulator) as Record<string, string>);
  const shown = golden.lines.filter((line) => !line.startsWith('> sec-websocket-protocol'));
  t.equal(shown.length, golden.lines.length - 1, 'the SDK shows its key a second time');
  t.same(ours(emulator), sent(shown));
  t.same([...emulator.violations.list, ...golden.violations], []);
});

t.test('R8 soniox: our traffic is the traffic of the vendor’s SDK', async (t) => {
  const emulator = await startSoniox(hearing);
  t.teardown(() => emulator.close());
  const caller = await Caller.calls(
    bot('soniox', emulator.wsUrl, {
      language: 'hi-IN',
      strict_hints: true,
      keyterms: ['Termin'],
      context: { text: 'a clinic', general: [{ key: 'domain', value: 'health' }] },
    }),
    realClock,
  );
  await speak(caller, 100, 0);
  await caller.flush();
  await caller.session.close();
  const first = emulator.log.entries.find((entry) => entry.kind === 'text')?.json as Record<string, unknown>;
  const { api_key: _, ...config } = first;
  const golden = await goldenSoniox({ ...config, enable_endpoint_detection: true }, [
    'speak',
    'finalize',
    'close',
  ]);
  t.same(ours(emulator), sent(golden.lines));
  t.same([...emulator.violations.list, ...golden.violations], []);
});

t.test('R8 openai transcription: our form is the form of the vendor’s SDK', async (t) => {
  const emulator = await startTranscription(hearing);
  t.teardown(() => emulator.close());
  const caller = await Caller.calls(
    bot('openai', `${emulator.httpUrl}/v1`, { language: 'de-DE', keyterms: ['Termin'], temperature: 0.2 }),
    realClock,
  );
  await speak(caller, 20, 300);
  await caller.flush();
  await caller.session.close();
  const fields = { ...emulator.files[0]?.fields, temperature: 0.2 };
  const golden = await goldenTranscription(fields, 8_000);
  t.same([...ours(emulator), ...emulator.formLines()], sent(golden.lines));
  t.same([...emulator.violations.list, ...golden.violations], []);
});
