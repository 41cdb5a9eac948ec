import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import type { CallMeter } from '../measure/call-measures.ts';
import type { CallLog } from '../record/call-log.ts';
import type { BotVoice } from '../speak/bot-voice.ts';
import { callerLine } from '../speak/caller-lines.ts';
import type { Fillers } from '../speak/fillers.ts';
import type { Agent } from '../think/agent.ts';
import { reEngagementPlan } from '../turn/re-engagement.ts';
import type { CallAction } from '../turn/turn-driver.ts';
import { msOf, WARNING_SECONDS } from '../turn/turn-rules.ts';
import type { EndSignal } from '../wrap-up/end-arbiter.ts';
import type { Answering } from './answering.ts';
import type { CallReporter, UserTurn } from './call-reporter.ts';
import type { FailureHandler } from './failure-handler.ts';
import type { SpeechInput } from './speech-input.ts';

/** Below this mean confidence the caller is asked to say it again, once (RT-83). */
const LOW_CONFIDENCE = 0.4;

export interface TurnActionsParts {
  config: RuntimeConfig;
  voice: BotVoice;
  agent: Agent;
  answering: Answering;
  reporter: CallReporter;
  failureHandler: FailureHandler;
  measures: CallMeter;
  fillers: Fillers;
  log: CallLog;
  speechInput: () => SpeechInput;
  end(signal: EndSignal): void;
}

/**
 * Does what the turn machine asks for: lets the bot begin, pause, go on and stop, has turns answered, and tells the
 * record. Who speaks when is not decided here.
 */
export class TurnActions {
  private readonly parts: TurnActionsParts;
  private readonly prompts: readonly string[];
  /** What noise cut off, until somebody says something: the bot goes on with it. */
  private unheard = '';
  private askedAgain = false;
  private warningIsDue = false;
  private heldAtSample = 0;
  private heldReply: number | null = null;
  /** Timers that guarded against something stuck and fired, by name (RT-09). */
  readonly expiredTimers: Record<string, number> = {};
  userTurns = 0;
  overlaps = 0;
  /** Turns that the caller was asked to say again, because nothing was understood of them. */
  lostTurns = 0;

  constructor(parts: TurnActionsParts) {
    this.parts = parts;
    const { config } = parts;
    this.prompts = reEngagementPlan(config.re_engagement, spokenLanguage(config)).lines;
  }

  apply(action: CallAction): void {
    const { voice, failureHandler, answering, measures, log } = this.parts;
    switch (action.type) {
      case 'pause_bot':
        this.pause();
        return;
      case 'resume_bot':
        this.resume();
        return;
      case 'cut_bot':
        this.cut();
        return;
      case 'withdraw':
        voice.cut();
        this.parts.agent.withdraw(action.turn);
        measures.turnWithdrawn(action.reply);
        this.parts.reporter.withdrawn(action.reply);
        return;
      case 'take_turn':
        this.takeTurn(action);
        return;
      case 'overlap':
        this.keepUnconfirmed(action);
        return;
      case 'echo':
        answering.dropPreemptive('it was the bot');
        this.parts.reporter.echo(action.text, this.parts.speechInput().listener.line);
        return;
      case 'empty_turn':
        this.onEmptyTurn(action.mayContinue);
        return;
      case 'say_again':
        this.onLostTurn(action);
        return;
      case 're_engage':
        log.event('re_engagement', { line: action.line });
        answering.sayText('prompt', this.prompts[action.line] ?? '');
        return;
      case 'say_filler':
        // A paused bot says nothing new; it is asked again.
        if (this.parts.speechInput().turns.state.isPaused) return;
        void this.parts.fillers.owed().then((isSaid) => {
          if (!isSaid) failureHandler.bridge();
        });
        return;
      case 'say_rescue':
        failureHandler.bridge();
        return;
      case 'warn_duration':
        this.warningIsDue = true;
        this.warnWhenQuiet();
        return;
      case 'closing_cancelled':
        log.event('closing_cancelled', { trigger: 'closure_phrase', reason: 'the caller spoke' });
        return;
      case 'expired':
        this.countExpired(action.timer);
        return;
      case 'end':
        this.onEnd(action.cause);
        return;
    }
  }

  /** A line that nobody waits for is said when nobody else speaks. */
  warnWhenQuiet(): void {
    const { voice, config, log, answering } = this.parts;
    if (!this.warningIsDue || voice.isBusy || this.parts.speechInput().turns.state.phase !== 'caller_silent')
      return;
    this.warningIsDue = false;
    log.event('duration_warning', { seconds_left: WARNING_SECONDS });
    answering.sayText('prompt', callerLine(spokenLanguage(config), 'ending_soon'));
  }

