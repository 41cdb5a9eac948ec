import {
  LINE_RATE_HZ,
  VAD_WIDE_WINDOW_SAMPLES,
  VAD_WINDOW_SAMPLES,
  WIDE_RATE_HZ,
} from '../../contracts/limits.ts';
import type { VadConfig } from '../../contracts/runtime-config.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import type { SttSession } from '../../providers/contract/speech-to-text.ts';
import type { HearingHz } from '../audio/hearing-rate.ts';
import { EchoGate, EchoWatch } from './echo-gate.ts';
import { NoiseFloor } from './noise-floor.ts';
import { SpeechSegmenter } from './speech-segmenter.ts';
import { TURN_PRE_ROLL_SAMPLES, TurnWindow, WideWindow } from './turn-window.ts';
import type { VoiceActivity } from './voice-activity.ts';

/**
 * Hears the caller: audio into windows, windows into speech, and both to the engine that understands it. What speech
 * means for the conversation is not decided here. All positions count received samples (RT-10).
 */
export interface ListenerHooks {
  onSpeechStart(fromSample: number): void;
  onSpeechStop(lastSample: number): void;
  /**
   * What is heard may be the bot's own echo, or goes on to, and its words are to decide (RT-18). False where it sounds
   * like the caller again, from this sample on.
   */
  onDoubt(isDoubted: boolean, fromSample: number): void;
  /** A window has been looked at: its loudness, and whether it belongs to a stretch of speech. */
  onWindow(levelDbfs: number, isSpeech: boolean): void;
}

export class CallerListener {
  private vad: VoiceActivity | null;
  private readonly stt: SttSession;
  private readonly wantsSilence: () => boolean;
  private readonly hooks: ListenerHooks;
  private readonly segmenter: SpeechSegmenter;
  private readonly noise = new NoiseFloor();
  private readonly level = audioKernels().level;
  /** At the rate of the line: how loud it is, and whether it is an echo. */
  private readonly window = new TurnWindow();
  /** The same audio at 16 kHz, where it is heard so; null on telephone lines, which pay nothing for it. */
  private readonly wide: WideWindow | null;
  private readonly lineWindow = new Int16Array(VAD_WINDOW_SAMPLES);
  /** What voice activity looks at, at the rate at which the caller is heard (RT-01). */
  private readonly vadWindow: Int16Array;
  private readonly gate = new EchoGate();
  private readonly echo = new EchoWatch(this.gate);
  private readonly preRollSamples: number;
  private isTurnOpen = false;
  /** What is being heard sounds like the bot. */
  private isDoubted = false;
  private speechFromSample = 0;
  private nextWindowSample = 0;
  private fedSample = 0;
  private pumping: Promise<void> = Promise.resolve();
  private isPumping = false;
  private closed = false;
  /** Samples of speech in the whole call: tells silence from a deaf engine (RT-26). */
  speechSamples = 0;

  constructor(options: {
    vad: VoiceActivity | null;
    stt: SttSession;
    /** Asked anew each time: an engine that takes over for another may want something else. */
    wantsSilence: () => boolean;
    config: VadConfig;
    /** The rate of what the engine and the turn model are given; 8 kHz where it is absent. */
    hearHz?: HearingHz;
    hooks: ListenerHooks;
  }) {
    this.vad = options.vad;
    this.stt = options.stt;
    this.wantsSilence = options.wantsSilence;
    this.hooks = options.hooks;
    this.wide = options.hearHz === WIDE_RATE_HZ ? new WideWindow() : null;
    this.vadWindow = this.wide ? new Int16Array(VAD_WIDE_WINDOW_SAMPLES) : this.lineWindow;
    this.segmenter = new SpeechSegmenter(options.config);
    const preRollMs = options.config.turn_pre_roll_ms;
    this.preRollSamples =
      preRollMs === undefined ? TURN_PRE_ROLL_SAMPLES : Math.round((preRollMs * LINE_RATE_HZ) / 1000);
  }

  /**
   * Caller audio at 8 kHz, or the silence that stands for audio that never came. `wide` is the same stretch at 16 kHz;
   * where it is wanted and not there, the audio at 8 kHz is doubled in its place.
   */
  hear(samples: Int16Array, wide?: Int16Array): void {
    if (this.closed) return;
    this.gate.heard(samples, this.window.endSample);
    this.window.push(samples);
    this.wide?.push(samples, wide);
    if (this.isTurnOpen || this.segmenter.speaking || this.wantsSilence()) this.feed();
    if (!this.isPumping) this.pumping = this.pump();
  }

