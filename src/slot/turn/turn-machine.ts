import {
  armDebt,
  boundOverlap,
  cancelClosing,
  commit,
  decide,
  endReply,
  enter,
  finish,
  joined,
  judgeOverlap,
  newTurn,
  releaseBot,
  settle,
  stopSpeech,
  textMissing,
  timeRuleHolds,
  yieldToBot,
} from './turn-moves.ts';
import { onTimer } from './turn-timeouts.ts';
import { arm, disarm } from './turn-timers.ts';
import type {
  CallerTurn,
  OverlapMeaning,
  TurnAction,
  TurnEvent,
  TurnRules,
  TurnState,
} from './turn-types.ts';

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
    reply: null,
    isHeld: false,
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
      onFinal(state, event.turn, event.text, event.meaning, actions);
      break;
    case 'final_failed':
      onFinalFailed(state, event.turn, actions);
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
    if (state.closing !== 'closure_phrase') return;
    cancelClosing(state, actions);
  }
  state.isSpeech = true;
  arm(state, 'speech_stuck', state.nowSample + state.rules.speechStuckSamples);
  const botHasFloor = state.reply !== null && !state.reply.isProtected;
  const turn = state.turn ?? newTurn(state, fromSample, botHasFloor);
  state.turn = turn;
  turn.epoch++;
  turn.isTextCurrent = false;
  turn.isDecided = false;
  disarm(state, 'verdict_wait', 'turn_end', 'stt_turn_stuck');
  if (botHasFloor) overlap(state, turn, fromSample);
  else enter(state, 'caller_speaking');
}

/** Two speak at once: the bot is paused soon, and the caller's words or persistence decide who goes on (RT-11). */
function overlap(state: TurnState, turn: CallerTurn, fromSample: number): void {
  turn.isOverlap = true;
  enter(state, 'overlapped');
  const { rules } = state;
  arm(state, 'hold', fromSample + rules.holdSamples);
  if (timeRuleHolds(rules)) arm(state, 'commit', fromSample + rules.commitSamples);
  boundOverlap(state, turn, fromSample + rules.commitSamples + rules.overlapDecideSamples);
}

function onVerdict(
  state: TurnState,
  event: Extract<TurnEvent, { type: 'verdict' }>,
  actions: TurnAction[],
): void {
  const { turn } = state;
  if (state.phase !== 'deciding' || !turn || turn.isDecided) return;
  if (turn.id !== event.turn || turn.epoch !== event.epoch) return;
  disarm(state, 'verdict_wait');
  turn.probability = event.probability;
  if (event.complete) {
    decide(state, turn, 'model', actions);
    return;
  }
  const wait = event.complete === null ? state.rules.silenceSamples : state.rules.forcedEndSamples;
  turn.decidedBy = event.complete === null ? 'silence_rule' : 'forced_end';
  arm(state, 'turn_end', turn.lastSpeechSample + wait);
}

function onInterim(state: TurnState, text: string, meaning: OverlapMeaning, actions: TurnAction[]): void {
  let { turn } = state;
  if (
    !turn &&
    meaning === 'interruption' &&
    state.reply &&
    !state.reply.isProtected &&
    state.phase !== 'closing'
  ) {
    // Words without voice activity, or after it was given up as noise: the words are right (RT-02).
    turn = newTurn(state, state.nowSample, true);
    state.turn = turn;
  }
  if (!turn) return;
  turn.interim = text;
  if (turn.isOverlap && meaning === 'interruption') commit(state, turn, actions);
}

function onFinal(
  state: TurnState,
  turnId: number,
  text: string,
  meaning: OverlapMeaning,
  actions: TurnAction[],
): void {
  const { turn } = state;
  if (turn?.id !== turnId || (turn.usedInterim && !turn.awaitsFinal)) return;
  const wasAwaited = turn.awaitsFinal;
  turn.awaitsFinal = false;
  turn.interim = '';
  turn.settledText = joined(turn.settledText, text.trim());
  disarm(state, 'final_wait');
  // The caller went on while the transcript was on its way: it is the beginning of what they are saying.
  if (state.isSpeech) return;
  turn.isTextCurrent = true;
  if (!wasAwaited) return;
  if (turn.isOverlap) judgeOverlap(state, turn, meaning, actions);
  else if (turn.isDecided) finish(state, turn, actions);
}

function onFinalFailed(state: TurnState, turnId: number, actions: TurnAction[]): void {
  const { turn } = state;
  if (turn?.id === turnId && turn.awaitsFinal) textMissing(state, turn, actions);
}

function onEngineTurn(
  state: TurnState,
  event: Extract<TurnEvent, { type: 'engine_turn' }>,
  actions: TurnAction[],
): void {
  if (state.rules.strategy !== 'stt' || event.what !== 'end') return;
  const text = event.text.trim();
  if (text === '') return;
  // Text without any voice activity still opens a turn: short words are swallowed by a detector (RT-02).
  const turn =
    state.turn ?? newTurn(state, state.nowSample, state.reply !== null && !state.reply.isProtected);
  state.turn = turn;
  turn.settledText = joined(turn.settledText, text);
  turn.interim = '';
  turn.awaitsFinal = false;
  disarm(state, 'final_wait', 'stt_turn_stuck');
  turn.decidedBy = 'stt';
  turn.decidedAtSample = state.nowSample;
  turn.isTextCurrent = true;
  turn.isDecided = true;
  // The engine has heard the end; a detector that still hears something hears no speech.
  state.isSpeech = false;
  disarm(state, 'speech_stuck');
  if (turn.isOverlap) judgeOverlap(state, turn, event.meaning, actions);
  else finish(state, turn, actions);
}

function onReplyBegun(state: TurnState, reply: number, isProtected: boolean, actions: TurnAction[]): void {
  state.reply = { id: reply, isProtected, isBound: isProtected, isAudible: false, wasAudible: false };
  releaseBot(state, actions);
  armDebt(state);
  if (state.phase === 'closing') return;
  if (state.turn && state.isSpeech && !isProtected) overlap(state, state.turn, state.nowSample);
  else if (!state.turn) enter(state, 'bot_thinking');
}

function onReplyBound(state: TurnState, reply: number, isProtected: boolean, actions: TurnAction[]): void {
  if (state.reply?.id !== reply) return;
  state.reply.isBound = true;
  if (!isProtected || state.reply.isProtected) return;
  state.reply.isProtected = true;
  if (state.turn?.isOverlap) yieldToBot(state, state.turn, actions);
}

function onAudioStarted(state: TurnState, reply: number): void {
  if (state.reply?.id !== reply) return;
  state.reply.isAudible = true;
  state.reply.wasAudible = true;
  // Once heard, an answer cannot be taken back together with its question.
  state.answered = null;
  disarm(state, 'debt_filler', 'debt_rescue', 'debt_end');
  arm(state, 'playout_stuck', state.nowSample + state.rules.playoutStuckSamples);
  if (state.phase === 'bot_thinking') enter(state, 'bot_speaking');
}

function onAudioDry(state: TurnState, reply: number): void {
  if (state.reply?.id !== reply || !state.reply.isAudible) return;
  state.reply.isAudible = false;
  disarm(state, 'playout_stuck');
  armDebt(state);
  if (state.phase === 'bot_speaking') enter(state, 'bot_thinking');
}
