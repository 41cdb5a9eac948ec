import { commit, decide, end, endReply, stopSpeech, textMissing, yieldToBot } from './turn-moves.ts';
import { arm } from './turn-timers.ts';
import type { TimerName, TurnAction, TurnState } from './turn-types.ts';

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
    case 'stt_turn_stuck':
      if (state.phase !== 'deciding' || !turn || turn.isDecided) return;
      actions.push({ type: 'expired', timer: name });
      decide(state, turn, 'stt_stuck', actions);
      return;
    case 'final_wait':
      if (!turn?.awaitsFinal) return;
      turn.awaitsFinal = false;
      actions.push({ type: 'expired', timer: name });
      textMissing(state, turn, actions);
      return;
    case 'hold':
      if (state.phase !== 'overlapped' || state.isHeld) return;
      state.isHeld = true;
      actions.push({ type: 'hold_bot' });
      return;
    case 'commit':
      if (state.phase === 'overlapped' && turn) commit(state, turn, actions);
      return;
    case 'overlap_decide':
      if (state.phase === 'overlapped' && turn) yieldToBot(state, turn, actions);
      return;
    case 'debt_filler':
      actions.push({ type: 'say_filler' });
      return;
    case 'debt_rescue':
      actions.push({ type: 'expired', timer: name }, { type: 'say_rescue' });
      return;
    case 'debt_end':
      actions.push({ type: 'expired', timer: name });
      end(state, 'bot_debt', actions);
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
