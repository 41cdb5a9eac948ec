import type { DeskAnswer } from '../../contracts/handoff.ts';

/**
 * A handoff as a pure machine, from the moment the caller is in the queue of the agent desk (RT-37). Times are
 * monotonic ms and come in from outside.
 *
 *   waiting   -- an agent joins --------> joined     the bot falls silent at once
 *   joined    -- 1 s -------------------> over       the bot leaves; or, where it stays:
 *   joined    -- 1 s -------------------> with_agent it is the bridge, or the silent recorder
 *   joined, with_agent -- agents gone --> waiting    the desk may send another
 *   waiting   -- nobody in time --------> giving_up  a line, then the hang-up
 *   any       -- customer left, room ended or lost --> over
 */
export type HandoffPhase = 'waiting' | 'joined' | 'with_agent' | 'giving_up' | 'over';

/** `agent_desk_waiting_timeout_seconds` (R174), where the desk does not say another. */
export const DESK_WAIT_MS = 120_000;
/** The desk is the first to end a wait; the worker ends it by itself only when nothing has been heard of it so long. */
export const GRACE_MS = 30_000;
/** Between two lines that the caller hears while they wait. */
export const COMFORT_EVERY_MS = 25_000;
/** An agent has joined and the bot is still in the room: the agent's microphone needs a moment. */
export const STAY_MS = 1_000;
/** For the last line; a voice that fails must not keep the line open. */
export const GOODBYE_MS = 15_000;

export interface HandoffTimes {
  deskWaitMs: number;
  graceMs: number;
  comfortEveryMs: number;
  stayMs: number;
  goodbyeMs: number;
}

export const HANDOFF_TIMES: HandoffTimes = {
  deskWaitMs: DESK_WAIT_MS,
  graceMs: GRACE_MS,
  comfortEveryMs: COMFORT_EVERY_MS,
  stayMs: STAY_MS,
  goodbyeMs: GOODBYE_MS,
};

export interface HandoffState {
  phase: HandoffPhase;
  readonly times: HandoffTimes;
  /** The slot stays in the call with the agent: a bridge, or a silent recorder (D-44, D-45). */
  readonly stays: boolean;
  /** The caller is on a line of ours; else they are in the room themselves, and stay there without us. */
  readonly isBridge: boolean;
  hadAgent: boolean;
  /** How long the desk itself lets a caller wait. */
  deskWaitMs: number;
  /** When the present phase ends by itself; infinite where it does not. */
  untilMs: number;
  nextLineAtMs: number;
}

export type HandoffInput =
  /** What the desk said to the enqueue. */
  | { type: 'desk'; answer: DeskAnswer }
  /** So many agents are in the room now. */
  | { type: 'agents'; count: number }
  | { type: 'customer_left'; reason: string }
  /** Somebody has ended it for everybody: the desk hangs up, or ends the wait. */
  | { type: 'room_ended'; reason: string }
  /** The media server is away for good. */
  | { type: 'room_lost'; reason: string }
  /** The last line has been heard, or cannot be. */
  | { type: 'goodbye_said' }
  | { type: 'tick' };

export type HandoffEnd =
  /** `by` is who ended it. `leavesLine`: the caller stays where they are, without us. */
  | { kind: 'handed_over'; by: 'bot' | 'customer' | 'agent'; reason: string; leavesLine: boolean }
  | { kind: 'no_agent'; reason: string }
  | { kind: 'customer'; reason: string }
  | { kind: 'lost'; reason: string };

export type HandoffAction =
  /** Music, from now on. */
  | { type: 'hold' }
  | { type: 'say'; line: 'comfort' | 'nobody' }
  | { type: 'say'; line: 'position'; position: number }
  /** The bot is not heard any more. */
  | { type: 'silence' }
  | { type: 'agent_joined' }
  | { type: 'agent_left' }
  /** The reconciler and main are told by the room itself whose it is. */
  | { type: 'mark'; handedOver: boolean }
  | { type: 'end'; how: HandoffEnd };

/** The caller has just been put into the queue. */
export function startHandoff(
  nowMs: number,
  options: { isBridge: boolean; isRecorder: boolean; times?: HandoffTimes },
): { state: HandoffState; actions: HandoffAction[] } {
  const times = options.times ?? HANDOFF_TIMES;
  const state: HandoffState = {
    phase: 'waiting',
    times,
    stays: options.isBridge || options.isRecorder,
    isBridge: options.isBridge,
    hadAgent: false,
    deskWaitMs: times.deskWaitMs,
    untilMs: Number.POSITIVE_INFINITY,
    nextLineAtMs: Number.POSITIVE_INFINITY,
  };
  return { state, actions: beginWaiting(state, nowMs) };
}

