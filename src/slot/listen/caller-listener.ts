import { LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../contracts/limits.ts';
import type { VadConfig } from '../../contracts/runtime-config.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { SttResult, SttSession, SttTurnEvent } from '../../providers/speech-to-text.ts';
import { EngineTurns } from './engine-turns.ts';
import { NoiseFloor } from './noise-floor.ts';
import { type SpeechEvent, SpeechSegmenter } from './speech-segmenter.ts';
import type { TurnModel, TurnVerdict } from './turn-model.ts';
import { TURN_MIN_SPEECH_SAMPLES, TURN_PRE_ROLL_SAMPLES, TurnWindow } from './turn-window.ts';
import type { VoiceActivity } from './voice-activity.ts';

/**
 * Hears the caller: audio into windows, windows into speech, speech into turns. A turn opens when speech begins and
 * ends when the turn model calls it complete, when an incomplete one stays silent for too long, or, without a
 * verdict, by the silence rule. Where the engine itself detects turns, its word ends them instead, and only the
 * caller's interruptions are noticed here (RT-05). All of it counts received samples (RT-10).
 */
export interface UserTurn {
  text: string;
  confidence: number | null;
  /** First and last sample of the caller's speech. */
  fromSample: number;
  toSample: number;
  decidedBy: 'model' | 'forced_end' | 'silence_rule' | 'stt' | 'stt_timeout';
  /** The last verdict of the turn model, null where there was none. */
  probability: number | null;
  /** Why the silence rule decided. */
  ruleReason: string | null;
  /** From the last speech sample's arrival to the decision, and from there to the text. */
  endpointMs: number;
  transcribeMs: number;
}

export interface ListenerHooks {
  /** Whether the bot is being heard, or about to be: speech now is an interruption. */
  botHasTheFloor(): boolean;
  onInterruption(): void;
  onTurn(turn: UserTurn): void;
  /** A turn without words: noise, or an engine that heard nothing. */
  onEmptyTurn(): void;
  onTranscriptionFailure(error: Error): void;
}

/**
 * The transcript of a finished turn must come within this; then the turn counts as failed. It leaves an engine the
 * time to be reconnected and hear the turn again (reference/providers.md 2: 5 s in all); a caller who waits that long
 * hears the rescue line meanwhile.
 */
const FLUSH_TIMEOUT_MS = 6_000;
const VERDICT_DEADLINE_MS = 250;
/** A turn that the engine holds open over this much silence is also shown to the turn model. */
const DOUBT_ENGINE_MS = 2_500;

interface OpenTurn {
  fromSample: number;
  lastSpeechSample: number;
  speechSamples: number;
  segmentFromSample: number;
  /** Grows whenever speech begins or stops, so that a verdict on an older state is dropped. */
  epoch: number;
  /** The turn ends here unless speech comes first. */
  deadlineSample: number;
  decidedBy: UserTurn['decidedBy'];
  probability: number | null;
  ruleReason: string | null;
  stoppedAtMs: number;
  /** The turn model was asked about an engine that does not end this turn. */
  isDoubted: boolean;
}

export class CallerListener {
  private readonly vad: VoiceActivity | null;
  private readonly turnModel: TurnModel | null;
  private readonly stt: SttSession;
  private readonly wantsSilence: () => boolean;
  private readonly engineDetectsTurns: () => boolean;
  private readonly engine = new EngineTurns();
  private readonly hooks: ListenerHooks;
  private readonly segmenter: SpeechSegmenter;
  private readonly noise = new NoiseFloor();
  private readonly level = audioKernels().level;
  private readonly window = new TurnWindow();
  private readonly vadWindow = new Int16Array(VAD_WINDOW_SAMPLES);
  private readonly turnThreshold: number;
  private readonly forcedEndSamples: number;
  private readonly silenceSamples: number;
  private readonly interruptionSamples: number;
  private turn: OpenTurn | undefined;
  private nextWindowSample = 0;
  private fedSample = 0;
  private pumping: Promise<void> = Promise.resolve();
  private isPumping = false;
  private closed = false;
  private interrupted = false;
  private flushing = 0;
  /** When the caller's latest speech ended; before the first, the beginning of the call. */
  speechEndedAtMs = monotonicMs();
  /** Samples of speech in the whole call: tells silence from a deaf engine (RT-26). */
  speechSamples = 0;

  constructor(options: {
    vad: VoiceActivity | null;
    turnModel: TurnModel | null;
    stt: SttSession;
    /** Asked anew each time: an engine that takes over for another may want something else. */
    wantsSilence: () => boolean;
    engineDetectsTurns?: () => boolean;
    config: VadConfig;
    hooks: ListenerHooks;
  }) {
    const { config } = options;
    this.vad = options.vad;
    this.turnModel = config.turn_model === 'off' ? null : options.turnModel;
    this.stt = options.stt;
    this.wantsSilence = options.wantsSilence;
    const detects = options.engineDetectsTurns ?? (() => false);
    this.engineDetectsTurns = () => config.turn_detection !== 'local' && detects();
    this.hooks = options.hooks;
    this.segmenter = new SpeechSegmenter(config);
    this.turnThreshold = config.turn_threshold ?? 0.5;
    this.forcedEndSamples = samplesOf(config.turn_forced_end_ms ?? 1_600);
    this.silenceSamples = samplesOf(config.turn_silence_ms ?? 700);
    this.interruptionSamples = samplesOf(config.interruption_ms ?? 250);
  }

  /** Caller audio, or the silence that stands for audio that never came. */
  hear(samples: Int16Array): void {
    if (this.closed) return;
    this.window.push(samples);
    if (this.turn || this.wantsSilence()) this.feed();
    if (!this.isPumping) this.pumping = this.pump();
  }

  /** Whether the caller is in the middle of saying something. */
  get turnIsOpen(): boolean {
    return this.turn !== undefined;
  }

  /** Whether a turn is over and its words are still to come. */
  get isTranscribing(): boolean {
    return this.flushing > 0;
  }

  /** The engine has text of the open turn: it hears the caller. */
  onInterim(): void {
    this.engine.sign(monotonicMs());
  }

  /** Turn events of the engine. They count only while it is the one that detects turns. */
  onEngineTurn(event: SttTurnEvent): void {
    if (this.closed || !this.engineDetectsTurns() || this.isTranscribing) return;
    this.engine.took(event, monotonicMs());
    // A quiet caller whom the engine heard and voice activity did not has a turn all the same (pain 41).
    this.turn ??= this.newTurn(this.window.endSample, this.window.endSample);
    if (event.type === 'end') this.endByEngine(this.turn, event.text.trim(), event.confidence);
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
        if (!this.window.copyTo(this.vadWindow, this.nextWindowSample)) return;
        const levelDbfs = this.level(this.vadWindow);
        const probability = this.vad ? await this.vad.probability(this.vadWindow) : 0;
        if (this.closed) return;
        this.onWindow(this.noise.gate(probability, levelDbfs));
      }
    } finally {
      this.isPumping = false;
    }
  }

  private onWindow(probability: number): void {
    const event = this.segmenter.push(probability, this.nextWindowSample);
    this.nextWindowSample += VAD_WINDOW_SAMPLES;
    if (event?.type === 'speech_start') this.onSpeechStart(event);
    if (event?.type === 'speech_stop') this.onSpeechStop(event);
    if (this.segmenter.speaking) {
      this.speechEndedAtMs = this.arrivalOf(this.segmenter.speechEndSample);
      this.stt.speechHeard?.((VAD_WINDOW_SAMPLES * 1000) / LINE_RATE_HZ);
    }
    const turn = this.turn;
    if (!turn) return;
    if (this.segmenter.speaking) {
      this.speechSamples += VAD_WINDOW_SAMPLES;
      turn.speechSamples += VAD_WINDOW_SAMPLES;
      this.interruptWhenDue(turn);
    } else if (this.engineDetectsTurns()) {
      this.watchEngine(turn);
    } else if (this.nextWindowSample >= turn.deadlineSample) {
      void this.endTurn(turn);
    }
  }

  private onSpeechStart(event: SpeechEvent): void {
    this.interrupted = false;
    if (this.turn) {
      this.turn.epoch++;
      this.turn.deadlineSample = Number.POSITIVE_INFINITY;
      return;
    }
    this.turn = this.newTurn(event.atSample, event.confirmedAtSample);
    if (!this.wantsSilence()) this.fedSample = Math.max(this.fedSample, this.turn.segmentFromSample);
    this.feed();
  }

  private newTurn(fromSample: number, toSample: number): OpenTurn {
    return {
      fromSample,
      lastSpeechSample: toSample,
      speechSamples: toSample - fromSample,
      segmentFromSample: Math.max(0, fromSample - TURN_PRE_ROLL_SAMPLES),
      epoch: 0,
      deadlineSample: Number.POSITIVE_INFINITY,
      decidedBy: 'silence_rule',
      probability: null,
      ruleReason: null,
      stoppedAtMs: monotonicMs(),
      isDoubted: false,
    };
  }

  /** Time counts as an interruption only while the bot has the floor (RT-11, the time rule). */
  private interruptWhenDue(turn: OpenTurn): void {
    if (this.interrupted || !this.hooks.botHasTheFloor()) return;
    if (this.nextWindowSample - turn.fromSample < this.interruptionSamples) return;
    this.interrupted = true;
    this.hooks.onInterruption();
  }

  private onSpeechStop(event: SpeechEvent): void {
    const turn = this.turn;
    if (!turn) return;
    turn.lastSpeechSample = event.atSample;
    turn.stoppedAtMs = this.arrivalOf(event.atSample);
    this.speechEndedAtMs = turn.stoppedAtMs;
    turn.epoch++;
    if (!this.engineDetectsTurns()) {
      void this.judge(turn, turn.epoch, event.confirmedAtSample);
      return;
    }
    turn.isDoubted = false;
    // Counts only where an engine without turns takes over before this one ends the turn.
    turn.ruleReason = 'engine_changed';
    turn.deadlineSample = turn.lastSpeechSample + this.silenceSamples;
  }

  /** When a sample came: before now by what has come since. */
  private arrivalOf(sample: number): number {
    return monotonicMs() - ((this.window.endSample - sample) * 1000) / LINE_RATE_HZ;
  }

  private endByEngine(turn: OpenTurn, text: string, confidence: number | null): void {
    this.turn = undefined;
    if (text === '') {
      this.hooks.onEmptyTurn();
      return;
    }
    if (this.segmenter.speaking) {
      turn.lastSpeechSample = this.segmenter.speechEndSample;
      turn.stoppedAtMs = this.arrivalOf(turn.lastSpeechSample);
    }
    turn.decidedBy = 'stt';
    this.hooks.onTurn(this.turnOf(turn, { text, confidence }, monotonicMs()));
  }

  private watchEngine(turn: OpenTurn): void {
    const now = monotonicMs();
    if (now >= this.engine.trustedUntilMs(turn.stoppedAtMs)) this.endWithoutEngine(turn);
    else if (now >= turn.stoppedAtMs + DOUBT_ENGINE_MS && !turn.isDoubted) void this.doubtEngine(turn);
  }

  /** The engine waits for more although the caller has been silent for long: a second opinion. */
  private async doubtEngine(turn: OpenTurn): Promise<void> {
    turn.isDoubted = true;
    const { epoch } = turn;
    const verdict = await this.askModel(turn, turn.lastSpeechSample);
    if (this.turn !== turn || turn.epoch !== epoch || this.closed) return;
    if (verdict.decidedBy !== 'model') return;
    turn.probability = verdict.probability;
    if (verdict.probability > this.turnThreshold) this.endWithoutEngine(turn);
  }

  /** The engine does not end the turn, or never began one: it is asked for what it has. */
  private endWithoutEngine(turn: OpenTurn): void {
    turn.decidedBy = 'stt_timeout';
    this.engine.forget();
    void this.endTurn(turn);
  }

  private async judge(turn: OpenTurn, epoch: number, toSample: number): Promise<void> {
    const verdict = await this.askModel(turn, toSample);
    if (this.turn !== turn || turn.epoch !== epoch || this.closed) return;
    if (verdict.decidedBy === 'model') {
      turn.probability = verdict.probability;
      if (verdict.probability > this.turnThreshold) {
        turn.decidedBy = 'model';
        await this.endTurn(turn);
        return;
      }
      turn.decidedBy = 'forced_end';
      turn.deadlineSample = turn.lastSpeechSample + this.forcedEndSamples;
    } else {
      turn.decidedBy = 'silence_rule';
      turn.ruleReason = verdict.reason;
      turn.deadlineSample = turn.lastSpeechSample + this.silenceSamples;
    }
  }

  private async askModel(
    turn: OpenTurn,
    toSample: number,
  ): Promise<TurnVerdict | { decidedBy: 'silence_rule'; reason: string }> {
    if (!this.turnModel) return { decidedBy: 'silence_rule', reason: 'off' };
    if (turn.speechSamples < TURN_MIN_SPEECH_SAMPLES) return { decidedBy: 'silence_rule', reason: 'short' };
    const segment = this.window.segment(turn.segmentFromSample, toSample);
    return this.turnModel.judge(segment, VERDICT_DEADLINE_MS);
  }

  private async endTurn(turn: OpenTurn): Promise<void> {
    this.turn = undefined;
    const endedAtMs = monotonicMs();
    this.flushing++;
    let heard: SttResult;
    try {
      heard = await this.stt.flush(AbortSignal.timeout(FLUSH_TIMEOUT_MS));
    } catch (error) {
      if (!this.closed) this.hooks.onTranscriptionFailure(error as Error);
      return;
    } finally {
      this.flushing--;
    }
    if (this.closed) return;
    const text = heard.text.trim();
    if (text === '') this.hooks.onEmptyTurn();
    else this.hooks.onTurn(this.turnOf(turn, { text, confidence: heard.confidence }, endedAtMs));
  }

  private turnOf(
    turn: OpenTurn,
    heard: { text: string; confidence: number | null },
    endedAtMs: number,
  ): UserTurn {
    return {
      ...heard,
      fromSample: turn.fromSample,
      toSample: turn.lastSpeechSample,
      decidedBy: turn.decidedBy,
      probability: turn.probability,
      ruleReason: turn.decidedBy === 'silence_rule' ? turn.ruleReason : null,
      endpointMs: Math.max(0, Math.round(endedAtMs - turn.stoppedAtMs)),
      transcribeMs: Math.round(monotonicMs() - endedAtMs),
    };
  }

  private feed(): void {
    const end = this.window.endSample;
    if (end <= this.fedSample) return;
    this.stt.feed(this.window.segment(this.fedSample, end));
    this.fedSample = end;
  }
}

function samplesOf(ms: number): number {
  return Math.round((ms * LINE_RATE_HZ) / 1000);
}
