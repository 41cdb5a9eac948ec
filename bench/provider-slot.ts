import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LINE_RATE_HZ } from '../src/contracts/limits.ts';
import type { ProviderConfig } from '../src/contracts/runtime-config.ts';
import { monotonicMs, sleepMs } from '../src/platform/clock.ts';
import type { LanguageModel } from '../src/providers/contract/language-model.ts';
import { plainContext } from '../src/providers/contract/provider-context.ts';
import type { TextToSpeech } from '../src/providers/contract/text-to-speech.ts';
import { type CallProviders, openResilientProviders } from '../src/providers/resilient/open-resilient.ts';
import { LocalProviderHealth } from '../src/providers/resilient/provider-health.ts';
import { Pacer } from '../src/slot/speak/pacer.ts';
import { Speaker } from '../src/slot/speak/speaker.ts';
import { SpeechLedger } from '../src/slot/speak/speech-ledger.ts';
import '../src/slot/call/call-session.ts';
import '../src/slot/transport/telephony-transport.ts';

/**
 * A process with the code of a slot that uses one provider, as a call does: through the layer with fallbacks, the two
 * other steps scripted. It reports when things happened on the kernel's monotonic clock, which all processes share,
 * and stands still between orders so that its memory can be read from outside.
 *
 *   provider-slot FAMILY CONFIG_JSON
 */
export type Family = 'stt' | 'llm' | 'tts';
export type SlotOrder = { type: 'open' } | { type: 'round' } | { type: 'rest' };
export type SlotReport =
  | { type: 'ready' }
  | { type: 'opened' }
  | { type: 'rested' }
  | { type: 'round'; firstAtUs: number }
  | { type: 'failed'; sentence: string };

const ROUND_TIMEOUT_MS = 15_000;
const TEXT = 'One two three four five six.';

const [family, json] = process.argv.slice(2) as [Family, string];
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
let round: (() => Promise<number>) | undefined;

process.on('disconnect', () => process.exit(0));
process.on('message', (order: SlotOrder) => {
  follow(order).catch((error: Error) => tell({ type: 'failed', sentence: error.message }));
});
tell({ type: 'ready' });

async function follow(order: SlotOrder): Promise<void> {
  if (order.type === 'rest') {
    for (let i = 0; i < 3; i++) {
      collect();
      await sleepMs(50);
    }
    tell({ type: 'rested' });
  } else if (order.type === 'open') {
    round = await open(JSON.parse(json) as ProviderConfig);
    tell({ type: 'opened' });
  } else if (round) {
    tell({ type: 'round', firstAtUs: await round() });
  }
}

async function open(config: ProviderConfig): Promise<() => Promise<number>> {
  const scripted = { provider: 'scripted' };
  const all = { stt: scripted, llm: scripted, tts: scripted, [family]: config };
  const providers: CallProviders = await openResilientProviders(all, plainContext, new LocalProviderHealth());
  if (family === 'stt') return listenTo(providers.stt);
  return family === 'llm' ? () => ask(providers.llm) : speakWith(providers.tts);
}

/** The first words of an answer. */
async function ask(llm: LanguageModel): Promise<number> {
  const request = {
    system: 'You are a bench.',
    messages: [{ role: 'user' as const, text: 'Hello.' }],
    tools: [],
  };
  let firstAtUs = Number.NaN;
  for await (const delta of llm.answer(request, AbortSignal.timeout(ROUND_TIMEOUT_MS))) {
    if (delta.type === 'text' && Number.isNaN(firstAtUs)) firstAtUs = nowUs();
  }
  return firstAtUs;
}

/** The first frame on its way to the line, through the code that a call speaks with. */
function speakWith(tts: TextToSpeech): () => Promise<number> {
  let firstAtUs = Number.NaN;
  const ledger = new SpeechLedger();
  const pacer: Pacer = new Pacer({
    leadMs: 200,
    now: monotonicMs,
    lineSamples: () => 0,
    sink: {
      onFrame: (_frame, playAtMs, unitId) => {
        if (Number.isNaN(firstAtUs)) firstAtUs = nowUs();
        speaker.onFrame(unitId, playAtMs, 160);
      },
      onUnitSent: (unitId) => speaker.onMark(`unit-${unitId}`),
      onUnsent: () => undefined,
      onTick: () => undefined,
    },
  });
  const failures: Error[] = [];
  const speaker: Speaker = new Speaker({
    tts,
    pacer,
    ledger,
    hooks: {
      onFirstAudio: () => undefined,
      onHeard: () => undefined,
      onSynthesized: () => undefined,
      onFailure: (_reply, failure) => failures.push(failure.error),
      sendMark: () => undefined,
      sendClear: () => undefined,
    },
  });
  pacer.start();
  return async () => {
    firstAtUs = Number.NaN;
    const reply = speaker.say('answer', async function* () {
      yield TEXT;
    });
    await Promise.race([reply.made, sleepMs(ROUND_TIMEOUT_MS)]);
    const wanted = monotonicMs() + ROUND_TIMEOUT_MS;
    while (Number.isNaN(firstAtUs) && failures.length === 0 && monotonicMs() < wanted) await sleepMs(1);
    const [failure] = failures;
    if (failure) throw failure;
    speaker.cut();
    return firstAtUs;
  };
}

/** The text of a turn: by its flush, or by the engine's own end of it. */
async function listenTo(stt: CallProviders['stt']): Promise<() => Promise<number>> {
  let ended: (atUs: number) => void = () => undefined;
  const session = stt.open({
    onInterim: () => undefined,
    onTurn: (event) => {
      if (event.type === 'end') ended(nowUs());
    },
    onFailure: (error) => tell({ type: 'failed', sentence: error.message }),
  });
  const sound = Int16Array.from({ length: 320 }, (_, i) => Math.round(6_000 * Math.sin(i / 3)));
  const silence = new Int16Array(320);
  return async () => {
    const byEngine = new Promise<number>((resolve) => {
      ended = resolve;
    });
    // As the line brings it: 40 ms every 40 ms.
    const feed = async (samples: Int16Array, ms: number) => {
      for (let fed = 0; fed < ms; fed += (samples.length * 1000) / LINE_RATE_HZ) {
        session.feed(samples);
        await sleepMs(38);
      }
    };
    await feed(sound, 400);
    if (stt.detectsTurns) {
      const silent = feed(silence, 1_200);
      const atUs = await byEngine;
      await silent;
      return atUs;
    }
    await feed(silence, 200);
    // The line goes on while the text is awaited, as it does in a call.
    const goingOn = feed(silence, 1_200);
    const heard = await session.flush(AbortSignal.timeout(ROUND_TIMEOUT_MS));
    const atUs = nowUs();
    if (heard.text === '') throw new Error('nothing was understood');
    await goingOn;
    return atUs;
  };
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function tell(report: SlotReport): void {
  process.send?.(report);
}
