import { monotonicMs } from '../../platform/clock.ts';
import type { DiallerCall, SpokenClip } from '../dialler-client.ts';

/** Who makes the call of a demo, by whatever line. */
export type DemoCaller = Pick<
  DiallerCall,
  'startedAtMs' | 'isClosed' | 'events' | 'arrivals' | 'say' | 'answerAfter' | 'event' | 'until'
>;

/** A recording of the demo, ready for the line. */
export interface LoadedClip {
  name: string;
  samples: Int16Array;
  expectedPhrase: string;
  intent: string;
  /** Said while the bot still speaks. */
  interrupts: boolean;
}

/** What one recording led to, as the dialler saw it. Times are seconds from `ready`. */
export interface ClipOutcome {
  clip: LoadedClip;
  fromSeconds: number;
  toSeconds: number;
  /** From the caller's last audible frame to the first audible frame of the answer on the wire; null: no answer. */
  answerMs: number | null;
  /**
   * For an interrupting clip: from its first frame to the slot's `clear`, or to the bot's last sound on a line that has
   * no such message.
   */
  cutMs: number | null;
  /** Pieces of the bot's audio that still came between `clear` and the end of the interrupting words. */
  audioAfterCut: number;
}

/** The bot's first words and its answers may take this long to begin on a slow machine. */
const ANSWER_TIMEOUT_MS = 15_000;
/** So much of a long reply is heard before the caller interrupts it. */
const INTERRUPT_AFTER_MS = 1_500;
/** The caller pauses like a person before the next words. */
const QUIET_MS = 800;

/** Holds the conversation: each recording after the bot has finished, the interrupting ones in the middle of it. */
export async function converse(call: DemoCaller, clips: readonly LoadedClip[]): Promise<ClipOutcome[]> {
  const readyAtMs = call.events.find((event) => event.type === 'ready')?.atMs ?? call.startedAtMs;
  const seconds = (atMs: number) => (atMs - readyAtMs) / 1000;
  const outcomes: ClipOutcome[] = [];
  await call.answerAfter(0, QUIET_MS, ANSWER_TIMEOUT_MS);
  for (const [index, clip] of clips.entries()) {
    if (call.isClosed) break;
    const spoken = await call.say(clip.samples, clip.name);
    const nextInterrupts = clips[index + 1]?.interrupts ?? false;
    const answer = nextInterrupts
      ? await call.event('bot_started', ANSWER_TIMEOUT_MS, spoken.voiceEndedAtMs)
      : await call.answerAfter(spoken.voiceEndedAtMs, QUIET_MS, ANSWER_TIMEOUT_MS);
    if (nextInterrupts && answer)
      await call.until(() => monotonicMs() - answer.atMs >= INTERRUPT_AFTER_MS, 5_000);
    outcomes.push({
      clip,
      fromSeconds: seconds(spoken.startedAtMs),
      toSeconds: seconds(monotonicMs()),
      answerMs: answer ? answer.arrivedAtMs - spoken.voiceEndedAtMs : null,
      ...cutOf(call, clip, spoken),
    });
  }
  return outcomes;
}

function cutOf(
  call: DemoCaller,
  clip: LoadedClip,
  spoken: SpokenClip,
): Pick<ClipOutcome, 'cutMs' | 'audioAfterCut'> {
  if (!clip.interrupts) return { cutMs: null, audioAfterCut: 0 };
  const cuts = call.events.some(({ type }) => type === 'ready') ? 'clear' : 'bot_stopped';
  const clear = call.events.find((event) => event.type === cuts && event.atMs >= spoken.startedAtMs);
  if (!clear) return { cutMs: null, audioAfterCut: 0 };
  const late = call.arrivals.filter((piece) => piece.atMs > clear.atMs && piece.atMs < spoken.voiceEndedAtMs);
  return { cutMs: clear.atMs - spoken.startedAtMs, audioAfterCut: late.length };
}
