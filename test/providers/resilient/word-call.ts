import type {
  SpeechToText,
  SttResult,
  SttTurnEvent,
} from '../../../src/providers/contract/speech-to-text.ts';
import { createResilientStt } from '../../../src/providers/resilient/resilient-stt.ts';
import { chainOf, configInputs } from './bench-call.ts';
import {
  type EngineRules,
  RATE_HZ,
  type SessionPlan,
  spoken,
  textOf,
  type WordEngine,
  wordEngine,
} from './word-engine.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
export const NEVER = new AbortController().signal;

/** A call over word engines; `plans` are what happens to the sessions of each engine, in order, and then nothing. */
export async function wordCall(plans: Record<string, SessionPlan[]>, rules: Partial<EngineRules> = {}) {
  const around = configInputs();
  const { clock } = around;
  const engines: WordEngine[] = Object.entries(plans).map(([name, list]) =>
    wordEngine({
      name,
      clock,
      wordsPerFinal: 2,
      stampsFinals: true,
      flushMs: 100,
      ...rules,
      plan: () => list.shift() ?? {},
    }),
  );
  const chain = chainOf<SpeechToText>('stt', engines, around);
  const stt = createResilientStt(chain, engines[0] as WordEngine, () => 0.5);
  const failures: Error[] = [];
  const interims: string[] = [];
  const turns: SttTurnEvent[] = [];
  const listeners: string[] = [];
  const session = await stt.open({
    onInterim: (text) => void interims.push(text),
    onTurn: (event) => void turns.push(event),
    onEngine: (engine) => void listeners.push(engine.name),
    onFailure: (error) => void failures.push(error),
  });
  const hear = async (samples: Int16Array, isSpeech: boolean) => {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      session.feed(samples.subarray(at, at + FRAME_SAMPLES));
      if (isSpeech) session.speechHeard?.(FRAME_MS);
      await clock.advance(FRAME_MS, FRAME_MS);
    }
  };
  const heard = async (): Promise<SttResult> => {
    let got: SttResult | null = null;
    const take = (result: SttResult) => {
      got = result;
    };
    const none = (text: string): SttResult => ({ text, confidence: null });
    void session.flush(NEVER).then(take, (error: unknown) => take(none(`rejected: ${String(error)}`)));
    for (let waited = 0; got === null && waited < 20_000; waited += FRAME_MS) {
      await hear(new Int16Array(FRAME_SAMPLES), false);
    }
    return got ?? none('no text came');
  };
  return {
    ...around,
    engines,
    stt,
    session,
    failures,
    interims,
    turns,
    listeners,
    async say(from: number, to: number) {
      for (let word = from; word <= to; word += 1) await hear(spoken(word), true);
    },
    /** Speech in which no engine finds a word. */
    noise: (ms: number) => hear(new Int16Array((ms * RATE_HZ) / 1000), true),
    pause: (ms: number) => hear(new Int16Array((ms * RATE_HZ) / 1000), false),
    /** The text of the turn; the line goes on meanwhile. */
    text: async () => (await heard()).text,
    heard,
  };
}

export const words = (from: number, to: number) =>
  textOf(Array.from({ length: to - from + 1 }, (_, index) => from + index));
