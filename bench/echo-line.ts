import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { seededNoise } from '../src/cli/scenario/seeded-noise.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../src/contracts/limits.ts';
import type { RuntimeConfig } from '../src/contracts/runtime-config.ts';
import type { SttHandlers, SttResult, SttSession } from '../src/providers/contract/speech-to-text.ts';
import { SpeechInput } from '../src/slot/call/speech-input.ts';
import type { VoiceActivity } from '../src/slot/listen/voice-activity.ts';
import type { CallAction } from '../src/slot/turn/turn-driver.ts';
import type { SaidClip } from './echo-corpus.ts';

/**
 * A call on a line of samples, faster than real time: the speech input of a slot with its real voice activity, a bot
 * that is paused, goes on and is cut as it is told, and a far end that gives the bot back. What the engine
 * hears is known by construction, and it tells it as late as engines do.
 */
export interface EchoLine {
  /** Said by the bot one after another. */
  bot: readonly SaidClip[];
  /** Silence between two of them, and after the last. */
  gapMs: number;
  tailMs: number;
  /** What the caller says, so long after the beginning or the end of the bot's last line. */
  caller: { clip: SaidClip; after: 'beginning' | 'end'; ms: number } | null;
  echo: { delayMs: number; lossDb: number } | null;
  noiseDbfs: number | null;
  /** Whether the engine tells words on the way. */
  givesInterims: boolean;
  minWords: number;
  /** Share of the echoed words that the engine takes for others. */
  mishears: number;
  seed: number;
  random: () => number;
}

export interface EchoOutcome {
  taken: string[];
  cuts: number;
  pauses: number;
  /** Stretches of speech that sounded like the bot. */
  doubts: number;
  /** From the caller's first sample to the cut; null where the bot was not cut after it. */
  cutAfterMs: number | null;
  /** What the caller said of which the transcript has nothing but an overlap. */
  overlaps: string[];
}

/** Silence before the bot begins. */
const LEAD_SAMPLES = LINE_RATE_HZ / 2;
/** What an engine takes for a final text, and for words on the way. */
const FINAL_SAMPLES = 0.3 * LINE_RATE_HZ;
const INTERIM_SAMPLES = 0.4 * LINE_RATE_HZ;
/** Quieter echoes have no words for an engine either. */
const ENGINE_HEARS_DBFS = -48;
const BOT_DBFS = -20;
/** The line is looked at this often. */
const STEP_SAMPLES = 2 * FRAME_SAMPLES;

export async function callOnLine(line: EchoLine, vad: VoiceActivity): Promise<EchoOutcome> {
  const call = new LineCall(line, vad);
  try {
    await call.run();
  } finally {
    await call.close();
  }
  return call.outcome;
}

class LineCall {
  readonly outcome: EchoOutcome = {
    taken: [],
    cuts: 0,
    pauses: 0,
    doubts: 0,
    cutAfterMs: null,
    overlaps: [],
  };
  private readonly line: EchoLine;
  private readonly engine: KnownEngine;
  private readonly speechInput: SpeechInput;
  private readonly noise: (samples: Int16Array, dbfs: number) => void;
  /** What the bot was heard to say, by the line's clock. */
  private readonly heard: Int16Array;
  private now = 0;
  private dull = 0;
  /** The line that the bot says, how far it is, and when the next one begins. */
  private reply = 0;
  private place = 0;
  private dueSample = LEAD_SAMPLES;
  private isSpeaking = false;
  private isPaused = false;
  private callerFrom = Number.POSITIVE_INFINITY;

