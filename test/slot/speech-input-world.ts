import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../src/contracts/limits.ts';
import type { RuntimeConfig, VadConfig } from '../../src/contracts/runtime-config.ts';
import { loadModelPath } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import type { SttHandlers, SttSession } from '../../src/providers/contract/speech-to-text.ts';
import type { CallSpeechToText } from '../../src/providers/resilient/resilient-stt.ts';
import { SpeechInput } from '../../src/slot/call/speech-input.ts';
import type { TurnModel } from '../../src/slot/listen/turn-model.ts';
import { VoiceActivity } from '../../src/slot/listen/voice-activity.ts';
import type { CallAction } from '../../src/slot/turn/turn-driver.ts';
import { humanSpeech } from '../harness/human-speech.ts';

/**
 * The speech input of a call on a line without a wall clock: audio is fed as fast as it is looked at, so that every wait of
 * the turn machine passes in samples and none in seconds.
 */
export interface Engine {
  detectsTurns?: boolean;
  /** What a flush gives; a list is used up from its front. */
  texts?: string[];
  /** A flush is never answered. */
  isMute?: boolean;
  /** What it gives has no words, although somebody spoke. */
  isDeaf?: boolean;
  /** What is left of the bot's question. */
  questionLeftMs?: number | null;
}

export const speech = humanSpeech('goforward.raw');
export const word = humanSpeech('cards/001.wav');
export const silence = (seconds: number) => new Int16Array(Math.round(seconds * LINE_RATE_HZ));

/** Where the caller is heard at 16 kHz: what judges that audio, and what the engine was fed. */
export interface Room {
  turnModel: TurnModel;
  fedSamples: number;
}

/** The speech input of a call with an engine as the test wants it, fed faster than real time. */
export async function speechInputUnderTest(
  t: Test,
  engine: Engine = {},
  vadConfig: VadConfig = {},
  minWords = 0,
  room: Room | null = null,
) {
  const actions: CallAction[] = [];
  const learned: number[] = [];
  const probable: { turn: number; text: string }[] = [];
  const failures: Error[] = [];
  const at = { flushes: 0, discards: 0 };
  let handlers: SttHandlers | undefined;
  const session: SttSession = {
    feed: (samples) => {
      if (room) room.fedSamples += samples.length;
    },
    async flush() {
      at.flushes++;
      if (engine.isMute) return new Promise(() => undefined);
      if (engine.isDeaf) return { text: '', confidence: null, isUnheard: true };
      return { text: engine.texts?.shift() ?? 'asked for', confidence: 0.9 };
    },
    discard: () => {
      at.discards++;
    },
    close: async () => undefined,
  };
  const stt: CallSpeechToText = {
    name: 'test',
    model: null,
    wantsSilence: true,
    get detectsTurns() {
      return engine.detectsTurns ?? false;
    },
    open: (given) => {
      handlers = given;
      return session;
    },
  };
  const vad = await VoiceActivity.create(await loadModelPath('silero-vad', projectPath('models')));
  const config = {
    vad: vadConfig,
    min_words_interruption: minWords,
    re_engagement: { after_seconds: 60 },
    max_call_duration_seconds: 600,
    tts: { provider: 'scripted', language: 'en' },
    stt: { provider: 'scripted' },
  } as unknown as RuntimeConfig;
  const speechInput = new SpeechInput({
    config,
    stt,
    vad,
    turnModel: room?.turnModel ?? null,
    hearHz: room ? 16_000 : LINE_RATE_HZ,
    finalWaitSamples: () => 2 * LINE_RATE_HZ,
    questionLeftMs: () => engine.questionLeftMs ?? null,
    hooks: {
      apply: (action) => actions.push(action),
      onTranscriptionFailure: (error) => failures.push(error),
      onDeaf: (error) => t.fail(error.message),
      onPauseLearned: (ms) => learned.push(ms),
      onSpeechStart: () => undefined,
      onSpeechStop: () => undefined,
      onSpeechDenied: () => undefined,
      onWindow: () => undefined,
      onText: () => undefined,
      onProbableEnd: (turn, text) => probable.push({ turn, text }),
      onContinued: () => probable.push({ turn: -1, text: '' }),
    },
  });
  t.teardown(() => speechInput.close());
  await wait(0);
  let fedSamples = 0;
  /** Feeds audio and waits until it has been looked at. */
  const hear = async (samples: Int16Array, wide?: Int16Array) => {
    for (let from = 0; from < samples.length; from += 160) {
      const frame = samples.subarray(from, from + 160);
      speechInput.listener.hear(frame, wide?.subarray(2 * from, 2 * (from + frame.length)));
      fedSamples += frame.length;
      if (from % 1_600 === 0) await settle();
    }
    await settle();
  };
  const settle = async () => {
    do await new Promise((resolve) => setImmediate(resolve));
    while (speechInput.listener.heardUptoSample < fedSamples - VAD_WINDOW_SAMPLES);
  };
  const until = async (type: CallAction['type'], maxSeconds = 15) => {
    for (let heard = 0; heard < maxSeconds * 10; heard++) {
      if (actions.some((action) => action.type === type)) return true;
      await hear(silence(0.1));
    }
    return false;
  };
  const botSpeaks = (reply: number, isProtected = false) => {
    speechInput.turns.send({ type: 'reply_begun', reply, isProtected });
    speechInput.turns.send({ type: 'audio_started', reply });
  };
  const of = (type: CallAction['type']) => actions.filter((action) => action.type === type);
  const tell = () => handlers as SttHandlers;
  const fed = () => fedSamples;
  return {
    speechInput,
    actions,
    learned,
    probable,
    failures,
    at,
    engine,
    hear,
    until,
    botSpeaks,
    of,
    tell,
    fedSamples: fed,
  };
}