/** Changes the state and says what follows. After the end nothing does. */
export function handoffStep(state: HandoffState, input: HandoffInput, nowMs: number): HandoffAction[] {
  if (state.phase === 'over') return [];
  switch (input.type) {
    case 'desk':
      return deskSaid(state, input.answer, nowMs);
    case 'agents':
      return input.count > 0 ? agentsThere(state, nowMs) : agentsGone(state, nowMs);
    case 'customer_left':
      return end(
        state,
        state.hadAgent
          ? { kind: 'handed_over', by: 'customer', reason: input.reason, leavesLine: true }
          : { kind: 'customer', reason: input.reason },
      );
    case 'room_ended':
      return end(
        state,
        state.hadAgent
          ? { kind: 'handed_over', by: 'agent', reason: input.reason, leavesLine: !state.isBridge }
          : { kind: 'no_agent', reason: input.reason },
      );
    case 'room_lost':
      // A caller on a line of ours can still be told.
      if (state.isBridge && state.phase === 'waiting') return giveUp(state, nowMs);
      return end(state, { kind: 'lost', reason: input.reason });
    case 'goodbye_said':
      return state.phase === 'giving_up' ? end(state, nobodyCame(state)) : [];
    case 'tick':
      return tick(state, nowMs);
  }
}

function beginWaiting(state: HandoffState, nowMs: number): HandoffAction[] {
  state.phase = 'waiting';
  state.untilMs = nowMs + state.deskWaitMs + state.times.graceMs;
  state.nextLineAtMs = nowMs + state.times.comfortEveryMs;
  return [{ type: 'hold' }];
}

/** The desk counts its own wait from its answer on, so the worker does too. */
function deskSaid(state: HandoffState, answer: DeskAnswer, nowMs: number): HandoffAction[] {
  if (state.phase !== 'waiting') return [];
  if (answer.timeoutSeconds !== null) state.deskWaitMs = answer.timeoutSeconds * 1_000;
  state.untilMs = nowMs + state.deskWaitMs + state.times.graceMs;
  if (answer.position === null || answer.position < 1 || state.hadAgent) return [];
  state.nextLineAtMs = nowMs + state.times.comfortEveryMs;
  return [{ type: 'say', line: 'position', position: Math.round(answer.position) }];
}

function agentsThere(state: HandoffState, nowMs: number): HandoffAction[] {
  if (state.phase !== 'waiting' && state.phase !== 'giving_up') return [];
  state.phase = 'joined';
  state.hadAgent = true;
  state.untilMs = nowMs + state.times.stayMs;
  state.nextLineAtMs = Number.POSITIVE_INFINITY;
  return [{ type: 'silence' }, { type: 'agent_joined' }, { type: 'mark', handedOver: true }];
}

function agentsGone(state: HandoffState, nowMs: number): HandoffAction[] {
  if (state.phase !== 'joined' && state.phase !== 'with_agent') return [];
  return [
    { type: 'agent_left' },
    // Where the slot leaves, an agent who is gone again within the second leaves the caller to it once more.
    ...(state.stays ? [] : [{ type: 'mark', handedOver: false } as const]),
    ...beginWaiting(state, nowMs),
  ];
}

function tick(state: HandoffState, nowMs: number): HandoffAction[] {
  if (nowMs >= state.untilMs) {
    if (state.phase === 'giving_up') return end(state, nobodyCame(state));
    if (state.phase === 'waiting') return giveUp(state, nowMs);
    if (state.phase === 'joined') {
      state.untilMs = Number.POSITIVE_INFINITY;
      if (state.stays) state.phase = 'with_agent';
      else {
        return end(state, {
          kind: 'handed_over',
          by: 'bot',
          reason: 'an agent has taken over',
          leavesLine: true,
        });
      }
    }
    return [];
  }
  if (nowMs < state.nextLineAtMs) return [];
  state.nextLineAtMs = nowMs + state.times.comfortEveryMs;
  return [{ type: 'say', line: 'comfort' }];
}

function giveUp(state: HandoffState, nowMs: number): HandoffAction[] {
  state.phase = 'giving_up';
  state.untilMs = nowMs + state.times.goodbyeMs;
  state.nextLineAtMs = Number.POSITIVE_INFINITY;
  return [{ type: 'say', line: 'nobody' }];
}

function nobodyCame(state: HandoffState): HandoffEnd {
  return state.hadAgent
    ? { kind: 'handed_over', by: 'bot', reason: 'no other agent came', leavesLine: false }
    : { kind: 'no_agent', reason: 'no agent came in time' };
}

function end(state: HandoffState, how: HandoffEnd): HandoffAction[] {
  state.phase = 'over';
  state.untilMs = Number.POSITIVE_INFINITY;
  state.nextLineAtMs = Number.POSITIVE_INFINITY;
  return [{ type: 'end', how }];
}