  constructor(line: EchoLine, vad: VoiceActivity) {
    this.line = line;
    this.noise = seededNoise(line.seed);
    const botSamples = line.bot.reduce((sum, { samples }) => sum + samples.length, 0);
    // Pauses may double a line at the most before its own bound ends them.
    this.heard = new Int16Array(4 * botSamples + 60 * LINE_RATE_HZ);
    this.engine = new KnownEngine(line.givesInterims);
    this.speechInput = new SpeechInput({
      config: {
        vad: { turn_model: 'off', interruption_ms: 250 },
        min_words_interruption: line.minWords,
        re_engagement: { after_seconds: 120 },
        max_call_duration_seconds: 600,
        tts: { provider: 'scripted', language: 'hi' },
        stt: { provider: line.givesInterims ? 'scripted' : 'pocketsphinx' },
      } as unknown as RuntimeConfig,
      stt: {
        name: 'known',
        model: null,
        wantsSilence: true,
        open: (handlers) => this.engine.open(handlers),
      },
      vad,
      turnModel: null,
      hearHz: LINE_RATE_HZ,
      finalWaitSamples: () => 1.5 * LINE_RATE_HZ,
      questionLeftMs: () => null,
      hooks: {
        apply: (action) => this.apply(action),
        onTranscriptionFailure: () => undefined,
        onDeaf: () => undefined,
        onPauseLearned: () => undefined,
        onSpeechStart: () => undefined,
        onSpeechStop: () => undefined,
        onSpeechDenied: () => void this.outcome.doubts++,
        onWindow: () => undefined,
        onText: () => undefined,
        onProbableEnd: () => undefined,
        onContinued: () => undefined,
      },
    });
  }

  async run(): Promise<void> {
    const tail = (this.line.tailMs * LINE_RATE_HZ) / 1000;
    for (let endSample = Number.POSITIVE_INFINITY; this.now < endSample; ) {
      const sample = this.frame();
      this.speechInput.listener.hear(sample);
      this.engine.at(this.now);
      if (this.now % STEP_SAMPLES === 0) await this.settle();
      if (endSample === Number.POSITIVE_INFINITY && this.reply >= this.line.bot.length)
        endSample = this.now + tail;
    }
    await this.settle();
  }

  close(): Promise<void> {
    return this.speechInput.close();
  }

  private async settle(): Promise<void> {
    do await turnOfLoop();
    while (this.speechInput.listener.heardUptoSample < this.now - VAD_WINDOW_SAMPLES);
  }

  private apply(action: CallAction): void {
    switch (action.type) {
      case 'pause_bot':
        this.isPaused = true;
        this.outcome.pauses++;
        return;
      case 'resume_bot':
        this.isPaused = false;
        return;
      case 'cut_bot':
        this.outcome.cuts++;
        this.isPaused = false;
        if (this.now > this.callerFrom) {
          this.outcome.cutAfterMs ??= ((this.now - this.callerFrom) * 1000) / LINE_RATE_HZ;
        }
        this.endReply(null);
        return;
      case 'take_turn':
        this.outcome.taken.push(action.text);
        return;
      case 'overlap':
        this.outcome.overlaps.push(action.text);
        return;
      default:
        return;
    }
  }

  /** The bot's frame goes out, and what comes in at the same time is made of it, the caller and the line. */
  private frame(): Int16Array {
    this.speak();
    const samples = new Int16Array(FRAME_SAMPLES);
    const { caller, echo, noiseDbfs } = this.line;
    const gain = echo ? 10 ** (-echo.lossDb / 20) : 0;
    const delay = echo ? Math.round((echo.delayMs * LINE_RATE_HZ) / 1000) : 0;
    for (let at = 0; at < FRAME_SAMPLES; at++) {
      const place = this.now + at;
      this.dull = this.dull * 0.3 + (place >= delay ? (this.heard[place - delay] ?? 0) : 0) * 0.7;
      const said = caller?.clip.samples[place - this.callerFrom] ?? 0;
      samples[at] = Math.max(-32_768, Math.min(32_767, Math.round(this.dull * gain + said)));
    }
    if (noiseDbfs !== null) this.noise(samples, noiseDbfs);
    for (let at = 0; at < FRAME_SAMPLES; at++) samples[at] = throughPcmu(samples[at] as number);
    this.now += FRAME_SAMPLES;
    return samples;
  }

  private speak(): void {
    const clip = this.line.bot[this.reply];
    if (!clip || this.isPaused || this.now < this.dueSample) return;
    if (!this.isSpeaking) this.beginReply();
    const frame = clip.samples.subarray(this.place, this.place + FRAME_SAMPLES);
    this.heard.set(frame, this.now);
    const clause = { id: this.reply + 1, text: clip.text, spoken: clip.text };
    this.speechInput.botSent(frame, this.now, clause);
    this.tellEngine(clip, frame.length);
    this.place += FRAME_SAMPLES;
    if (this.place < clip.samples.length) return;
    this.endReply('played');
  }

