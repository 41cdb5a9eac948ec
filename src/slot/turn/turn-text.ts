import { joined, newTurn } from './caller-turn.ts';
import { commit, dropEcho, judgeInterruption } from './interruption-moves.ts';
import {
  askAgain,
  considerEnd,
  decide,
  END_TIMERS,
  enter,
  finish,
  signOfEngine,
  yieldToBot,
} from './turn-moves.ts';
import { arm, disarm } from './turn-timers.ts';
import type {
  CallerTurn,
  InterruptionMeaning,
  TurnAction,
  TurnEvent,
  TurnRules,
  TurnState,
} from './turn-types.ts';

/**
 * What the turn machine makes of words and verdicts: of what engines and the turn model say about the caller, early,
 * late or never.
 */

export function onVerdict(
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

/** A caller too quiet for voice activity is heard by their words (RT-02). */
function mayOpenByText(state: TurnState): boolean {
  return state.phase === 'caller_silent' && state.rules.strategy !== 'stt';
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

export function onInterim(
  state: TurnState,
  text: string,
  meaning: InterruptionMeaning,
  actions: TurnAction[],
): void {
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
  const isSomebody = meaning !== 'nothing' && meaning !== 'echo';
  if (!turn && state.phase === 'closing' && state.unheard && meaning !== 'echo') state.unheard.interim = text;
  if (!turn && isSomebody && mayOpenByText(state)) {
    turn = newTurn(state, state.nowSample, false);
    turn.isByText = true;
    state.turn = turn;
  }
  if (!turn) return;
  turn.interim = text;
  turn.interimMeaning = meaning;
  if (turn.isByText) heardWithoutSpeech(state, turn);
  if (turn.isInterruptionCandidate && meaning === 'interruption') commit(state, turn, actions);
}

export function onFinal(
  state: TurnState,
  event: Extract<TurnEvent, { type: 'final' }>,
  actions: TurnAction[],
): void {
  const { turn: turnId, text, meaning } = event;
  const { turn } = state;
  if (state.unheard?.turn === turnId) {
    // The bot has gone on meanwhile; what was said over it still belongs into the transcript (RT-13).
    const { fromSample, text: before } = state.unheard;
    state.unheard = null;
    const isEcho = meaning === 'echo';
    if (isEcho) actions.push({ type: 'echo', text: text.trim() });
    const said = joined(before, isEcho ? '' : text.trim());
    if (said !== '') actions.push({ type: 'overlap', text: said, fromSample });
    return;
  }
  if (turn?.id !== turnId || (turn.usedInterim && !turn.awaitsFinal)) return;
  const wasAwaited = turn.awaitsFinal;
  const { wasAskedInDoubt } = turn;
  turn.awaitsFinal = false;
  turn.wasAskedInDoubt = false;
  turn.interim = '';
  if (event.isUnheard) turn.isUnheard = true;
  disarm(state, 'final_wait');
  if (meaning === 'echo') {
    dropEcho(state, turn, text.trim(), actions);
    return;
  }
  turn.settledText = joined(turn.settledText, text.trim());
  // The caller went on while the transcript was on its way: it is the beginning of what they are saying.
  if (state.isSpeech) return;
  // What was asked for sooner than usual, in doubt, is asked for again where there was nothing yet.
  turn.isTextCurrent = !wasAskedInDoubt || text.trim() !== '' || turn.isDecided;
  if (turn.settledText === '' && wasAskedInDoubt) turn.isDoubted = true;
  if (!wasAwaited) return;
  if (turn.isInterruptionCandidate) judgeInterruption(state, turn, meaning, actions);
  else if (turn.isDecided) finish(state, turn, actions);
}

export function onFinalFailed(state: TurnState, turnId: number, actions: TurnAction[]): void {
  const { turn } = state;
  if (turn?.id === turnId && turn.awaitsFinal) textMissing(state, turn, actions);
}

/** The wait for a text grows while its engine is being replaced, within the bound of all waits. */
export function onFinalDelayed(state: TurnState, untilSample: number): void {
  const { turn } = state;
  if (!turn?.awaitsFinal) return;
  const lastSample = turn.askedAtSample + state.rules.finalBoundSamples;
  const due = Math.min(untilSample, lastSample);
  if (due > (state.timers.get('final_wait') ?? 0)) arm(state, 'final_wait', due);
}

/** A turn whose end was left to an engine that is gone is ended by the rules of the next one. */
export function onStrategy(state: TurnState, strategy: TurnRules['strategy'], actions: TurnAction[]): void {
  if (state.rules.strategy === strategy) return;
  state.rules.strategy = strategy;
  state.engine.isOpen = false;
  const { turn } = state;
  if (state.phase !== 'deciding' || !turn || turn.isDecided) return;
  disarm(state, ...END_TIMERS);
  considerEnd(state, turn, actions);
}

export function onEngineTurn(
  state: TurnState,
  event: Extract<TurnEvent, { type: 'engine_turn' }>,
  actions: TurnAction[],
): void {
  if (state.rules.strategy !== 'stt') return;
  state.engine.isOpen = event.what !== 'end';
  signOfEngine(state);
  if (event.what !== 'end') return;
  const text = event.text.trim();
  if (event.meaning === 'echo') {
    if (state.turn) dropEcho(state, state.turn, text, actions);
    else actions.push({ type: 'echo', text });
    return;
  }
  if (state.closing === 'end_call' && !state.turn) {
    const { fromSample, text: before } = state.unheard ?? { fromSample: state.nowSample, text: '' };
    state.unheard = null;
    state.isSpeech = false;
    const said = joined(before, text);
    if (said !== '') actions.push({ type: 'overlap', text: said, fromSample });
    return;
  }
  if (text === '' && (!state.turn || state.turn.isInterruptionCandidate || state.isSpeech)) return;
  // Text without any voice activity still opens a turn: short words are swallowed by a detector (RT-02).
  const turn =
    state.turn ?? newTurn(state, state.nowSample, state.reply !== null && !state.reply.isProtected);
  state.turn = turn;
  turn.settledText = joined(turn.settledText, text);
  if (event.isUnheard) turn.isUnheard = true;
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
  if (turn.isInterruptionCandidate) judgeInterruption(state, turn, event.meaning, actions);
  else finish(state, turn, actions);
}

/** No final text came: what was heard on the way must do, and without any the caller is asked again. */
export function textMissing(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  turn.awaitsFinal = false;
  disarm(state, 'final_wait');
  if (state.isSpeech) return;
  if (turn.interimMeaning === 'echo') {
    dropEcho(state, turn, turn.interim, actions);
    return;
  }
  if (turn.isInterruptionCandidate) {
    yieldToBot(state, turn, actions);
    return;
  }
  // Whether it is over is still being found out, and then the text is asked for once more.
  if (!turn.isDecided) return;
  turn.settledText = joined(turn.settledText, turn.interim);
  turn.isTextCurrent = true;
  turn.usedInterim = turn.interim !== '';
  // What the engine still holds is what has just been taken from it.
  if (turn.usedInterim) actions.push({ type: 'discard' });
  turn.interim = '';
  if (turn.settledText !== '') {
    finish(state, turn, actions);
    return;
  }
  askAgain(state, turn, actions);
}
