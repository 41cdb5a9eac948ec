import { joined, unheardWords } from './caller-turn.ts';
import { arm, disarm, disarmAllBut } from './turn-timers.ts';
import type {
  CallerTurn,
  DecidedBy,
  Phase,
  TakenTurn,
  TurnAction,
  TurnRules,
  TurnState,
} from './turn-types.ts';

/** Armed while the bot owes words. */
export const RESPONSE_TIMERS = ['debt_filler', 'debt_rescue', 'debt_end'] as const;
/** Armed for a reply and void without it. */
const BOT_TIMERS = [...RESPONSE_TIMERS, 'playout_stuck', 'goodbye_cap', 'closing_listen'] as const;
/** Armed while both speak. */
export const INTERRUPTION_TIMERS = [
  'interruption_pause',
  'interruption_confirm',
  'interruption_decide',
] as const;
/** One of them is armed while it is open whether a turn is over. */
export const END_TIMERS = ['verdict_wait', 'turn_end', 'stt_doubt', 'stt_turn_stuck'] as const;

/** The caller has stopped, for a breath or for good. */
export function stopSpeech(state: TurnState, lastSample: number, actions: TurnAction[]): void {
  if (!state.isSpeech) return;
  state.isSpeech = false;
  disarm(state, 'speech_stuck', 'interruption_pause', 'interruption_confirm');
  const { turn } = state;
  if (!turn) {
    // Over a goodbye that stands: nobody waits for the text, and it is written down when it comes.
    if (state.closing && state.unheard && state.rules.strategy !== 'stt')
      actions.push({ type: 'flush', turn: state.unheard.turn });
    settle(state, actions);
    return;
  }
  turn.lastSpeechSample = Math.max(turn.lastSpeechSample, lastSample);
  turn.epoch++;
  if (turn.isInterruptionCandidate) {
    // Short, and over the bot: only its words can tell whether it was meant.
    const dueSample = state.nowSample + state.rules.interruptionDecideSamples;
    if (turn.isDoubted) arm(state, 'interruption_decide', dueSample);
    else boundInterruption(state, turn, dueSample);
    askForText(state, turn, actions);
    return;
  }
  // What may be the bot's is told apart from what the caller says next.
  if (state.rules.flushAtStop || (turn.isDoubted && state.rules.strategy !== 'stt')) {
    askForText(state, turn, actions);
  }
  considerEnd(state, turn, actions);
}

/** Begins to find out whether a turn is over. */
export function considerEnd(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  enter(state, 'deciding');
  const { rules } = state;
  turn.decidedBy = 'silence_rule';
  // What was judged before the caller went on says nothing of the words since.
  turn.probability = null;
  if (rules.strategy === 'stt') {
    trustEngine(state, turn);
    arm(state, 'stt_doubt', turn.lastSpeechSample + rules.sttDoubtSamples);
  } else if (rules.strategy === 'model') {
    arm(state, 'verdict_wait', state.nowSample + rules.verdictWaitSamples);
    actions.push({ type: 'judge', turn: turn.id, epoch: turn.epoch, toSample: state.nowSample });
  } else {
    arm(state, 'turn_end', turn.lastSpeechSample + rules.silenceSamples);
  }
}

/** The engine that detects turns lives: it is waited for a little longer. */
export function signOfEngine(state: TurnState): void {
  state.engine.signSample = state.nowSample;
  if (state.turn && state.timers.has('stt_turn_stuck')) trustEngine(state, state.turn);
}

/** Until when the end of a turn is left to the engine. It says something of an open turn several times a second. */
function trustEngine(state: TurnState, turn: CallerTurn): void {
  const { rules, engine } = state;
  const silentSample = Math.max(turn.lastSpeechSample, engine.isOpen ? engine.signSample : 0);
  const due = Math.min(turn.lastSpeechSample + rules.sttStuckSamples, silentSample + rules.sttSilentSamples);
  arm(state, 'stt_turn_stuck', Math.max(due, state.nowSample));
}

/** The bot has been heard, cut or given up; whoever waits for it goes on. */
export function endReply(
  state: TurnState,
  reply: number,
  how: 'played' | 'cut' | 'failed',
  actions: TurnAction[],
): void {
  if (state.reply?.id !== reply) return;
  state.reply = null;
  state.answered = null;
  state.audibleUntilSample = state.nowSample;
  // A goodbye that was cut off has not been said.
  if (how === 'cut') state.closing = null;
  disarm(state, ...BOT_TIMERS);
  releaseBot(state, actions);
  if (state.turn?.isInterruptionCandidate) {
    // The bot came to its end by itself: what is being said now is an ordinary turn.
    state.turn.isInterruptionCandidate = false;
    disarm(state, ...INTERRUPTION_TIMERS);
  }
  settle(state, actions);
}

/** The turn is over; it is taken as soon as its text is there. */
export function decide(state: TurnState, turn: CallerTurn, by: DecidedBy, actions: TurnAction[]): void {
  turn.decidedBy = by;
  turn.decidedAtSample = state.nowSample;
  turn.isDecided = true;
  disarm(state, ...END_TIMERS);
  // From the caller's last word on somebody works on what they wait for (RT-21).
  if (!state.reply) armResponseTimers(state, turn.lastSpeechSample);
  if (turn.isTextCurrent) {
    finish(state, turn, actions);
    return;
  }
  enter(state, 'deciding');
  askForText(state, turn, actions);
}