  private beginReply(): void {
    this.isSpeaking = true;
    const reply = this.reply + 1;
    this.speechInput.turns.send({ type: 'reply_begun', reply, isProtected: false });
    this.speechInput.turns.send({ type: 'audio_started', reply });
    if (this.isLast) this.callerSpeaks('beginning');
  }

  private endReply(how: 'played' | null): void {
    const wasLast = this.isLast;
    const reply = this.reply + 1;
    this.isSpeaking = false;
    this.place = 0;
    this.reply++;
    this.dueSample = this.now + (this.line.gapMs * LINE_RATE_HZ) / 1000;
    if (how) this.speechInput.turns.send({ type: 'reply_ended', reply, how });
    if (wasLast) this.callerSpeaks('end');
  }

  private get isLast(): boolean {
    return this.reply === this.line.bot.length - 1;
  }

  private callerSpeaks(after: 'beginning' | 'end'): void {
    const { caller } = this.line;
    if (caller?.after !== after) return;
    this.callerFrom = this.now + Math.round((caller.ms * LINE_RATE_HZ) / 1000);
    const words = caller.clip.text.split(' ');
    const each = caller.clip.samples.length / words.length;
    for (const [index, word] of words.entries()) {
      this.engine.says(word, this.callerFrom + each * (index + 1));
    }
  }

  /** A word comes back when its last sound does; words are spread over the line by their letters. */
  private tellEngine(clip: SaidClip, samples: number): void {
    const { echo, mishears, random } = this.line;
    if (!echo || BOT_DBFS - echo.lossDb < ENGINE_HEARS_DBFS) return;
    const perLetter = clip.samples.length / clip.text.length;
    let letters = 0;
    for (const word of clip.text.split(' ')) {
      letters += word.length + 1;
      const end = Math.min(clip.samples.length - 1, letters * perLetter);
      if (end < this.place || end >= this.place + samples) continue;
      const heard = random() < mishears ? (random() < 0.5 ? null : 'mumble') : word;
      const backAt = this.now + (echo.delayMs * LINE_RATE_HZ) / 1000;
      if (heard !== null) this.engine.says(heard, backAt);
    }
  }
}

/** An engine that knows what is said, and when it can have heard it. */
class KnownEngine {
  private readonly givesInterims: boolean;
  private handlers: SttHandlers | undefined;
  private words: { word: string; endSample: number }[] = [];
  private flushes: { dueSample: number; upto: number; resolve: (result: SttResult) => void }[] = [];
  private toldInterim = '';
  private now = 0;

  constructor(givesInterims: boolean) {
    this.givesInterims = givesInterims;
  }

  open(handlers: SttHandlers): SttSession {
    this.handlers = handlers;
    return {
      feed: () => undefined,
      flush: () =>
        new Promise((resolve) => {
          this.flushes.push({ dueSample: this.now + FINAL_SAMPLES, upto: this.now, resolve });
        }),
      discard: () => void this.taken(this.now),
      close: async () => undefined,
    };
  }

  says(word: string, endSample: number): void {
    this.words.push({ word, endSample });
    this.words.sort((one, other) => one.endSample - other.endSample);
  }

  /** The line has come so far. */
  at(now: number): void {
    this.now = now;
    for (const flush of this.flushes.filter(({ dueSample }) => dueSample <= now)) {
      flush.resolve({ text: this.taken(flush.upto), confidence: null });
    }
    this.flushes = this.flushes.filter(({ dueSample }) => dueSample > now);
    if (!this.givesInterims) return;
    const soFar = this.words.filter(({ endSample }) => endSample <= now - INTERIM_SAMPLES);
    const text = soFar.map(({ word }) => word).join(' ');
    if (text === this.toldInterim) return;
    this.toldInterim = text;
    if (text !== '') this.handlers?.onInterim(text);
  }

  private taken(upto: number): string {
    const text = this.words.filter(({ endSample }) => endSample <= upto).map(({ word }) => word);
    this.words = this.words.filter(({ endSample }) => endSample > upto);
    return text.join(' ');
  }
}

/** A sample after it went through 8 bits of PCMU. */
function throughPcmu(sample: number): number {
  const BIAS = 132;
  const size = Math.min(32_635, Math.abs(sample)) + BIAS;
  const exponent = Math.floor(Math.log2(size)) - 7;
  const step = 1 << (exponent + 3);
  const decoded = Math.floor(size / step) * step + step / 2 - BIAS;
  return sample < 0 ? -decoded : decoded;
}
