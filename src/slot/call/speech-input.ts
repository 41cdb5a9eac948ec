import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { SttSession } from '../../providers/contract/speech-to-text.ts';
import type { CallSpeechToText } from '../../providers/resilient/resilient-stt.ts';
import { sttTraits } from '../../providers/resilient/stt-traits.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import type { HearingHz } from '../audio/hearing-rate.ts';
import { CallerListener } from '../listen/caller-listener.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import { HeardWords } from '../turn/heard-words.ts';
import { answerJudge, interruptionJudge } from '../turn/interruption-meaning.ts';
import { reEngagementPlan } from '../turn/re-engagement.ts';
import { type SaidClause, SaidWords } from '../turn/said-words.ts';
import { type CallAction, TurnDriver } from '../turn/turn-driver.ts';
import { turnRules } from '../turn/turn-rules.ts';
import type { InterruptionMeaning, TurnStrategy } from '../turn/turn-types.ts';
import { TurnWaits } from '../turn/turn-waits.ts';

export interface SpeechInputHooks {
  apply(action: CallAction): void;
  onTranscriptionFailure(error: Error): void;
  /** Speech to text is gone for good. */
  onDeaf(error: Error): void;
  onPauseLearned(silenceMs: number): void;
  /** What is heard, for whoever else wants to know: measures, and who judges who has answered. */
  onSpeechStart(fromSample: number): void;
  onSpeechStop(lastSample: number): void;
  onSpeechDenied(): void;
  onWindow(levelDbfs: number, isSpeech: boolean): void;
  /** What the caller says, so far or in the end. */
  onText(text: string): void;
  /** A turn is probably over with these words (RT-51); and it is not. */
  onProbableEnd(turn: number, text: string): void;
  onContinued(): void;
}

/** Voice activity begins this much later than the tone that it takes for a voice, at most. */
const KEY_EDGE_SAMPLES = 0.3 * LINE_RATE_HZ;

/**
 * The speech input of a call put together: what listens to the audio, the engine that understands it, and the turn machine
 * that both report to.
 */
export class SpeechInput {
  readonly listener: CallerListener;
  readonly turns: TurnDriver;
  readonly waits: TurnWaits;
  /** What words mean that are said over the bot, by the lists alone. */
  readonly meaningOf: (text: string) => InterruptionMeaning;
  private readonly said = new SaidWords();
  private readonly session: SttSession;
  private keySample = Number.NEGATIVE_INFINITY;
  /** What is being heard are keys. */
  private isKeySound = false;
  private readonly hooks: SpeechInputHooks;

  /** The engine connects while the bot speaks already. */
  constructor(options: {
    config: RuntimeConfig;
    stt: CallSpeechToText;
    vad: VoiceActivity | null;
    turnModel: TurnModel | null;
    /** What speech to text was opened at. */
    hearHz: HearingHz;
    finalWaitSamples: () => number;
    /** What is still to be heard of a reply that ends with a question (RT-13). */
    questionLeftMs: () => number | null;
    hooks: SpeechInputHooks;
  }) {
    const { config, stt, hooks } = options;
    const { vad } = config;
    this.hooks = hooks;
    const turnModel = vad.turn_model === 'off' ? null : options.turnModel;
    const strategy = (): TurnStrategy => {
      if (vad.turn_detection !== 'local' && stt.detectsTurns) return 'stt';
      return turnModel ? 'model' : 'silence';
    };
    const givesInterims = () => {
      const engines = [config.stt, ...(config.stt.fallbacks ?? [])];
      const engine = engines.find(({ provider }) => provider === stt.name) ?? config.stt;
      return engine.provider === 'scripted' || sttTraits(engine).tellsWordsAtOnce;
    };
    this.session = stt.open({
      onInterim: (text) => this.turns.interim(text),
      onTurn: (event) => this.turns.engineTurn(event),
      onFailure: (error) => hooks.onDeaf(error),
    });
    this.listener = new CallerListener({
      vad: options.vad,
      stt: this.session,
      wantsSilence: () => stt.wantsSilence,
      config: vad,
      hearHz: options.hearHz,
      hooks: {
        onSpeechStart: (fromSample) => {
          this.isKeySound = fromSample <= this.keySample + KEY_EDGE_SAMPLES;
          if (this.isKeySound) return;
          hooks.onSpeechStart(fromSample);
          this.turns.speechStarted(fromSample);
        },
        onSpeechStop: (lastSample) => {
          if (this.isKeySound) return;
          hooks.onSpeechStop(lastSample);
          this.turns.speechStopped(lastSample);
        },
        onDoubt: (isDoubted, fromSample) => {
          if (this.isKeySound) return;
          if (isDoubted) hooks.onSpeechDenied();
          else hooks.onSpeechStart(fromSample);
          this.turns.speechDoubted(isDoubted, fromSample);
        },
        onWindow: (levelDbfs, isSpeech) => {
          hooks.onWindow(levelDbfs, isSpeech);
          this.turns.advance();
        },
      },
    });
    const language = spokenLanguage(config);
    this.meaningOf = interruptionJudge({
      language,
      minWords: config.min_words_interruption,
      ...(vad.backchannels ? { backchannels: vad.backchannels } : {}),
      ...(vad.stop_phrases ? { stops: vad.stop_phrases } : {}),
    });
    const words = new HeardWords({
      meaningOf: this.meaningOf,
      canAnswer: answerJudge(language),
      questionLeftMs: options.questionLeftMs,
      said: this.said,
    });
    this.waits = new TurnWaits(vad, language, hooks.onPauseLearned);
    this.turns = new TurnDriver({
      rules: turnRules(
        config,
        {
          strategy: strategy(),
          givesInterims: givesInterims(),
          // The decision about a turn follows its stop within 50 ms, and a text asked for sooner may be half a one.
          flushAtStop: false,
          wordWaitSamples: (text, probability) => this.waits.wordSamples(text, probability),
        },
        reEngagementPlan(config.re_engagement, language),
      ),
      waits: this.waits,
      turnModel,
      turnThreshold: vad.turn_threshold ?? 0.5,
      words,
      stt: this.session,
      strategy,
      givesInterims,
      finalWaitSamples: options.finalWaitSamples,
      speechInput: this.listener,
      hooks,
    });
  }

  /** A frame of the bot, which the caller hears from this sample of the line clock on, and what it is saying. */
  botSent(frame: Int16Array, playAtSample: number, clause: SaidClause | undefined): void {
    this.listener.botSent(frame, playAtSample);
    if (clause) this.said.heard(clause, playAtSample, playAtSample + frame.length);
  }

  /** The tone of a key has just been heard: voice activity about this time is none. */
  keyHeard(): void {
    this.keySample = this.listener.heardUptoSample;
    if (!this.listener.isSpeaking || this.isKeySound) return;
    this.isKeySound = true;
    this.hooks.onSpeechDenied();
    this.turns.send({ type: 'not_speech' });
  }

  async close(): Promise<void> {
    this.turns.stop();
    await this.turns.lastWords;
    await this.listener.close();
    await this.session.close();
  }
}