/** The wait begins anew, but a transcript is not asked for twice. */
export function askForText(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  arm(state, 'final_wait', state.nowSample + state.rules.finalWaitSamples);
  turn.wasAskedInDoubt ||= turn.isDoubted;
  turn.isDoubted = false;
  if (turn.awaitsFinal) return;
  turn.awaitsFinal = true;
  turn.askedAtSample = state.nowSample;
  turn.askedEpoch = turn.epoch;
  actions.push({ type: 'flush', turn: turn.id });
}

/**
 * The text is there; the turn is taken unless the bot may not be interrupted now, or it holds no words, or words that
 * promise more.
 */
export function finish(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  disarm(state, ...INTERRUPTION_TIMERS, ...END_TIMERS, 'final_wait');
  if (turn.settledText === '') {
    // Where it has cut the bot off, the bot goes on with what it had to say.
    if (turn.isUnheard && !turn.cutReply) {
      askAgain(state, turn, actions);
      return;
    }
    state.turn = null;
    const isEcho = turn.wasAskedInDoubt || turn.isDoubted;
    actions.push(isEcho ? { type: 'echo', text: '' } : { type: 'empty_turn', mayContinue: turn.cutReply });
    settle(state, actions);
    return;
  }
  // A protected line is finished first; its end takes the turn.
  if (state.reply?.isProtected) {
    settle(state, actions);
    return;
  }
  if (state.reply) takeFloor(state, turn, actions);
  if (!promisesMore(state, turn)) take(state, turn, actions);
}

/** Its last words may undo what was decided by ear: the caller has time to go on, and then it is over. */
function promisesMore(state: TurnState, turn: CallerTurn): boolean {
  const wait = state.rules.wordWaitSamples(turn.settledText, turn.probability);
  const due = turn.lastSpeechSample + wait;
  if (due <= state.nowSample) return false;
  turn.isDecided = false;
  turn.decidedBy = 'words';
  // Nobody is kept waiting by a bot that lets them finish.
  disarm(state, ...RESPONSE_TIMERS);
  enter(state, 'deciding');
  arm(state, 'turn_end', due);
  return true;
}

export function take(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  const taken: TakenTurn = {
    turn: turn.id,
    text: turn.settledText,
    fromSample: turn.fromSample,
    toSample: turn.lastSpeechSample,
    decidedBy: turn.decidedBy,
    probability: turn.probability,
    decidedAtSample: turn.decidedAtSample,
  };
  state.turn = null;
  state.answered = taken;
  state.linesUsed = 0;
  // Counted from the caller's last word where it began while the text was still to come.
  if (!state.timers.has('debt_end')) armResponseTimers(state, taken.toSample);
  enter(state, 'bot_thinking');
  actions.push({ type: 'take_turn', ...taken });
}

/** A turn of which nothing is known is asked for once more, unless the bot has something to say anyway. */
export function askAgain(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  state.turn = null;
  settle(state, actions);
  // Nobody is asked to say again what may have been the bot.
  if (turn.wasAskedInDoubt) actions.push({ type: 'echo', text: '' });
  else if (state.phase === 'caller_silent') {
    actions.push({
      type: 'say_again',
      turn: turn.id,
      isUnheard: turn.isUnheard,
      toSample: turn.lastSpeechSample,
      decidedAtSample: turn.decidedAtSample,
    });
  }
}

export function takeFloor(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  turn.isInterruptionCandidate = false;
  disarm(state, ...INTERRUPTION_TIMERS);
  const { reply, answered } = state;
  if (!reply) return;
  const isUnheard = !reply.wasAudible && !reply.isBound && answered !== null;
  state.reply = null;
  state.answered = null;
  state.closing = null;
  // Cutting the bot ends its being held as well.
  state.isPaused = false;
  disarm(state, ...BOT_TIMERS);
  if (isUnheard) {
    // Nobody heard the answer: question and continuation are one turn.
    turn.settledText = joined(answered.text, turn.settledText);
    turn.fromSample = answered.fromSample;
    actions.push({ type: 'withdraw', reply: reply.id, turn: answered.turn });
  } else {
    turn.cutReply = reply.wasAudible;
    actions.push({ type: 'cut_bot', reply: reply.id });
  }
}

/** What was said over the bot was not meant to stop it: the bot goes on from where it was. */
export function yieldToBot(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  const text = joined(turn.settledText, turn.interim);
  if (turn.interimMeaning === 'echo' && turn.settledText === '') actions.push({ type: 'echo', text });
  else if (text !== '') actions.push({ type: 'overlap', text, fromSample: turn.fromSample });
  else if (turn.awaitsFinal) state.unheard = unheardWords(turn);
  else if (turn.isDoubted) actions.push({ type: 'echo', text });
  if (!turn.isTextCurrent && !turn.awaitsFinal) actions.push({ type: 'discard' });
  disarm(state, ...INTERRUPTION_TIMERS, 'final_wait', 'speech_stuck');
  releaseBot(state, actions);
  state.turn = null;
  // Whatever still sounds is not speech to anybody; a new beginning is a new question.
  state.isSpeech = false;
  settle(state, actions);
}

