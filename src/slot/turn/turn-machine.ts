import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import {
  armDebt,
  boundOverlap,
  cancelClosing,
  commit,
  considerEnd,
  DEBT_TIMERS,
  decide,
  END_TIMERS,
  endReply,
  enter,
  finish,
  joined,
  judgeOverlap,
  newTurn,
  OVERLAP_TIMERS,
  releaseBot,
  settle,
  signOfEngine,
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
    engine: { isOpen: false, signSample: 0 },
    audibleUntilSample: 0,
    reply: null,
    isHeld: false,
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

/** Words of the bot that come back from the far end are understood no later than this after it was heard. */
const ECHO_OF_WORDS_SAMPLES = 1.5 * LINE_RATE_HZ;

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
    case 'final_delayed':
      onFinalDelayed(state, event.untilSample);
      break;
    case 'strategy':
      onStrategy(state, event.strategy, actions);
      break;
    case 'not_speech':
      onNotSpeech(state, actions);
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
      if (state.timers.has('debt_end')) armDebt(state, state.nowSample);
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
    if (state.closing !== 'closure_phrase') return;
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
  if (!state.reply) disarm(state, ...DEBT_TIMERS);
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
  const isDoubt = state.rules.strategy === 'stt';
  if (event.complete) {
    state.engine.isOpen = false;
    decide(state, turn, isDoubt ? 'stt_stuck' : 'model', actions);
    return;
  }
  // The engine goes on being waited for, within its own bounds.
  if (isDoubt) return;
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
  signOfEngine(state);
  if (!turn && meaning !== 'nothing' && mayOpenByText(state)) {
    turn = newTurn(state, state.nowSample, false);
    turn.isByText = true;
    state.turn = turn;
  }
  if (!turn) return;
  turn.interim = text;
  turn.interimMeaning = meaning;
  if (turn.isByText) heardWithoutSpeech(state, turn);
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
  if (state.unheard?.turn === turnId) {
    // The bot has gone on meanwhile; what was said over it still belongs into the transcript (RT-13).
    const { fromSample } = state.unheard;
    state.unheard = null;
    if (text.trim() !== '') actions.push({ type: 'overlap', text: text.trim(), fromSample });
    return;
  }
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

/** A caller too quiet for voice activity is heard by their words (RT-02), unless they may be the bot's own echo. */
function mayOpenByText(state: TurnState): boolean {
  if (state.phase !== 'caller_silent' || state.rules.strategy === 'stt') return false;
  return state.nowSample - state.audibleUntilSample > ECHO_OF_WORDS_SAMPLES;
}

/** As long as words come somebody speaks, whatever voice activity says. */
function heardWithoutSpeech(state: TurnState, turn: CallerTurn): void {
  const isOpen = state.phase === 'deciding' || state.phase === 'caller_silent';
  if (!isOpen || turn.isDecided || turn.awaitsFinal) return;
  turn.lastSpeechSample = state.nowSample;
  enter(state, 'deciding');
  disarm(state, ...END_TIMERS);
  arm(state, 'turn_end', state.nowSample + state.rules.silenceSamples);
}

/** The wait for a text grows while its engine is being replaced, within the bound of all waits. */
function onFinalDelayed(state: TurnState, untilSample: number): void {
  const { turn } = state;
  if (!turn?.awaitsFinal) return;
  const lastSample = turn.askedAtSample + state.rules.finalBoundSamples;
  const due = Math.min(untilSample, lastSample);
  if (due > (state.timers.get('final_wait') ?? 0)) arm(state, 'final_wait', due);
}

/** A turn whose end was left to an engine that is gone is ended by the rules of the next one. */
function onStrategy(state: TurnState, strategy: TurnRules['strategy'], actions: TurnAction[]): void {
  if (state.rules.strategy === strategy) return;
  state.rules.strategy = strategy;
  state.engine.isOpen = false;
  const { turn } = state;
  if (state.phase !== 'deciding' || !turn || turn.isDecided) return;
  disarm(state, ...END_TIMERS);
  considerEnd(state, turn, actions);
}

/** A turn that holds nothing but the echo of the bot never was one (RT-18). */
function onNotSpeech(state: TurnState, actions: TurnAction[]): void {
  const { turn } = state;
  if (!state.isSpeech || !turn || turn.settledText !== '') return;
  turn.interim = '';
  if (turn.isOverlap) {
    yieldToBot(state, turn, actions);
    // What an engine still makes of it is the bot's own words.
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
  disarm(state, ...END_TIMERS, ...OVERLAP_TIMERS, 'final_wait', 'speech_stuck');
  actions.push({ type: 'discard' });
  releaseBot(state, actions);
  settle(state, actions);
}

function onEngineTurn(
  state: TurnState,
  event: Extract<TurnEvent, { type: 'engine_turn' }>,
  actions: TurnAction[],
): void {
  if (state.rules.strategy !== 'stt') return;
  state.engine.isOpen = event.what !== 'end';
  signOfEngine(state);
  if (event.what !== 'end') return;
  const text = event.text.trim();
  if (text === '' && (!state.turn || state.turn.isOverlap || state.isSpeech)) return;
  // Text without any voice activity still opens a turn: short words are swallowed by a detector (RT-02).
  const turn =
    state.turn ?? newTurn(state, state.nowSample, state.reply !== null && !state.reply.isProtected);
  state.turn = turn;
  turn.settledText = joined(turn.settledText, text);
  turn.interim = '';
  turn.awaitsFinal = false;
  disarm(state, 'final_wait', ...END_TIMERS);
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
  // A line that stands in for an answer does not begin the debt anew.
  if (!state.timers.has('debt_end')) armDebt(state, state.nowSample);
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
  disarm(state, ...DEBT_TIMERS);
  arm(state, 'playout_stuck', state.nowSample + state.rules.playoutStuckSamples);
  if (state.phase === 'bot_thinking') enter(state, 'bot_speaking');
}

function onAudioDry(state: TurnState, reply: number): void {
  if (state.reply?.id !== reply || !state.reply.isAudible) return;
  state.reply.isAudible = false;
  state.audibleUntilSample = state.nowSample;
  disarm(state, 'playout_stuck');
  armDebt(state, state.nowSample);
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
