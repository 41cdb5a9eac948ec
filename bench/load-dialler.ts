import { monotonicMs, sleepMs, within } from '../src/platform/clock.ts';
import { seededRandom } from '../test/harness/seeded-random.ts';
import type { BenchToDialler, DiallerOrder, DiallerReport, DiallerToBench } from './bench-messages.ts';
import { loadClips } from './caller-clips.ts';
import { DeadlineLoop } from './deadline-loop.ts';
import { addCounts } from './frame-ledger.ts';
import { goFirst } from './go-first.ts';
import { LoadCall } from './load-call.ts';
import { PacerLines } from './pacer-lines.ts';
import { spreadOf } from './spread.ts';

/*
 * The far end of all calls, as a process of its own: takes one order, reports, exits.
 */

/** Until every call is up and every bot has been heard. */
const SET_UP_TIMEOUT_MS = 30_000;
const HANG_UP_TIMEOUT_MS = 10_000;
/** Between two calm calls: the machine is quiet again. */
const CALM_PAUSE_MS = 300;

const loop = new DeadlineLoop();
let finish: () => void = () => undefined;
const finished = new Promise<void>((resolve) => {
  finish = resolve;
});

goFirst();
process.on('message', (message: BenchToDialler) => {
  if (message.type === 'finish') finish();
  else void obey(message.order);
});
// Without its bench a dialler has no purpose.
process.on('disconnect', () => process.exit(1));

async function obey(order: DiallerOrder): Promise<void> {
  try {
    tell({ type: 'report', report: await carryOut(order) });
  } catch (error) {
    tell({ type: 'failed', sentence: (error as Error).message });
  }
  process.exitCode = 0;
  process.disconnect();
}

function carryOut(order: DiallerOrder): Promise<DiallerReport> {
  if (order.kind === 'bare') return hearBarePacers(order);
  return order.kind === 'calm' ? placeCalmCalls(order) : placeLoad(order);
}

async function placeLoad(order: DiallerOrder & { kind: 'calls' }): Promise<DiallerReport> {
  const clips = await loadClips(order.framing);
  const random = seededRandom(order.seed);
  const startedAtMs = monotonicMs();
  const speaking: Promise<void>[] = [];
  const calls: LoadCall[] = [];
  for (let index = 0; index < order.calls; index++) {
    await sleepMs(Math.max(0, startedAtMs + (index * order.spreadMs) / order.calls - monotonicMs()));
    const { promise, resolve } = Promise.withResolvers<void>();
    speaking.push(promise);
    calls.push(
      new LoadCall({
        url: order.url,
        framing: order.framing,
        clips,
        loop,
        random: seededRandom(random() * 2 ** 32),
        speaks: true,
        onFirstAudio: resolve,
      }),
    );
  }
  const allSpeak = await within(Promise.all(speaking), SET_UP_TIMEOUT_MS, null);
  const allSpeakingMs = monotonicMs() - startedAtMs;
  if (!allSpeak) throw new Error(`not all bots spoke within ${SET_UP_TIMEOUT_MS} ms: ${losses(calls)}`);
  tell({ type: 'all_speaking' });
  await sleepMs(order.warmUpMs);
  setRecording(calls, true);
  tell({ type: 'measuring' });
  await sleepMs(order.measureMs);
  for (const call of calls) call.pacing.end();
  setRecording(calls, false);
  tell({ type: 'measured' });
  await finished;
  await endCalls(calls);
  return reportOf(calls, allSpeakingMs);
}

async function placeCalmCalls(order: DiallerOrder & { kind: 'calm' }): Promise<DiallerReport> {
  const calls: LoadCall[] = [];
  for (let index = 0; index < order.calls; index++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = new LoadCall({
      url: order.url,
      framing: order.framing,
      clips: [],
      loop,
      random: seededRandom(index),
      speaks: false,
      onFirstAudio: resolve,
    });
    calls.push(call);
    await within(promise, SET_UP_TIMEOUT_MS, null);
    await endCalls([call]);
    await sleepMs(CALM_PAUSE_MS);
  }
  return reportOf(calls, 0);
}

async function hearBarePacers(order: DiallerOrder & { kind: 'bare' }): Promise<DiallerReport> {
  const lines = new PacerLines(loop);
  tell({ type: 'listening', port: await lines.listen() });
  await lines.connected(order.pacers, SET_UP_TIMEOUT_MS);
  lines.record(true);
  loop.recording = true;
  tell({ type: 'measuring' });
  await sleepMs(order.measureMs);
  lines.record(false);
  loop.recording = false;
  tell({ type: 'measured' });
  await finished;
  lines.close();
  const empty = reportOf([], 0);
  return {
    ...empty,
    lateness: spreadOf(lines.readings()),
    lateFrames: lines.lateFrames(),
    counts: { ...empty.counts, received: lines.received },
  };
}

function setRecording(calls: readonly LoadCall[], on: boolean): void {
  loop.recording = on;
  for (const call of calls) {
    call.recording = on;
    call.pacing.recording = on;
  }
}

async function endCalls(calls: readonly LoadCall[]): Promise<void> {
  for (const call of calls) call.hangUp();
  const closed = await within(Promise.all(calls.map((call) => call.closed)), HANG_UP_TIMEOUT_MS, null);
  if (!closed) for (const call of calls) call.drop();
}

function reportOf(calls: readonly LoadCall[], allSpeakingMs: number): DiallerReport {
  const times = (key: 'upgradedMs' | 'readyMs' | 'firstAudioMs') =>
    spreadOf(calls.map((call) => call.setUp[key]).filter((ms) => ms !== null));
  return {
    ownLateness: spreadOf(loop.lateness),
    lateness: spreadOf(calls.flatMap((call) => call.pacing.readings)),
    counts: addCounts(calls.map((call) => call.ledger.counts)),
    lateFrames: sum(calls, (call) => call.pacing.lateFrames),
    underruns: sum(calls, (call) => call.pacing.underruns),
    setUp: { upgraded: times('upgradedMs'), ready: times('readyMs'), firstAudio: times('firstAudioMs') },
    allSpeakingMs,
    bargeIn: spreadOf(calls.flatMap((call) => call.bargeInMs)),
    missedBargeIns: sum(calls, (call) => call.missedBargeIns),
    response: spreadOf(calls.flatMap((call) => call.responseMs)),
    unanswered: sum(calls, (call) => call.unanswered),
    lostCalls: calls.map((call) => call.lost).filter((reason) => reason !== null),
  };
}

function losses(calls: readonly LoadCall[]): string {
  const reasons = calls.map((call) => call.lost ?? (call.setUp.firstAudioMs === null ? 'no audio' : null));
  return reasons.filter((reason) => reason !== null).join('; ');
}

function sum(calls: readonly LoadCall[], of: (call: LoadCall) => number): number {
  return calls.reduce((total, call) => total + of(call), 0);
}

function tell(message: DiallerToBench): void {
  process.send?.(message);
}
