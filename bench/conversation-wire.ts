import { type DiallerCall, placeCall } from '../src/cli/dialler-client.ts';
import { FRAME_MS, LINE_RATE_HZ } from '../src/contracts/limits.ts';
import { monotonicMs, sleepMs } from '../src/platform/clock.ts';
import { speechSources } from './conversation-corpus.ts';
import type { BenchFleet } from './fleet-run.ts';
import { quantile } from './spread.ts';

/** What callers feel on the wire, with providers that take no time: all of it is our own share. */
export interface WireFigures {
  wire: 'json' | 'partner';
  calls: number;
  /** From the first message to the first frame of the opening line. */
  openingMs: Percentiles;
  /** From the last voiced frame of the caller to the first frame of the answer. */
  replyGapMs: Percentiles;
  /** Of these, the turns that the turn model called complete; the others had to wait for silence. */
  modelGapMs: Percentiles;
  unanswered: number;
  /** From the first voiced frame over the bot to the message that silences it. */
  onsetToPauseMs: Percentiles;
  /** From that message to the last frame of the silenced reply. */
  decisionToLastFrameMs: Percentiles;
  missedBargeIns: number;
}

export interface Percentiles {
  n: number;
  p50: number | null;
  p95: number | null;
  max: number | null;
}

export interface WirePlan {
  calls: number;
  atOnce: number;
  /** Question, answer, interruption: once each. */
  roundsPerCall: number;
}

const BRIEF = 'That is noted, thank you.';
const LONG =
  'This is a long answer that goes on for a while, because somebody is going to talk over it, and nobody minds that at all, so it goes on and on until it is stopped.';

/** The bot: real speech input, scripted words; every second turn gets the long answer that is then talked over. */
export const CONVERSATION_BOT = {
  opening_message: 'Good morning, what can I do for you?',
  stt: {
    provider: 'scripted',
    script: ['briefly please', 'tell me at great length', 'no wait I have something else to say about it'],
    loop: true,
  },
  llm: {
    provider: 'scripted',
    rules: [{ intent: 'long', pattern: 'at great length', reply: LONG }],
    fallback: { reply: BRIEF },
  },
  tts: { provider: 'scripted', ms_per_char: 30 },
  re_engagement: { after_seconds: 60, prompts: [] },
  max_call_duration_seconds: 900,
};

const ANSWER_TIMEOUT_MS = 10_000;
const SLOT_TIMEOUT_MS = 30_000;
const MAX_CLIP_SAMPLES = 3.5 * LINE_RATE_HZ;
/** Frames that arrive this soon after the clear message belong to the reply that it silences. */
const LATE_FRAME_MS = 200;

interface Gap {
  ms: number;
  /** Since the call began. */
  answeredAtMs: number;
}

interface Readings {
  opening: number[];
  gaps: number[];
  modelGaps: number[];
  pauses: number[];
  lastFrames: number[];
  unanswered: number;
  missed: number;
}

/** Places the calls, a few at once, so that the dialler itself stays on time. */
export async function measureOnWire(
  fleet: BenchFleet,
  wire: WireFigures['wire'],
  plan: WirePlan,
): Promise<WireFigures> {
  // Whole human sentences, shorter than the bot's long answer.
  const clips = (await speechSources())
    .filter(({ kind, speech }) => kind === 'human' && speech.length <= MAX_CLIP_SAMPLES)
    .map(({ speech }) => speech);
  const readings: Readings = {
    opening: [],
    gaps: [],
    modelGaps: [],
    pauses: [],
    lastFrames: [],
    unanswered: 0,
    missed: 0,
  };
  let next = 0;
  const worker = async () => {
    for (let call = next++; call < plan.calls; call = next++) {
      await slotIsFree(fleet);
      await oneCall(fleet, wire, plan.roundsPerCall, clips, call, readings);
    }
  };
  await Promise.all(Array.from({ length: plan.atOnce }, worker));
  return {
    wire,
    calls: plan.calls,
    openingMs: percentiles(readings.opening),
    replyGapMs: percentiles(readings.gaps),
    modelGapMs: percentiles(readings.modelGaps),
    unanswered: readings.unanswered,
    onsetToPauseMs: percentiles(readings.pauses),
    decisionToLastFrameMs: percentiles(readings.lastFrames),
    missedBargeIns: readings.missed,
  };
}

