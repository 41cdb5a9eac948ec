import type { ChildProcess } from 'node:child_process';
import { type CallMeasures, JITTER_EDGES_MS } from '../src/contracts/call-measures.ts';
import type { CallResults } from '../src/contracts/call-results.ts';
import { callRoomName } from '../src/contracts/rooms.ts';
import { monotonicMs, sleepMs } from '../src/platform/clock.ts';
import { MediaServer } from '../src/platform/media-server.ts';
import { type OwnStack, startStack } from '../test/stack/start-stack.ts';
import { BENCH_BOT } from './bench-bot.ts';
import { endPrograms, startProgram } from './child-programs.ts';
import { BenchFleet } from './fleet-run.ts';
import { type FleetMemory, watchMemory } from './memory-watch.ts';
import { CpuMeter, processTree } from './process-readings.ts';
import type { RoomCallerNews, RoomCallerOrder, RoomCallerReport } from './room-caller.ts';

/** Room calls at once, more and more of them until the voice comes too late. */
export interface RoomsPlan {
  /** Numbers of calls at once, ascending. */
  steps: readonly number[];
  warmUpMs: number;
  measureMs: number;
}

/** The voice is late when one packet in a hundred comes later than this: one frame. */
export const LATE_P99_MS = 20;
/** An instrument later than this cannot call its subject late. */
const OWN_LATENESS_MS = 5;
const SET_UP_TIMEOUT_MS = 60_000;
const TOKEN_LIFE_S = 3_600;

export interface RoomStep {
  calls: number;
  caller: RoomCallerReport;
  /** The same path with bare publishers in place of slots. */
  bare: RoomCallerReport;
  /** Main, slots and their engines; the media server and its SIP service apart. */
  cpuSecondsPerCallMinute: { product: number; bare: number; mediaServer: number; sipService: number };
  memory: FleetMemory;
  /** Private memory of a slot in a room call, over that of an idle one. */
  slotGrowthMb: number;
  /** From the first dialout to the last bot heard. */
  allHeardMs: number;
  results: number;
  /** Frames of the bot by how late their slots sent them (`measures.jitter`). */
  sentLate: number[];
}

export interface RoomsFigures {
  steps: RoomStep[];
  /** The largest number of calls with lateness p99 under {@link LATE_P99_MS}. */
  largest: number;
}

/** Runs the steps until one is late. Rejects when the stack or the appliance does not work. */
export async function benchRooms(
  plan: RoomsPlan,
  say: (sentence: string) => void,
  onFleet: (fleet: BenchFleet) => void,
): Promise<RoomsFigures> {
  say('starting Redis, livekit-server and livekit-sip');
  const stack = await startStack();
  const steps: RoomStep[] = [];
  try {
    const media = new MediaServer({ url: stack.url, apiKey: stack.apiKey, apiSecret: stack.apiSecret });
    for (const calls of plan.steps) {
      const step = await runStep({ plan, calls, stack, media, say, onFleet }).catch((error: Error) => {
        // More calls than the machine can set up are the end of a run, unless nothing worked at all.
        if (steps.length === 0) throw error;
        say(`${calls} at once: ${error.message}`);
        return null;
      });
      if (step === null) break;
      steps.push(step);
      for (const line of describeStep(step)) say(line);
      if ((step.caller.lateness.p99 ?? Number.POSITIVE_INFINITY) > LATE_P99_MS) break;
    }
  } finally {
    await stack.stop();
  }
  const onTime = steps.filter(
    ({ caller }) => (caller.lateness.p99 ?? Number.POSITIVE_INFINITY) <= LATE_P99_MS,
  );
  return { steps, largest: Math.max(0, ...onTime.map(({ calls }) => calls)) };
}

interface StepParts {
  plan: RoomsPlan;
  calls: number;
  stack: OwnStack;
  media: MediaServer;
  say: (sentence: string) => void;
  onFleet: (fleet: BenchFleet) => void;
}

async function runStep(parts: StepParts): Promise<RoomStep> {
  const { calls, say } = parts;
  say(`${calls} at once: bare publishers`);
  const bare = await withCaller(parts, (caller, trunkId) => measureBare(parts, caller, trunkId));
  say(`${calls} at once: the product`);
  return withCaller(parts, (caller, trunkId) => measureProduct(parts, caller, trunkId, bare));
}

/** Telephones for one run, and a trunk that leads to them. */
async function withCaller<T>(
  { stack, media, calls }: StepParts,
  run: (caller: RoomCaller, trunkId: string) => Promise<T>,
): Promise<T> {
  const caller = new RoomCaller();
  try {
    const sipAddress = await caller.open(calls);
    const trunk = await media.sip.createSipOutboundTrunk('bench', sipAddress, ['+15550199'], {
      transport: 1,
    });
    try {
      return await run(caller, trunk.sipTrunkId);
    } finally {
      await media.sip.deleteSipTrunk(trunk.sipTrunkId);
      for (const room of await media.listRooms()) await media.deleteRoom(room.name);
    }
  } finally {
    await endPrograms([caller.child]);
    // A leg that was hung up is gone from the media server a moment later.
    await sleepMs(stack ? 500 : 0);
  }
}