  private takeTurn(action: Extract<CallAction, { type: 'take_turn' }>): void {
    const { reporter, failureHandler, answering } = this.parts;
    const turn = this.describe(action);
    this.userTurns++;
    this.unheard = '';
    failureHandler.heardTurn();
    reporter.turn(turn, this.parts.speechInput().turns.state.nowSample);
    const isUncertain = turn.confidence !== null && turn.confidence < LOW_CONFIDENCE;
    const asks = isUncertain && !this.askedAgain;
    this.askedAgain = asks;
    if (isUncertain) reporter.uncertain(turn, asks ? 'asked_again' : 'accepted');
    if (!asks) {
      answering.answer(turn, isUncertain);
      return;
    }
    answering.askAgain(turn);
  }

  private describe(action: Extract<CallAction, { type: 'take_turn' }>): UserTurn {
    const { turns } = this.parts.speechInput();
    const evidence = turns.evidenceOf(action.turn);
    return {
      id: action.turn,
      text: action.text,
      confidence: evidence.confidence,
      fromSample: action.fromSample,
      toSample: action.toSample,
      decidedAtSample: action.decidedAtSample,
      decidedAtMs: evidence.decidedAtMs,
      decidedBy: action.decidedBy,
      probability: action.probability,
      ruleReason: action.decidedBy === 'silence_rule' ? evidence.ruleReason : null,
      endpointMs: msOf(Math.max(0, action.decidedAtSample - action.toSample)),
      transcribeMs: msOf(Math.max(0, turns.state.nowSample - action.decidedAtSample)),
    };
  }

  private pause(): void {
    const { voice, measures, log } = this.parts;
    const { reply, turn, nowSample } = this.parts.speechInput().turns.state;
    voice.pause();
    measures.botPaused();
    this.heldAtSample = nowSample;
    this.heldReply = reply?.isAudible ? reply.id : null;
    // A bot that was not heard is kept from beginning, which is no pause to anybody.
    if (this.heldReply === null) return;
    log.event('bot_held', {
      reply: this.heldReply,
      onset_ms: msOf(nowSample - (turn?.fromSample ?? nowSample)),
    });
  }

  private resume(): void {
    const { voice, measures, log } = this.parts;
    const { nowSample } = this.parts.speechInput().turns.state;
    voice.resume();
    measures.botReleased();
    if (this.heldReply === null) return;
    log.event('bot_resumed', { reply: this.heldReply, duration_ms: msOf(nowSample - this.heldAtSample) });
  }

  private cut(): void {
    const { voice, reporter, measures } = this.parts;
    const { turn, nowSample } = this.parts.speechInput().turns.state;
    const droppedMs = voice.queuedMs;
    const reply = voice.cut();
    if (!reply) return;
    measures.botSilenced();
    this.unheard = voice.ledger.unheardText(reply.id);
    reporter.interrupted(reply, { droppedMs, onsetMs: msOf(nowSample - (turn?.fromSample ?? nowSample)) });
  }

  private keepUnconfirmed({ text, fromSample }: Extract<CallAction, { type: 'overlap' }>): void {
    const { turns, meaningOf } = this.parts.speechInput();
    this.parts.answering.dropPreemptive('the words were no turn');
    this.parts.failureHandler.heardTurn();
    this.overlaps++;
    this.parts.reporter.overlap(text, meaningOf(text), fromSample, turns.state.nowSample);
  }

  /** Speech without words. Where it cut the bot off, the bot goes on with what the caller has not heard. */
  private onEmptyTurn(mayContinue: boolean): void {
    this.parts.answering.dropPreemptive('there were no words');
    this.parts.log.event('empty_turn');
    const rest = this.unheard;
    this.unheard = '';
    if (mayContinue && rest !== '' && !this.parts.voice.isBusy) this.parts.answering.sayText('prompt', rest);
  }

  /** Nothing is known of what a turn said: the caller is asked to say it again. */
  private onLostTurn(action: Extract<CallAction, { type: 'say_again' }>): void {
    const { turn, isUnheard, toSample, decidedAtSample } = action;
    const { turns } = this.parts.speechInput();
    this.lostTurns++;
    if (isUnheard) this.parts.log.event('empty_turn', { note: 'somebody spoke, and no words came of it' });
    this.parts.answering.dropPreemptive('there was no text');
    const { decidedAtMs } = turns.evidenceOf(turn);
    this.parts.measures.turnLost({ turn, toSample, decidedAtSample, decidedAtMs });
    this.parts.failureHandler.transcriptionFailed(turns.lastFailure, isUnheard && this.isMute);
  }

  /** No word of the caller has ever been understood, and there is no other engine to ask. */
  private get isMute(): boolean {
    const { fallbacks = [] } = this.parts.config.stt;
    return this.userTurns + this.overlaps === 0 && fallbacks.length === 0;
  }

  private countExpired(timer: string): void {
    const count = (this.expiredTimers[timer] ?? 0) + 1;
    this.expiredTimers[timer] = count;
    this.parts.log.event('timer_expired', { timer, count });
  }

  private onEnd(cause: Extract<CallAction, { type: 'end' }>['cause']): void {
    const { end, failureHandler, answering } = this.parts;
    if (cause === 'response_timeout') failureHandler.onResponseTimeout();
    else if (cause === 'end_call') end({ kind: 'end_call', reason: answering.endReason });
    else end({ kind: cause });
  }
}
