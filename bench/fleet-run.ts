import type { CallResults } from '../src/contracts/call-results.ts';
import { DIALOUT_PATH } from '../src/contracts/dialout.ts';
import { CALLS_PATH } from '../src/contracts/room-requests.ts';
import type { Framing } from '../src/contracts/wire.ts';
import { sleepMs } from '../src/platform/clock.ts';
import { httpCall } from '../src/platform/http-client.ts';
import { Appliance } from '../test/harness/appliance.ts';
import { ForeignPlane } from '../test/harness/foreign-plane.ts';
import { perFrameUs } from './bare-loops.ts';
import { BENCH_BOT } from './bench-bot.ts';
import type { DiallerReport } from './bench-messages.ts';
import { DiallerRun, endPrograms } from './child-programs.ts';
import { type FleetMemory, memoryNow, watchMemory } from './memory-watch.ts';
import { CpuMeter, processTree } from './process-readings.ts';

/** The product under load, measured from outside. */
export interface FleetReadings {
  framing: Framing;
  dialler: DiallerReport;
  cpuSecondsPerCallMinute: number;
  cpuPerFrameUs: number;
  /** Main's share of the CPU above. */
  mainCpuShare: number;
  /** CPU of the idle fleet, as a share of one processor. */
  idleCpuShare: number;
  idle: FleetMemory;
  busy: FleetMemory;
  /** Turns by what decided them, from the results that were delivered. */
  turnsBy: Record<string, number>;
  resultsDelivered: number;
  spoolsLeft: number;
}

export interface FleetRunOptions {
  calls: number;
  slots: number;
  framing: Framing;
  warmUpMs: number;
  measureMs: number;
  idleMs: number;
  seed: number;
  say: (sentence: string) => void;
}

/** All calls are dialled within this. */
const BURST_MS = 100;
/** A slot that has just started still warms up; an idle reading waits for that. */
const SETTLE_MS = 1_500;
const RESULTS_TIMEOUT_MS = 30_000;
const DOOR_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;

/** A fleet with a config server of the bench's own; its bot is the scripted one behind the real ears. */
export class BenchFleet {
  readonly appliance: Appliance;
  readonly plane: ForeignPlane;
  private stopped: Promise<void> | undefined;

  private constructor(appliance: Appliance, plane: ForeignPlane) {
    this.appliance = appliance;
    this.plane = plane;
  }

  /** `bot` is what the bench changes in the scripted bot of the config server, `env` in the settings. */
  static async start(
    slots: number,
    bot: Record<string, unknown> = BENCH_BOT,
    env: Record<string, string> = {},
  ): Promise<BenchFleet> {
    const plane = await ForeignPlane.start();
    plane.config = () => ({ status: 200, body: plane.scriptedBot(bot) });
    try {
      const appliance = await Appliance.start({
        ...plane.env,
        SLOTS: String(slots),
        LOG_LEVEL: 'warn',
        MODELS: 'required',
        ...(process.env.MODEL_DIR ? { MODEL_DIR: process.env.MODEL_DIR } : {}),
        ...env,
      });
      return new BenchFleet(appliance, plane);
    } catch (error) {
      await plane.close();
      throw error;
    }
  }

  /** Ends every process of the fleet. Safe to call twice. */
  stop(): Promise<void> {
    this.stopped ??= this.appliance.destroy().then(() => this.plane.close());
    return this.stopped;
  }

  /** One call at a time: set-up on a quiet machine. */
  async placeCalmCalls(calls: number, framing: Framing): Promise<DiallerReport> {
    const dialler = new DiallerRun({ kind: 'calm', url: `${this.appliance.callUrl}bench`, framing, calls });
    try {
      return await dialler.report;
    } finally {
      await endPrograms([dialler.child]);
      await this.allIdle();
    }
  }

