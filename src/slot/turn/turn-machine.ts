import { newTurn } from './caller-turn.ts';
import {
  armResponseTimers,
  boundInterruption,
  cancelClosing,
  END_TIMERS,
  endReply,
  enter,
  INTERRUPTION_TIMERS,
  RESPONSE_TIMERS,
  releaseBot,
  settle,
  stopSpeech,
  timeRuleHolds,
  yieldToBot,
} from './turn-moves.ts';
import {
  onEngineTurn,
  onFinal,
  onFinalDelayed,
  onFinalFailed,
  onInterim,
  onStrategy,
  onVerdict,
} from './turn-text.ts';
import { onTimer } from './turn-timeouts.ts';
import { arm, disarm } from './turn-timers.ts';
import type { CallerTurn, TurnAction, TurnEvent, TurnRules, TurnState } from './turn-types.ts';

/**
 * Who speaks next, decided in one place: a pure, synchronous state machine over samples. Whatever happens in a call
 * that concerns the floor comes in as an event, and what is to be done goes out as actions; no clock, no I/O, so that
 * a call can be replayed and a random walk can look for a state without a way out.
 *
 * An event that does not fit the phase changes nothing: late answers, doubled ends and frames of an older epoch are
 * the ordinary case on a real line.
 */
export function createTurnMachine(rules: TurnRules): TurnState {
  const state: TurnState = {
    rules,
    phase: 'caller_silent',
    nowSample: 0,
    timers: new Map(),
    turnCount: 0,
    turn: null,
    isSpeech: false,
    engine: { isOpen: false, signSample: 0 },
    audibleUntilSample: 0,
    reply: null,
    isPaused: false,
    unheard: null,
    answered: null,
    linesUsed: 0,
    closing: null,
  };
  arm(state, 'max_duration', rules.maxDurationSamples);
  if (rules.warningSamples < rules.maxDurationSamples) {
    arm(state, 'duration_warning', rules.maxDurationSamples - rules.warningSamples);
  }
  arm(state, 're_engage', rules.reEngageSamples);
  return state;
}

/** Takes one event at a moment of the line clock and says what to do. */
export function step(state: TurnState, event: TurnEvent, atSample: number): TurnAction[] {
  if (state.phase === 'over') return [];
  state.nowSample = Math.max(state.nowSample, atSample);
  const actions: TurnAction[] = [];
  switch (event.type) {
    case 'speech_start':
      onSpeechStart(state, event.fromSample, actions);
      break;
    case 'speech_stop':
      stopSpeech(state, event.lastSample, actions);
      break;
    case 'verdict':
      onVerdict(state, event, actions);
      break;
    case 'interim':
      onInterim(state, event.text, event.meaning, actions);
      break;
    case 'final':
      onFinal(state, event, actions);
      break;
    case 'final_failed':
      onFinalFailed(state, event.turn, actions);
      break;
    case 'final_delayed':
      onFinalDelayed(state, event.untilSample);
      break;
    case 'strategy':
      onStrategy(state, event.strategy, actions);
      break;
    case 'not_speech':
      onNotSpeech(state, actions);
      break;
    case 'doubted':
      onDoubted(state);
      break;
    case 'undoubted':
      onUndoubted(state, event.fromSample);
      break;
    case 'engine_turn':
      onEngineTurn(state, event, actions);
      break;
    case 'reply_begun':
      onReplyBegun(state, event.reply, event.isProtected, actions);
      break;
    case 'reply_bound':
      onReplyBound(state, event.reply, event.isProtected, actions);
      break;
    case 'audio_started':
      onAudioStarted(state, event.reply);
      break;
    case 'audio_dry':
      onAudioDry(state, event.reply);
      break;
    case 'reply_ended':
      endReply(state, event.reply, event.how, actions);
      break;
    case 'line_busy':
      onLineBusy(state, event.untilSample);
      break;
    case 'awaits_caller':
      if (state.timers.has('debt_end')) armResponseTimers(state, state.nowSample);
      break;
    case 'line_returned':
      onLineReturned(state, actions);
      break;
    case 'close':
      state.closing ??= event.cause;
      settle(state, actions);
      break;
    case 'caller_activity':
      state.linesUsed = 0;
      if (state.phase === 'caller_silent')
        arm(state, 're_engage', state.nowSample + state.rules.reEngageSamples);
      break;
    case 'timer':
      onTimer(state, event.name, actions);
      break;
  }
  return actions;
}

function onSpeechStart(state: TurnState, fromSample: number, actions: TurnAction[]): void {
  if (state.isSpeech) return;
  if (state.phase === 'closing') {
    // After a goodbye that hangs up by itself the caller may still object; one that was ordered stands.
    if (state.closing !== 'closure_phrase') {
      state.isSpeech = true;
      state.unheard ??= { turn: ++state.turnCount, fromSample, text: '', interim: '', wasDoubted: false };
      return;
    }
    cancelClosing(state, actions);
  }
  state.isSpeech = true;
  arm(state, 'speech_stuck', state.nowSample + state.rules.speechStuckSamples);
  const botHasFloor = state.reply !== null && !state.reply.isProtected;
  const turn = state.turn ?? newTurn(state, fromSample, botHasFloor);
  state.turn = turn;
  turn.fromSample = Math.min(turn.fromSample, fromSample);
  turn.epoch++;
  turn.isByText = false;
  turn.isTextCurrent = false;
  turn.isDecided = false;
  disarm(state, ...END_TIMERS);
  if (!state.reply) disarm(state, ...RESPONSE_TIMERS);
  if (botHasFloor) overlap(state, turn, fromSample);
  else enter(state, 'caller_speaking');
}

