import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { spokenLanguage } from '../../providers/rescue-lines.ts';
import type { SpeechToText } from '../../providers/speech-to-text.ts';
import { CallerListener } from '../listen/caller-listener.ts';
import { LateSession } from '../listen/late-session.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import { overlapJudge } from '../turn/overlap-meaning.ts';
import { type CallAction, TurnDriver } from '../turn/turn-driver.ts';
import { turnRules } from '../turn/turn-rules.ts';
import type { TurnStrategy } from '../turn/turn-types.ts';
import { TurnWaits } from '../turn/turn-waits.ts';

export interface EarsHooks {
  obey(action: CallAction): void;
  onTranscriptionFailure(error: Error): void;
  /** Speech to text is gone for good. */
  onDeaf(error: Error): void;
  onPauseLearned(silenceMs: number): void;
}

/**
 * The ears of a call put together: what listens to the audio, the engine that understands it, and the turn machine
 * that both report to.
 */
export class CallEars {
  readonly listener: CallerListener;
  readonly turns: TurnDriver;
  readonly waits: TurnWaits;
  private readonly session: LateSession;

  /** The engine connects while the bot speaks already. */
  constructor(options: {
    config: RuntimeConfig;
    stt: SpeechToText;
    vad: VoiceActivity | null;
    turnModel: TurnModel | null;
    finalWaitSamples: () => number;
    hooks: EarsHooks;
  }) {
    const { config, stt, hooks } = options;
    const { vad } = config;
    const turnModel = vad.turn_model === 'off' ? null : options.turnModel;
    const strategy = (): TurnStrategy => {
      if (vad.turn_detection !== 'local' && stt.detectsTurns) return 'stt';
      return turnModel ? 'model' : 'silence';
    };
    const opening = stt.open({
      onInterim: (text) => this.turns.interim(text),
      onTurn: (event) => this.turns.engineTurn(event),
      onFailure: (error) => hooks.onDeaf(error),
    });
    opening.catch((error) => hooks.onDeaf(error));
    this.session = new LateSession(opening);
    this.listener = new CallerListener({
      vad: options.vad,
      stt: this.session,
      wantsSilence: () => stt.wantsSilence,
      config: vad,
      hooks: {
        onSpeechStart: (fromSample) => this.turns.speechStarted(fromSample),
        onSpeechStop: (lastSample) => this.turns.speechStopped(lastSample),
        onEcho: () => this.turns.send({ type: 'not_speech' }),
        onHeard: () => this.turns.advance(),
      },
    });
    this.waits = new TurnWaits(vad, hooks.onPauseLearned);
    this.turns = new TurnDriver({
      rules: turnRules(config, { strategy: strategy(), givesInterims: true, flushAtStop: false }),
      waits: this.waits,
      turnModel,
      turnThreshold: vad.turn_threshold ?? 0.5,
      meaningOf: overlapJudge({
        language: spokenLanguage(config),
        minWords: config.min_words_interruption,
        ...(vad.backchannels ? { backchannels: vad.backchannels } : {}),
        ...(vad.stop_phrases ? { stops: vad.stop_phrases } : {}),
      }),
      stt: this.session,
      strategy,
      finalWaitSamples: options.finalWaitSamples,
      ears: this.listener,
      hooks,
    });
  }

  async close(): Promise<void> {
    this.turns.stop();
    await this.listener.close();
    await this.session.close();
  }
}