  /** A frame of the bot, which the caller hears from this sample of the line clock on. */
  botSent(frame: Int16Array, playAtSample: number): void {
    this.gate.sent(frame, playAtSample);
    this.echo.botHeardUntil(playAtSample + frame.length);
  }

  /** While a turn is open, engines that want no silence are fed its pauses too. */
  set turnIsOpen(isOpen: boolean) {
    this.isTurnOpen = isOpen;
  }

  get isSpeaking(): boolean {
    return this.segmenter.speaking && !this.isDoubted;
  }

  /** Words have shown that what sounded like the bot was the bot. */
  learnEcho(): void {
    this.gate.learn();
  }

  /** Up to here the line's audio has been looked at; the clock of all turn timers. */
  get heardUptoSample(): number {
    return this.nextWindowSample;
  }

  /** What was learned of the line. */
  get line(): EchoGate['line'] {
    return this.gate.line;
  }

  get hearHz(): HearingHz {
    return this.wide ? WIDE_RATE_HZ : LINE_RATE_HZ;
  }

  /** Audio of a turn with its pre-roll, its last 8 s, at `hearHz`. */
  turnAudio(fromSample: number, toSample: number): Int16Array {
    return this.segment(Math.max(0, fromSample - this.preRollSamples), toSample);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.pumping;
    this.vad?.reset();
  }

  private async pump(): Promise<void> {
    this.isPumping = true;
    try {
      while (!this.closed) {
        // After a flood the ring may have moved past what nobody looked at; go on with what is still there.
        if (this.nextWindowSample < this.window.startSample) this.nextWindowSample = this.window.startSample;
        if (!this.window.copyTo(this.lineWindow, this.nextWindowSample)) return;
        this.wide?.window.copyTo(this.vadWindow, this.nextWindowSample);
        const levelDbfs = this.level(this.lineWindow);
        const probability = await this.probability();
        if (this.closed) return;
        this.onWindow(this.noise.gate(probability, levelDbfs), levelDbfs);
      }
    } finally {
      this.isPumping = false;
    }
  }

  /** Without voice activity the call goes on by the words of the engine alone. */
  private async probability(): Promise<number> {
    try {
      return (await this.vad?.probability(this.vadWindow)) ?? 0;
    } catch {
      this.vad = null;
      return 0;
    }
  }

  private onWindow(probability: number, levelDbfs: number): void {
    const event = this.segmenter.push(probability, this.nextWindowSample);
    this.nextWindowSample += VAD_WINDOW_SAMPLES;
    if (event?.type === 'speech_start') this.onSpeechStart(event.atSample);
    if (this.segmenter.speaking) this.whileSpeaking();
    if (event?.type === 'speech_stop') this.onSpeechStop(event.atSample);
    this.hooks.onWindow(levelDbfs, this.segmenter.speaking);
  }

  private onSpeechStart(fromSample: number): void {
    this.speechFromSample = fromSample;
    if (!this.wantsSilence() && !this.isTurnOpen) {
      this.fedSample = Math.max(this.fedSample, fromSample - this.preRollSamples, 0);
    }
    this.isDoubted = false;
    this.echo.begin();
    this.hooks.onSpeechStart(fromSample);
    // The turn stands before the engine hears its beginning: some give words at once.
    this.feed();
  }

  private whileSpeaking(): void {
    this.watchEcho();
    if (this.isDoubted) return;
    this.speechSamples += VAD_WINDOW_SAMPLES;
    this.stt.speechHeard?.((VAD_WINDOW_SAMPLES * 1000) / LINE_RATE_HZ);
  }

  /** Speech may turn out to sound like the bot once enough of it was heard, and a caller may speak into an echo. */
  private watchEcho(): void {
    const verdict = this.echo.look(this.speechFromSample, this.nextWindowSample);
    if (verdict === null) return;
    this.isDoubted = verdict === 'doubt';
    if (!this.isDoubted) this.speechFromSample = this.nextWindowSample - VAD_WINDOW_SAMPLES;
    this.hooks.onDoubt(this.isDoubted, this.speechFromSample);
  }

  private onSpeechStop(lastSample: number): void {
    // The silence behind a short word belongs to its shape.
    if (!this.isDoubted) this.watchEcho();
    this.hooks.onSpeechStop(lastSample);
    this.isDoubted = false;
  }

  private feed(): void {
    const end = this.window.endSample;
    if (end <= this.fedSample) return;
    this.stt.feed(this.segment(this.fedSample, end));
    this.fedSample = end;
  }

  private segment(fromSample: number, toSample: number): Int16Array {
    return (this.wide?.window ?? this.window).segment(fromSample, toSample);
  }
}