/** Finds the phase that follows from what is left, when nothing has just begun. */
export function settle(state: TurnState, actions: TurnAction[]): void {
  const isCaller = state.turn && !state.turn.isInterruptionCandidate && !state.turn.isDoubted;
  if (state.closing === 'closure_phrase' && isCaller) {
    // The caller is not done: the bot does not hang up on them.
    cancelClosing(state, actions);
  }
  const { turn, reply } = state;
  if (state.closing) {
    if (turn) keepForTranscript(state, turn, actions);
    state.turn = null;
    disarm(state, ...END_TIMERS, ...INTERRUPTION_TIMERS, 'final_wait', 'speech_stuck');
    releaseBot(state, actions);
    close(state);
  } else if (reply) {
    const isOver = turn?.isInterruptionCandidate && (state.isSpeech || turn.awaitsFinal);
    enter(state, isOver ? 'interruption_candidate' : reply.isAudible ? 'bot_speaking' : 'bot_thinking');
  } else if (turn && state.isSpeech) {
    enter(state, 'caller_speaking');
  } else if (turn) {
    endLeftOver(state, turn, actions);
  } else {
    enter(state, 'caller_silent');
    disarm(state, ...RESPONSE_TIMERS);
    arm(state, 're_engage', state.nowSample + state.rules.reEngageSamples);
  }
}

/** The goodbye stands whatever is said over it; the words are kept, now or when they are known. */
function keepForTranscript(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  const words = unheardWords(turn);
  if (state.isSpeech || turn.awaitsFinal) state.unheard = words;
  else {
    const text = joined(words.text, words.interim);
    if (text !== '') actions.push({ type: 'overlap', text, fromSample: turn.fromSample });
  }
}

/** A turn that was said while the bot had the floor, and has waited for it. */
function endLeftOver(state: TurnState, turn: CallerTurn, actions: TurnAction[]): void {
  if (END_TIMERS.some((name) => state.timers.has(name))) enter(state, 'deciding');
  else if (!turn.isDecided) considerEnd(state, turn, actions);
  else if (turn.isTextCurrent) finish(state, turn, actions);
  else {
    enter(state, 'deciding');
    askForText(state, turn, actions);
  }
}

/** The caller may still object to a goodbye that was not ordered (RT-22). */
export function cancelClosing(state: TurnState, actions: TurnAction[]): void {
  state.closing = null;
  disarm(state, 'closing_listen', 'goodbye_cap');
  actions.push({ type: 'closing_cancelled' });
}

function close(state: TurnState): void {
  enter(state, 'closing');
  if (state.reply) {
    if (!state.timers.has('goodbye_cap')) {
      arm(state, 'goodbye_cap', state.nowSample + state.rules.goodbyeCapSamples);
    }
    return;
  }
  disarm(state, 'goodbye_cap');
  // Noise on the line must not put the end off again and again.
  if (state.timers.has('closing_listen')) return;
  const { hangupPauseSamples, closingListenSamples } = state.rules;
  const wait = state.closing === 'end_call' ? hangupPauseSamples : closingListenSamples;
  arm(state, 'closing_listen', state.nowSample + wait);
}

export function end(
  state: TurnState,
  cause: Extract<TurnAction, { type: 'end' }>['cause'],
  actions: TurnAction[],
): void {
  disarmAllBut(state);
  releaseBot(state, actions);
  state.reply = null;
  state.phase = 'over';
  actions.push({ type: 'end', cause });
}

/** The bot owes words since then, or since it was heard last. */
export function armResponseTimers(state: TurnState, fromSample: number): void {
  const { rules } = state;
  const since = Math.max(fromSample, state.audibleUntilSample);
  arm(state, 'debt_filler', since + rules.fillerSamples);
  arm(state, 'debt_rescue', since + rules.rescueSamples);
  arm(state, 'debt_end', since + rules.responseTimeoutSamples);
}

export function enter(state: TurnState, phase: Phase): void {
  state.phase = phase;
  if (phase !== 'caller_silent') disarm(state, 're_engage');
}

/** A bot that was paused goes on. */
export function releaseBot(state: TurnState, actions: TurnAction[]): void {
  if (!state.isPaused) return;
  state.isPaused = false;
  actions.push({ type: 'resume_bot' });
}

/** The bot is kept waiting for the meaning of what is said over it, but not for longer than the bound (RT-14). */
export function boundInterruption(state: TurnState, turn: CallerTurn, dueSample: number): void {
  const lastSample =
    turn.fromSample + state.rules.interruptionConfirmSamples + 2 * state.rules.interruptionDecideSamples;
  arm(state, 'interruption_decide', Math.min(dueSample, lastSample));
}

export function timeRuleHolds(rules: TurnRules): boolean {
  return rules.minWords <= 1 || !rules.givesInterims;
}
