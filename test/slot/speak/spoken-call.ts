import type { Test } from 'tap';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../../src/contracts/limits.ts';
import { monotonicMs } from '../../../src/platform/clock.ts';
import type { SpeakHooks, TextToSpeech } from '../../../src/providers/contract/text-to-speech.ts';
import { Pacer } from '../../../src/slot/speak/pacer.ts';
import { Speaker, type SpeakerOptions } from '../../../src/slot/speak/speaker.ts';
import { SpeechLedger } from '../../../src/slot/speak/speech-ledger.ts';

/** A voice of 25 characters a second that times its words, and notes what it was given. */
export function timedVoice() {
  const given: string[] = [];
  const failing = new Set<string>();
  const voice: TextToSpeech = {
    name: 'timed',
    model: null,
    sampleRate: LINE_RATE_HZ,
    async *speak(text: string, signal: AbortSignal, hooks?: SpeakHooks) {
      given.push(text);
      if (failing.has(text)) throw new Error('this text cannot be spoken');
      let at = 0;
      const words = text.split(' ').map((word) => {
        const startMs = at * MS_PER_CHARACTER;
        at += word.length + 1;
        return { text: word, startMs, endMs: (at - 1) * MS_PER_CHARACTER };
      });
      hooks?.onWords?.(words);
      yield new Int16Array((text.length * MS_PER_CHARACTER * LINE_RATE_HZ) / 1000).fill(1_000);
      signal.throwIfAborted();
    },
    async close() {},
  };
  return { voice, given, failing };
}
const MS_PER_CHARACTER = 40;

/** What the far end keeps against jitter. */
const BUFFER_MS = 60;

/**
 * A speaker on a line that plays in real time behind a small buffer, drops what it is told to, and echoes the marks of
 * what it played. `heard` has one entry per frame that was played.
 */
export function spokenCall(t: Test, options: Partial<SpeakerOptions> & Pick<SpeakerOptions, 'tts'>) {
  const ledger = new SpeechLedger();
  const marks: string[] = [];
  const heard: number[] = [];
  const failures: Error[] = [];
  let clears = 0;
  let line: ({ playEndMs: number } & ({ mark: string } | { unitId: number }))[] = [];
  let endMs = 0;
  const pacer: Pacer = new Pacer({
    leadMs: 200,
    now: monotonicMs,
    lineSamples: () => 0,
    sink: {
      onFrame(_frame, _playAtSample, unitId, playAtMs) {
        endMs = playAtMs + FRAME_MS;
        line.push({ unitId, playEndMs: endMs });
        speaker.onFrame(unitId, playAtMs, FRAME_SAMPLES);
      },
      onUnitSent: (unitId, playEndMs) => speaker.onUnitSent(unitId, playEndMs),
      onUnsent: (unitId, samples) => speaker.onUnsent(unitId, samples),
      onTick: () => undefined,
    },
  });
  const speaker: Speaker = new Speaker({
    ...options,
    pacer,
    ledger,
    hooks: {
      onFirstAudio: () => undefined,
      onHeard: () => undefined,
      onSynthesized: () => undefined,
      onFailure: (_reply, failure) => failures.push(failure.error),
      ...options.hooks,
      sendMark(mark) {
        marks.push(mark);
        line.push({ mark, playEndMs: endMs });
      },
      sendClear() {
        clears++;
        // As real ones do: the frame that is being played is played on, and the marks of what is dropped come at once.
        play();
        const keepsUntilMs = monotonicMs() - BUFFER_MS + FRAME_MS;
        const dropped = line.filter((item) => 'mark' in item || item.playEndMs > keepsUntilMs);
        line = line.filter((item) => !dropped.includes(item));
        for (const item of dropped) if ('mark' in item) speaker.onMark(item.mark);
      },
    },
  });
  pacer.start();
  const play = () => {
    const now = monotonicMs() - BUFFER_MS;
    while (line[0] && line[0].playEndMs <= now) {
      const item = line.shift();
      if (item && 'mark' in item) speaker.onMark(item.mark);
      else if (item) heard.push(item.unitId);
    }
  };
  const timer = setInterval(() => {
    play();
    speaker.tick();
  }, 5);
  t.teardown(() => {
    clearInterval(timer);
    speaker.cut();
    pacer.stop();
  });
  return { speaker, pacer, ledger, marks, heard, failures, clears: () => clears };
}
