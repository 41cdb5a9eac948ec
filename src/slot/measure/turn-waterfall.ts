import { WAIT_STAGES, type Waterfall } from '../../contracts/call-measures.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { type ReplyFacts, stageAt, stageEdges } from './reply-facts.ts';
import { type Spans, sweep } from './spans.ts';

/**
 * The wait of one turn as a waterfall (RT-68): from the caller's last sound to the answer's first, every millisecond
 * given to exactly one stage, so that the stages add up to the gap whatever the order of events was. Work that was
 * done ahead of its time, such as a speculative request, shortens its stage, and never counts twice.
 *
 * Null where the reply answers no turn or has not been heard.
 */
export function turnWaterfall(
  facts: ReplyFacts,
  sounds: { caller: Spans; bot: Spans; held: Spans },
  playAtSample: number,
): Waterfall | null {
  const { turn, firstSoundMs } = facts;
  if (!turn || firstSoundMs === null) return null;
  const beganMs = turn.lastSpeechMs;
  // Pieces are rounded at their edges and not in their lengths: the sum of whole numbers stays the whole.
  const round = (atMs: number) => Math.round(atMs - beganMs);
  const parts = new Map<string, number>();
  let firstBotMs = firstSoundMs;
  sweep(
    beganMs,
    firstSoundMs,
    [...stageEdges(facts), ...sounds.caller.edges(), ...sounds.bot.edges(), ...sounds.held.edges()],
    (atMs) => {
      // The detector rounds the caller's last sound up to a window; it is still the beginning of the wait.
      if (sounds.caller.covers(atMs) && atMs > turn.decidedMs) return 'overlap';
      if (sounds.bot.covers(atMs)) return 'filler';
      if (sounds.held.covers(atMs)) return 'turn_wait';
      return stageAt(facts, atMs) ?? 'llm';
    },
    (owner, fromMs, toMs) => {
      parts.set(owner, (parts.get(owner) ?? 0) + round(toMs) - round(fromMs));
      if (owner === 'filler') firstBotMs = Math.min(firstBotMs, fromMs);
    },
  );
  const part = (name: string) => parts.get(name) ?? 0;
  const firstAskedMs = facts.llm[0]?.askedMs ?? turn.textMs;
  return {
    turn: turn.turn,
    reply: facts.reply,
    gap_ms: WAIT_STAGES.reduce((sum, stage) => sum + part(stage), 0),
    first_sound_ms: round(firstBotMs),
    carrier_ms: part('carrier'),
    turn_wait_ms: part('turn_wait'),
    stt_ms: part('stt'),
    llm_ms: part('llm'),
    clause_ms: part('clause'),
    tool_ms: part('tool'),
    tts_ms: part('tts'),
    pacing_ms: part('pacing'),
    playout_ms: part('playout'),
    filler_ms: part('filler'),
    overlap_ms: part('overlap'),
    early_ms: Math.max(0, round(turn.textMs) - round(firstAskedMs)),
    recorded_gap_ms: Math.round(((playAtSample - turn.lastSample) * 1000) / LINE_RATE_HZ),
  };
}
