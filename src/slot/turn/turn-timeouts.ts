import { commit } from './interruption-moves.ts';
import { decide, end, endReply, stopSpeech, yieldToBot } from './turn-moves.ts';
import { textMissing } from './turn-text.ts';
import { arm } from './turn-timers.ts';
import type { CallerTurn, TimerName, TurnAction, TurnState } from './turn-types.ts';

/** What follows when a named timer of the turn machine is due. */
export function onTimer(state: TurnState, name: TimerName, actions: TurnAction[]): void {
  state.timers.delete(name);
  const { turn, rules } = state;
  switch (name) {
    case 're_engage':
      if (state.phase !== 'caller_silent') return;
      if (state.linesUsed >= rules.reEngageLines) {
        end(state, 'caller_silent', actions);
        return;
      }
      actions.push({ type: 're_engage', line: state.linesUsed++ });
      // The line itself is a reply; should it never begin, silence goes on being counted.
      arm(state, 're_engage', state.nowSample + rules.reEngageSamples);
      return;
    case 'speech_stuck':
      actions.push({ type: 'expired', timer: name });
      stopSpeech(state, state.nowSample, actions);
      return;
    case 'verdict_wait':
      if (state.phase !== 'deciding' || !turn || turn.isDecided) return;
      turn.decidedBy = 'silence_rule';
      arm(state, 'turn_end', Math.max(turn.lastSpeechSample + rules.silenceSamples, state.nowSample));
      return;
    case 'turn_end':
      if (state.phase === 'deciding' && turn && !turn.isDecided) decide(state, turn, turn.decidedBy, actions);
      return;
    case 'stt_doubt':
      if (state.phase !== 'deciding' || !turn || turn.isDecided || rules.strategy !== 'stt') return;
      actions.push({ type: 'judge', turn: turn.id, epoch: turn.epoch, toSample: turn.lastSpeechSample });
      return;
    case 'stt_turn_stuck':
      if (state.phase !== 'deciding' || !turn || turn.isDecided) return;
      state.engine.isOpen = false;
      actions.push({ type: 'expired', timer: name });
      decide(state, turn, 'stt_stuck', actions);
      return;
    case 'final_wait':
      if (!turn?.awaitsFinal) return;
      if (hasNothingYet(state, turn)) {
        arm(state, 'final_wait', turn.askedAtSample + rules.finalBoundSamples);
        return;
      }
      turn.awaitsFinal = false;
      actions.push({ type: 'expired', timer: name });
      textMissing(state, turn, actions);
      return;
    case 'interruption_pause':
      if (state.phase !== 'interruption_candidate' || state.isPaused) return;
      state.isPaused = true;
      actions.push({ type: 'pause_bot' });
      return;
    case 'interruption_confirm':
      // Somebody who says "yes, yes" for a second still only listens (RT-11, RT-13); the bot's words are nobody's.
      if (state.phase !== 'interruption_candidate' || !turn) return;
      if (['backchannel', 'answer', 'echo'].includes(turn.interimMeaning)) return;
      commit(state, turn, actions);
      return;
    case 'interruption_decide':
      if (state.phase === 'interruption_candidate' && turn) yieldToBot(state, turn, actions);
      return;
    case 'debt_filler':
      actions.push({ type: 'say_filler' });
      // Whatever is said now puts it off; where nothing can be said, it is tried again.
      arm(state, 'debt_filler', state.nowSample + rules.fillerSamples);
      return;
    case 'debt_rescue':
      actions.push({ type: 'expired', timer: name }, { type: 'say_rescue' });
      return;
    case 'debt_end':
      actions.push({ type: 'expired', timer: name });
      end(state, 'response_timeout', actions);
      return;
    case 'playout_stuck':
      if (!state.reply) return;
      actions.push({ type: 'expired', timer: name }, { type: 'cut_bot', reply: state.reply.id });
      endReply(state, state.reply.id, 'cut', actions);
      return;
    case 'goodbye_cap':
      actions.push({ type: 'expired', timer: name });
      end(state, state.closing ?? 'end_call', actions);
      return;
    case 'closing_listen':
      end(state, state.closing ?? 'end_call', actions);
      return;
    case 'duration_warning':
      actions.push({ type: 'warn_duration' });
      return;
    case 'max_duration':
      end(state, 'max_duration', actions);
      return;
  }
}

/** Without a word there is nothing to go on with, and the engine is given all the time there is. */
function hasNothingYet(state: TurnState, turn: CallerTurn): boolean {
  if (turn.isInterruptionCandidate || turn.settledText !== '' || turn.interim !== '') return false;
  return state.nowSample < turn.askedAtSample + state.rules.finalBoundSamples;
}