async function measureBare(
  { plan, calls, stack, media }: StepParts,
  caller: RoomCaller,
  trunkId: string,
): Promise<{ report: RoomCallerReport; cpu: number }> {
  const publishers: ChildProcess[] = [];
  try {
    for (let index = 0; index < calls; index++) {
      const roomName = callRoomName(`bare-${index}`);
      const identity = `bare-${index}`;
      await media.createRoom(roomName, '');
      const token = await media.token({
        room: roomName,
        identity,
        ttlS: TOKEN_LIFE_S,
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
      });
      const child = startProgram('bare-room', [stack.wsUrl, token]);
      publishers.push(child);
      await new Promise((resolve) => child.once('message', resolve));
      const answer = await media.dial({
        trunkId,
        toNumber: `+1555020${index}`,
        fromNumber: '',
        roomName,
        identity: `telephone-${index}`,
        ringingTimeoutS: 20,
        maxCallS: TOKEN_LIFE_S,
      });
      if (answer.kind !== 'ok') throw new Error(`a bare call was not answered: ${JSON.stringify(answer)}`);
    }
    await caller.heard(calls);
    await sleepMs(plan.warmUpMs);
    const meter = new CpuMeter(publishers.map((child) => child.pid as number));
    const report = await caller.measure(plan.measureMs);
    const cpu = perCallMinute(meter.read().cpuSeconds, calls, plan.measureMs);
    return { report: await report(), cpu };
  } finally {
    await endPrograms(publishers);
  }
}

async function measureProduct(
  { plan, calls, stack, onFleet }: StepParts,
  caller: RoomCaller,
  trunkId: string,
  bare: { report: RoomCallerReport; cpu: number },
): Promise<RoomStep> {
  const fleet = await BenchFleet.start(calls, BENCH_BOT, {
    LIVEKIT_URL: stack.wsUrl,
    LIVEKIT_API_KEY: stack.apiKey,
    LIVEKIT_API_SECRET: stack.apiSecret,
    SIP_OUTBOUND_TRUNK_ID: trunkId,
  });
  onFleet(fleet);
  try {
    const slotPids = await fleet.readySlots();
    const idle = await watchMemory(fleet.appliance.mainPid, slotPids, AbortSignal.abort());
    const startedAtMs = monotonicMs();
    const callIds: string[] = [];
    for (let index = 0; index < calls; index++) callIds.push(await fleet.dialOut(`+1555030${index}`));
    await caller.heard(calls);
    const allHeardMs = monotonicMs() - startedAtMs;
    await sleepMs(plan.warmUpMs);
    const measured = new AbortController();
    const memory = watchMemory(fleet.appliance.mainPid, slotPids, measured.signal);
    const meters = {
      product: new CpuMeter(processTree(fleet.appliance.mainPid)),
      mediaServer: new CpuMeter([stack.pids.livekitServer]),
      sipService: new CpuMeter([stack.pids.livekitSip]),
    };
    const report = await caller.measure(plan.measureMs);
    const used = (meter: CpuMeter) => perCallMinute(meter.read().cpuSeconds, calls, plan.measureMs);
    const cpuSecondsPerCallMinute = {
      product: used(meters.product),
      bare: bare.cpu,
      mediaServer: used(meters.mediaServer),
      sipService: used(meters.sipService),
    };
    measured.abort();
    const busy = await memory;
    for (const callId of callIds) await fleet.hangUp(callId);
    const telephones = await report();
    const results = await fleet.resultsOf(calls);
    return {
      calls,
      caller: telephones,
      bare: bare.report,
      cpuSecondsPerCallMinute,
      memory: busy,
      slotGrowthMb: busy.slotMedian.privateDirtyMb - idle.slotMedian.privateDirtyMb,
      allHeardMs,
      results,
      sentLate: sentLateness(fleet.plane.results),
    };
  } finally {
    await fleet.stop();
  }
}

/** What the results say of the slots' own lateness, all calls together. */
function sentLateness(results: readonly CallResults[]): number[] {
  const sum = new Array<number>(JITTER_EDGES_MS.length + 1).fill(0);
  for (const { end_detail: detail } of results) {
    const measures = detail?.measures as CallMeasures | undefined;
    for (const [at, count] of (measures?.jitter.sent ?? []).entries()) sum[at] = (sum[at] ?? 0) + count;
  }
  return sum;
}

/** Of all frames, those at least so late; the lead of the line has to be longer than that. */
function sentBeyond(counts: readonly number[], edgeMs: (typeof JITTER_EDGES_MS)[number]): number {
  return counts.slice(JITTER_EDGES_MS.indexOf(edgeMs) + 1).reduce((sum, count) => sum + count, 0);
}

