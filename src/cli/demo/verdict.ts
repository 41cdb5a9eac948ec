import type { CallEvent } from '../../contracts/call-events.ts';
import type { CallResults } from '../../contracts/call-results.ts';
import type { WavAudio } from '../../platform/wav.ts';
import { editDistance } from '../nearest.ts';
import { levelDbfs, VOICE_DBFS } from '../voice-tracker.ts';
import type { ClipOutcome, LoadedClip } from './conversation.ts';
import type { DemoDelivery } from './results-receiver.ts';

/** What the bot made of one recording. */
export interface ClipVerdict {
  clip: LoadedClip;
  heard: string;
  recognised: boolean;
  /** The rule that answered, or '' when none did. */
  intent: string;
  answered: boolean;
  answerMs: number | null;
}

/** Clip and slot clocks start a few frames apart, and a turn is stamped when it is over. */
const CLOCK_SLACK_SECONDS = 0.3;

/**
 * Holds what was said against the results payload. A recording counts as recognised when the turns of its time span
 * are its phrase, and as answered when the rule of its intent spoke and the answer was heard.
 */
export function judgeClips(outcomes: readonly ClipOutcome[], results: CallResults): ClipVerdict[] {
  const turns = (results.events as CallEvent[]).filter((event) => event.event === 'user_turn');
  return outcomes.map((outcome, index) => {
    const until = outcomes[index + 1]?.fromSeconds ?? Number.POSITIVE_INFINITY;
    const own = turns.filter(
      (turn) => turn.ts >= outcome.fromSeconds - CLOCK_SLACK_SECONDS && turn.ts < until + CLOCK_SLACK_SECONDS,
    );
    const heard = own.map((turn) => String(turn.text ?? '')).join(' ');
    const rules = own.map((turn) => String(turn.note ?? '').replace(/^rule:/, ''));
    const intent = rules.includes(outcome.clip.intent) ? outcome.clip.intent : (rules.at(-1) ?? '');
    return {
      clip: outcome.clip,
      heard,
      recognised: isRecognised(outcome.clip.expectedPhrase, heard),
      intent,
      answered: intent === outcome.clip.intent && outcome.answerMs !== null,
      answerMs: outcome.answerMs,
    };
  });
}

/** Everything that the demo promises, as sentences that name what was missed; none means that it held. */
export function misses(evidence: {
  verdicts: readonly ClipVerdict[];
  outcomes: readonly ClipOutcome[];
  clips: readonly LoadedClip[];
  delivery: DemoDelivery | null;
  sessionId: string;
  recording: WavAudio | null;
  /** So many recordings may be misunderstood, where the line takes away what the local engine needs; none by default. */
  mayMishear?: number;
}): string[] {
  const { verdicts, outcomes, clips, delivery, recording, mayMishear = 0 } = evidence;
  const found: string[] = [];
  if (verdicts.length < clips.length) {
    found.push(`the call ended after ${verdicts.length} of ${clips.length} recordings`);
  }
  const misheard = verdicts.filter(({ recognised, answered }) => !recognised || !answered);
  for (const verdict of misheard) {
    if (verdict.answerMs === null) found.push(`${verdict.clip.name}: nobody answered`);
    else if (misheard.length > mayMishear) found.push(...mishearing(verdict));
  }
  found.push(...missedCuts(outcomes, delivery));
  if (!delivery) found.push('the results webhook received nothing');
  else {
    if (delivery.status !== 200) found.push(`the control plane answered the results with ${delivery.status}`);
    if (delivery.payload.session_id !== evidence.sessionId) found.push('the results name another session');
    if (delivery.payload.disconnected_by !== 'bot') {
      found.push(`the bot was to end the call, and the results say "${delivery.payload.disconnected_by}"`);
    }
  }
  found.push(...missedInRecording(recording));
  return found;
}

function mishearing({ clip, heard, recognised, answered, intent }: ClipVerdict): string[] {
  return [
    ...(recognised ? [] : [`${clip.name}: "${clip.expectedPhrase}" was heard as "${heard}"`]),
    ...(answered
      ? []
      : [`${clip.name}: the rule "${clip.intent}" did not answer (${intent || 'no rule'} did)`]),
  ];
}

function missedCuts(outcomes: readonly ClipOutcome[], delivery: DemoDelivery | null): string[] {
  const interrupting = outcomes.filter((outcome) => outcome.clip.interrupts);
  const found: string[] = [];
  for (const outcome of interrupting) {
    if (outcome.cutMs === null)
      found.push(`${outcome.clip.name}: the caller spoke over the bot and it was not cut`);
    else if (outcome.audioAfterCut > 0) {
      found.push(
        `${outcome.clip.name}: ${outcome.audioAfterCut} pieces of the cut reply came after it was cut`,
      );
    }
  }
  const events = (delivery?.payload.events ?? []) as CallEvent[];
  const noted = events.filter((event) => event.event === 'interrupted').length;
  if (delivery && noted < interrupting.length) {
    found.push(`the results hold ${noted} "interrupted" events for ${interrupting.length} interruptions`);
  }
  return found;
}

/** Both sides must be on the recording, each loud enough somewhere to be speech. */
function missedInRecording(recording: WavAudio | null): string[] {
  if (!recording) return ['there is no recording'];
  if (recording.channels !== 2) return [`the recording has ${recording.channels} channel instead of 2`];
  return ['caller', 'bot'].flatMap((side, channel) =>
    voicedMs(recording, channel) >= MIN_VOICED_MS ? [] : [`the recording holds no speech of the ${side}`],
  );
}

/** One spoken word is longer than this. */
const MIN_VOICED_MS = 500;

/** How much of one channel is at the level of speech, looked at in pieces of 20 ms. */
export function voicedMs(recording: WavAudio, channel: number): number {
  const piece = recording.sampleRate / 50;
  const frames = Math.floor(recording.samples.length / recording.channels);
  const samples = new Int16Array(piece);
  let voiced = 0;
  for (let from = 0; from + piece <= frames; from += piece) {
    for (let i = 0; i < piece; i++) {
      samples[i] = recording.samples[(from + i) * recording.channels + channel] as number;
    }
    if (levelDbfs(samples) >= VOICE_DBFS) voiced += 20;
  }
  return voiced;
}

/**
 * A rate over few trials with its 95 % interval (E. B. Wilson, 1927): "14 of 14 (100 %; n=14, 95 % interval 78-100 %)".
 */
export function describeRate(hits: number, n: number): string {
  if (n === 0) return '0 of 0';
  const z = 1.96;
  const rate = hits / n;
  const centre = (rate + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  const percent = (value: number) => Math.round(100 * Math.min(1, Math.max(0, value)));
  return `${hits} of ${n} (${percent(rate)} %; n=${n}, 95 % interval ${percent(centre - half)}-${percent(centre + half)} %)`;
}

/** One wrong word in this many still counts: a small word more or less in a long sentence changes no intent. */
const WORDS_PER_SLIP = 12;

/** Whether what was heard is the phrase: word for word in short ones, up to a slip per {@link WORDS_PER_SLIP}. */
export function isRecognised(expected: string, heard: string): boolean {
  const wanted = words(expected);
  return editDistance(wanted, words(heard)) <= Math.floor(wanted.length / WORDS_PER_SLIP);
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9']+/g) ?? [];
}