/** Two speak at once: the bot is paused soon, and the caller's words or persistence decide who goes on (RT-11). */
function overlap(state: TurnState, turn: CallerTurn, fromSample: number): void {
  turn.isInterruptionCandidate = true;
  enter(state, 'interruption_candidate');
  const { rules } = state;
  arm(state, 'interruption_pause', fromSample + rules.interruptionPauseSamples);
  if (timeRuleHolds(rules)) arm(state, 'interruption_confirm', fromSample + rules.interruptionConfirmSamples);
  const dueSample = fromSample + rules.interruptionConfirmSamples + rules.interruptionDecideSamples;
  // Of what came before it sounded like the bot: this is somebody new.
  if (turn.isDoubted || turn.wasAskedInDoubt) arm(state, 'interruption_decide', dueSample);
  else boundInterruption(state, turn, dueSample);
}

/**
 * What sounds like the bot neither stops it nor is dropped: its words decide, as long as it sounds so and within the
 * bound of all interruptions after it (RT-18). A bot that is held already stays so: its echo ends with it, and somebody
 * who talks on is not talked over.
 */
function onDoubted(state: TurnState): void {
  const { turn } = state;
  if (!state.isSpeech || !turn) return;
  turn.isDoubted = true;
  if (!turn.isInterruptionCandidate || state.phase !== 'interruption_candidate') return;
  disarm(state, 'interruption_pause', 'interruption_confirm');
  arm(state, 'interruption_decide', state.nowSample + state.rules.interruptionDecideSamples);
}

/** Whoever speaks now does not sound like the bot: they have all the time of an interruption from here on. */
function onUndoubted(state: TurnState, fromSample: number): void {
  const { turn } = state;
  if (!state.isSpeech || !turn?.isInterruptionCandidate) return;
  overlap(state, turn, fromSample);
}

/** A turn that holds nothing but the sound of keys never was one. */
function onNotSpeech(state: TurnState, actions: TurnAction[]): void {
  const { turn } = state;
  if (state.phase === 'closing' && !turn && state.isSpeech) {
    state.isSpeech = false;
    state.unheard = null;
    actions.push({ type: 'discard' });
  }
  if (!state.isSpeech || !turn || turn.settledText !== '') return;
  turn.interim = '';
  if (turn.isInterruptionCandidate) {
    yieldToBot(state, turn, actions);
    // What an engine still makes of it are nobody's words.
    state.unheard = null;
    return;
  }
  state.isSpeech = false;
  state.turn = null;
  disarm(state, 'speech_stuck', 'final_wait');
  actions.push({ type: 'discard' });
  settle(state, actions);
}

function onLineReturned(state: TurnState, actions: TurnAction[]): void {
  state.turn = null;
  state.unheard = null;
  state.isSpeech = false;
  state.linesUsed = 0;
  disarm(state, ...END_TIMERS, ...INTERRUPTION_TIMERS, 'final_wait', 'speech_stuck');
  actions.push({ type: 'discard' });
  releaseBot(state, actions);
  settle(state, actions);
}

function onReplyBegun(state: TurnState, reply: number, isProtected: boolean, actions: TurnAction[]): void {
  state.reply = { id: reply, isProtected, isBound: isProtected, isAudible: false, wasAudible: false };
  releaseBot(state, actions);
  // A line that stands in for an answer does not begin the debt anew.
  if (!state.timers.has('debt_end')) armResponseTimers(state, state.nowSample);
  if (state.phase === 'closing') return;
  if (state.turn && state.isSpeech && !isProtected) overlap(state, state.turn, state.nowSample);
  else if (!state.turn) enter(state, 'bot_thinking');
}

function onReplyBound(state: TurnState, reply: number, isProtected: boolean, actions: TurnAction[]): void {
  if (state.reply?.id !== reply) return;
  state.reply.isBound = true;
  if (!isProtected || state.reply.isProtected) return;
  state.reply.isProtected = true;
  const { turn } = state;
  if (!turn?.isInterruptionCandidate) return;
  if (!state.isSpeech) {
    yieldToBot(state, turn, actions);
    return;
  }
  // The bot goes on, and what is being said is heard to its end like anything else over a protected line.
  turn.isInterruptionCandidate = false;
  disarm(state, ...INTERRUPTION_TIMERS);
  releaseBot(state, actions);
  enter(state, 'caller_speaking');
}

function onAudioStarted(state: TurnState, reply: number): void {
  if (state.reply?.id !== reply) return;
  state.reply.isAudible = true;
  state.reply.wasAudible = true;
  // Once heard, an answer cannot be taken back together with its question.
  state.answered = null;
  disarm(state, ...RESPONSE_TIMERS);
  arm(state, 'playout_stuck', state.nowSample + state.rules.playoutStuckSamples);
  if (state.phase === 'bot_thinking') enter(state, 'bot_speaking');
}

function onAudioDry(state: TurnState, reply: number): void {
  if (state.reply?.id !== reply || !state.reply.isAudible) return;
  state.reply.isAudible = false;
  state.audibleUntilSample = state.nowSample;
  disarm(state, 'playout_stuck');
  armResponseTimers(state, state.nowSample);
  if (state.phase === 'bot_speaking') enter(state, 'bot_thinking');
}

/** Debts are counted in silence, and there is none until then. */
function onLineBusy(state: TurnState, untilSample: number): void {
  state.audibleUntilSample = Math.max(state.audibleUntilSample, untilSample);
  const due = state.timers.get('debt_filler');
  const later = untilSample + state.rules.fillerSamples;
  if (due !== undefined && due < later) arm(state, 'debt_filler', later);
  // A goodbye is not cut off while it is being heard.
  const cap = state.timers.get('goodbye_cap');
  if (cap !== undefined)
    arm(state, 'goodbye_cap', Math.max(cap, untilSample + state.rules.goodbyeCapSamples));
}
