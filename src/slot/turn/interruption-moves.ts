import {
  askForText,
  considerEnd,
  END_TIMERS,
  enter,
  finish,
  INTERRUPTION_TIMERS,
  releaseBot,
  settle,
  takeFloor,
  yieldToBot,
} from './turn-moves.ts';
import { arm, disarm } from './turn-timers.ts';
import type { CallerTurn, InterruptionMeaning, TurnAction, TurnState } from './turn-types.ts';

/** The words that were said over the bot are known. */
export function judgeInterruption(
  state: TurnState,
  turn: CallerTurn,
  meaning: InterruptionMeaning,
  actions: TurnAction[],
): void {
  if (meaning === 'interruption') commit(state, turn, actions);
  else if (meaning === 'answer' || (meaning === 'nothing' && turn.isAnswer)) keepAnswer(state, turn, actions);
  else yieldToBot(state, turn, actions);
}

/** Said at the end of the bot's question, and its answer: the bot comes to its end, and then this is the turn (RT-13). */
function keepAnswer(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  turn.isAnswer = true;
  disarm(state, ...INTERRUPTION_TIMERS, 'speech_stuck');
  releaseBot(state, actions);
  settle(state, actions);
}

/** The bot's own words came back (RT-18): nobody said them, and what else there is of the turn stands. */
export function dropEcho(state: TurnState, turn: CallerTurn, text: string, actions: TurnAction[]): void {
  actions.push({ type: 'echo', text });
  turn.interim = '';
  turn.interimMeaning = 'nothing';
  if (state.isSpeech) {
    turn.fromSample = Math.max(turn.fromSample, turn.lastSpeechSample);
    return;
  }
  if (turn.askedEpoch !== turn.epoch) {
    // More was said since, while the text was on its way, and may be the bot's as well.
    turn.isDoubted = true;
    askForText(state, turn, actions);
    return;
  }
  turn.isTextCurrent = true;
  if (turn.settledText !== '') {
    if (turn.isInterruptionCandidate) yieldToBot(state, turn, actions);
    else if (turn.isDecided) finish(state, turn, actions);
    return;
  }
  disarm(state, ...END_TIMERS, ...INTERRUPTION_TIMERS, 'final_wait');
  releaseBot(state, actions);
  state.turn = null;
  settle(state, actions);
}

/** The caller takes the floor, and what they say becomes a turn like any other. */
export function commit(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  takeFloor(state, turn, actions);
  if (state.isSpeech) {
    enter(state, 'caller_speaking');
    arm(state, 'speech_stuck', state.nowSample + state.rules.speechStuckSamples);
    return;
  }
  if (turn.isDecided && turn.isTextCurrent) finish(state, turn, actions);
  else considerEnd(state, turn, actions);
}