  /** All calls at once: a burst, a warm-up, the measured time, the end. */
  async placeLoad(options: FleetRunOptions): Promise<FleetReadings> {
    const { calls, measureMs, framing, say } = options;
    await this.allIdle();
    await sleepMs(SETTLE_MS);
    const slotPids = await this.slotPids();
    const mainPid = this.appliance.mainPid;
    const idleMeter = new CpuMeter([mainPid, ...slotPids]);
    await sleepMs(options.idleMs);
    const idleCpuShare = (idleMeter.read().cpuSeconds * 1000) / options.idleMs;
    const idle = await memoryNow(mainPid, slotPids);
    const resultsBefore = this.plane.results.length;

    const dialler = new DiallerRun({
      kind: 'calls',
      url: `${this.appliance.callUrl}bench`,
      framing,
      calls,
      spreadMs: BURST_MS,
      warmUpMs: options.warmUpMs,
      measureMs,
      seed: options.seed,
    });
    try {
      await dialler.stage('all_speaking');
      say(`${calls} bots speak`);
      const measured = new AbortController();
      await dialler.stage('measuring');
      const progress = setInterval(() => say('measuring'), 10_000);
      const meter = new CpuMeter(processTree(mainPid));
      const mainMeter = new CpuMeter([mainPid]);
      const busy = watchMemory(mainPid, await this.slotPids(), measured.signal);
      await dialler.stage('measured').finally(() => {
        clearInterval(progress);
        measured.abort();
      });
      const { cpuSeconds, ended } = meter.read();
      const mainCpu = mainMeter.read().cpuSeconds;
      if (ended > 0) say(`${ended} processes of the appliance ended while it was measured`);
      dialler.finish();
      const report = await dialler.report;
      const results = (await this.results(resultsBefore + calls)).slice(resultsBefore);
      return {
        framing,
        dialler: report,
        cpuSecondsPerCallMinute: cpuSeconds / (calls * (measureMs / 60_000)),
        cpuPerFrameUs: perFrameUs(cpuSeconds, calls, measureMs),
        mainCpuShare: cpuSeconds === 0 ? 0 : mainCpu / cpuSeconds,
        idleCpuShare,
        idle,
        busy: await busy,
        turnsBy: countTurns(results),
        resultsDelivered: results.length,
        spoolsLeft: this.appliance.spooled.length,
      };
    } finally {
      await endPrograms([dialler.child]);
    }
  }

  /** Waits until every slot is idle and settled; their pids. */
  async readySlots(): Promise<number[]> {
    await this.allIdle();
    await sleepMs(SETTLE_MS);
    return this.slotPids();
  }

  /** Has the appliance dial a number through its media server: the id of the call. Rejects with the refusal. */
  async dialOut(toNumber: string): Promise<string> {
    const answer = await this.askFleetHost(DIALOUT_PATH, { bot_id: 'bench', to_number: toNumber });
    return (JSON.parse(answer) as { call_id: string }).call_id;
  }

  async hangUp(callId: string): Promise<void> {
    await this.askFleetHost(`${CALLS_PATH}${callId}/hangup`, {});
  }

  private async askFleetHost(path: string, body: Record<string, unknown>): Promise<string> {
    const answer = await httpCall(`http://127.0.0.1:${this.appliance.fleetPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: DOOR_TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    if (answer.status !== 200) throw new Error(`${path} was refused with ${answer.status}: ${answer.body}`);
    return answer.body;
  }

  /** How many results have come in the end; fewer than `count` only when main did not deliver them in time. */
  async resultsOf(count: number): Promise<number> {
    return (await this.results(count)).length;
  }

  private async allIdle(): Promise<void> {
    await this.appliance.until(
      (health) => (health.workers ?? []).every((worker) => worker.state === 'idle'),
      RESULTS_TIMEOUT_MS,
    );
  }

  private async slotPids(): Promise<number[]> {
    const health = await this.appliance.health();
    return (health?.workers ?? []).map((worker) => worker.pid).filter((pid) => pid !== null);
  }

  /** The results that came; fewer than `count` only when main did not deliver them in time. */
  private async results(count: number): Promise<CallResults[]> {
    return this.plane.until(count, RESULTS_TIMEOUT_MS).catch(() => this.plane.results);
  }
}

function countTurns(results: readonly CallResults[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of results) {
    for (const event of result.events) {
      if (event.event !== 'user_turn') continue;
      const decidedBy = String((event as Record<string, unknown>).decided_by);
      counts[decidedBy] = (counts[decidedBy] ?? 0) + 1;
    }
  }
  return counts;
}