function perCallMinute(cpuSeconds: number, calls: number, measureMs: number): number {
  return cpuSeconds / (calls * (measureMs / 60_000));
}

/** The telephones' process as the bench sees it. */
class RoomCaller {
  readonly child = startProgram('room-caller');
  private readonly waiting = new Set<(news: RoomCallerNews) => void>();
  private bots = 0;

  constructor() {
    this.child.on('message', (news: RoomCallerNews) => {
      if (news.type === 'heard') this.bots = news.bots;
      for (const look of [...this.waiting]) look(news);
    });
  }

  /** Resolves with the SIP address that answers so many calls. */
  async open(calls: number): Promise<string> {
    const opened = this.news('listening');
    this.order({ type: 'open', calls });
    return (await opened).sipAddress;
  }

  async heard(calls: number): Promise<void> {
    const endAtMs = monotonicMs() + SET_UP_TIMEOUT_MS;
    while (this.bots < calls) {
      if (monotonicMs() > endAtMs) throw new Error(`${this.bots} of ${calls} bots were heard`);
      await sleepMs(50);
    }
  }

  /** Records for so long; what it resolves to ends the calls and gives the report. */
  async measure(measureMs: number): Promise<() => Promise<RoomCallerReport>> {
    this.order({ type: 'record', on: true });
    await sleepMs(measureMs);
    this.order({ type: 'record', on: false });
    return async () => {
      const report = this.news('report');
      this.order({ type: 'finish' });
      return (await report).report;
    };
  }

  private order(order: RoomCallerOrder): void {
    this.child.send(order, () => undefined);
  }

  private news<T extends RoomCallerNews['type']>(type: T): Promise<RoomCallerNews & { type: T }> {
    return new Promise((resolve, reject) => {
      const look = (news: RoomCallerNews) => {
        if (news.type === 'failed') reject(new Error(`the telephones: ${news.sentence}`));
        else if (news.type === type) resolve(news as RoomCallerNews & { type: T });
        else return;
        this.waiting.delete(look);
      };
      this.waiting.add(look);
    });
  }
}

/** What is said when all steps are done; each step was told as it ended. */
export function describeRooms({ largest }: RoomsFigures): string {
  return `largest number with lateness p99 up to ${LATE_P99_MS} ms: ${largest}`;
}

function describeStep(step: RoomStep): string[] {
  const ms = (value: number | null) => (value === null ? '-' : value.toFixed(1));
  const { caller, bare, cpuSecondsPerCallMinute: cpu, memory } = step;
  const { counts } = caller;
  return [
    `${step.calls} room calls at once (SIP telephone, livekit-sip, livekit-server, slot)`,
    `  voice lateness ms      p50 ${ms(caller.lateness.p50)}, p99 ${ms(caller.lateness.p99)}, max ${ms(caller.lateness.max)} (${caller.lateness.count}); bare publishers p50 ${ms(bare.lateness.p50)}, p99 ${ms(bare.lateness.p99)}; ratio of p99 ${ratio(caller.lateness.p99, bare.lateness.p99)}`,
    `  the telephones' own    p99 ${ms(caller.ownLateness.p99)}${(caller.ownLateness.p99 ?? 0) > OWN_LATENESS_MS ? '  WARNING: too late themselves; the lateness above is void' : ''}`,
    `  packets                ${counts.packets} in all, ${counts.lostPackets} lost; ${counts.voicedPackets} of the bot's voice, ${caller.lateFrames} beyond a 60 ms jitter buffer, ${counts.holeFrames} frames of silence inside it; ${counts.replies} replies`,
    `  sent late by the slots ${sentBeyond(step.sentLate, 20)} by 20 ms, ${sentBeyond(step.sentLate, 60)} by 60 ms, ${sentBeyond(step.sentLate, 200)} by 200 ms, of ${step.sentLate.reduce((sum, count) => sum + count, 0)} frames`,
    `  CPU s per call-minute  product ${cpu.product.toFixed(2)}, bare publisher ${cpu.bare.toFixed(2)}; livekit-server ${cpu.mediaServer.toFixed(2)}, livekit-sip ${cpu.sipService.toFixed(2)}`,
    `  memory MB              a slot ${memory.slotMedian.privateDirtyMb.toFixed(1)} private dirty (${step.slotGrowthMb.toFixed(1)} more than idle), PSS ${memory.slotMedian.pssMb.toFixed(1)}; main ${memory.main.privateDirtyMb.toFixed(1)}`,
    `  set-up                 all bots heard ${(step.allHeardMs / 1000).toFixed(1)} s after the first dialout; ${step.results} results delivered`,
  ];
}

function ratio(product: number | null, bare: number | null): string {
  return product === null || bare === null || bare <= 0 ? '-' : (product / bare).toFixed(1);
}