/** A call begins when a slot is free; one that has just ended still writes its results. */
async function slotIsFree(fleet: BenchFleet): Promise<void> {
  await fleet.appliance.until(
    (health) => (health.workers ?? []).some((worker) => worker.state === 'idle'),
    SLOT_TIMEOUT_MS,
  );
}

async function oneCall(
  fleet: BenchFleet,
  wire: WireFigures['wire'],
  rounds: number,
  clips: readonly Int16Array[],
  seed: number,
  readings: Readings,
): Promise<void> {
  const path = wire === 'partner' ? 'partner' : 'ws';
  const startedAtMs = monotonicMs();
  const call = await placeCall({
    url: `ws://127.0.0.1:${fleet.appliance.fleetPort}/${path}/conversation`,
    ...(wire === 'partner' ? { dialect: 'partner' as const } : {}),
  });
  const clip = (index: number) => clips[(seed * 7 + index) % clips.length] as Int16Array;
  await call.answerAfter(0, 700, ANSWER_TIMEOUT_MS);
  const [first] = call.arrivals;
  if (first) readings.opening.push(first.atMs - startedAtMs);
  const gaps: Gap[] = [];
  const answered = (voiceEndedAtMs: number, arrivedAtMs: number | undefined) => {
    if (arrivedAtMs === undefined) readings.unanswered++;
    else
      gaps.push({ ms: Math.max(0, arrivedAtMs - voiceEndedAtMs), answeredAtMs: arrivedAtMs - startedAtMs });
  };
  for (let round = 0; round < rounds && !call.isClosed; round++) {
    const brief = await call.say(clip(3 * round));
    const noted = await call.answerAfter(brief.voiceEndedAtMs, 900, ANSWER_TIMEOUT_MS);
    answered(brief.voiceEndedAtMs, noted?.arrivedAtMs);
    const asked = await call.say(clip(3 * round + 1));
    const long = await call.event('bot_started', ANSWER_TIMEOUT_MS, asked.voiceEndedAtMs);
    answered(asked.voiceEndedAtMs, long?.arrivedAtMs);
    if (!long) continue;
    await sleepMs(900);
    const over = await bargeIn(call, clip(3 * round + 2), readings);
    if (over) answered(over.voiceEndedAtMs, over.answer?.arrivedAtMs);
  }
  await call.hangUp();
  readings.gaps.push(...gaps.map(({ ms }) => ms));
  if (call.sessionId !== '') readings.modelGaps.push(...(await decidedByModel(fleet, call.sessionId, gaps)));
}

async function bargeIn(call: DiallerCall, clip: Int16Array, readings: Readings) {
  const said = await call.say(clip);
  const clear = await call.event('clear', 3_000, said.startedAtMs);
  if (!clear) {
    readings.missed++;
    return null;
  }
  readings.pauses.push(clear.atMs - said.startedAtMs);
  const answer = await call.answerAfter(said.voiceEndedAtMs, 900, ANSWER_TIMEOUT_MS);
  const last = call.arrivals.findLast(
    (arrival) => arrival.atMs >= clear.atMs && arrival.atMs < clear.atMs + LATE_FRAME_MS,
  );
  const isAnswer = answer !== null && last !== undefined && last.atMs >= answer.arrivedAtMs - FRAME_MS;
  readings.lastFrames.push(last && !isAnswer ? last.atMs - clear.atMs : 0);
  return { voiceEndedAtMs: said.voiceEndedAtMs, answer };
}

/** The gaps behind turns that the model ended, told apart by the call's own record. */
async function decidedByModel(fleet: BenchFleet, sessionId: string, gaps: readonly Gap[]): Promise<number[]> {
  const find = () => fleet.plane.results.find((results) => results.session_id === sessionId);
  const giveUpAtMs = monotonicMs() + SLOT_TIMEOUT_MS;
  while (!find() && monotonicMs() < giveUpAtMs) await sleepMs(50);
  const turns = (find()?.events ?? []).filter(({ event }) => event === 'user_turn');
  return gaps.flatMap(({ ms, answeredAtMs }) => {
    const turn = turns.findLast(({ ts }) => ts * 1000 <= answeredAtMs + FRAME_MS);
    return turn?.decided_by === 'model' ? [ms] : [];
  });
}

function percentiles(readings: readonly number[]): Percentiles {
  const sorted = Float64Array.from(readings).sort();
  const at = (share: number) => {
    const value = quantile(sorted, share);
    return value === null ? null : Math.round(value * 10) / 10;
  };
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}
