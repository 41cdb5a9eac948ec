import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg, release, totalmem } from 'node:os';
import type { Framing } from '../src/contracts/wire.ts';
import { type BarePacing, type BareVad, measureBarePacing, measureBareVad } from './bare-loops.ts';
import type { DiallerReport } from './bench-messages.ts';
import { BenchFleet, type FleetReadings } from './fleet-run.ts';
import { median } from './spread.ts';

/** One whole run: bare loops and the product in turns, so that a noisy minute touches both. */
export interface BenchPlan {
  calls: number;
  slots: number;
  framings: readonly Framing[];
  /** How often the round bare pacing, product (each framing) is run; medians over rounds count. */
  rounds: number;
  warmUpMs: number;
  measureMs: number;
  /** Measured time of each bare loop. */
  bareMs: number;
  idleMs: number;
  calmCalls: number;
  seed: number;
}

export interface Machine {
  cores: number;
  processor: string;
  memoryGb: number;
  node: string;
  kernel: string;
  loadAtStart: number;
}

export interface BenchResult {
  machine: Machine;
  plan: BenchPlan;
  startedAt: string;
  bareVad: BareVad;
  barePacing: BarePacing[];
  calm: DiallerReport;
  fleets: FleetReadings[];
  ratios: FramingRatios[];
}

/** Product over bare loops, medians over rounds. Above 1 is what the product costs beyond the floor. */
export interface FramingRatios {
  framing: Framing;
  latenessP50: number;
  latenessP99: number;
  cpuPerFrame: number;
}

/**
 * Below this a bare pacer's p99 is the grain of the timers and not a property of the machine; dividing by it would
 * turn a tenth of a millisecond into a regression.
 */
const LATENESS_GRAIN_MS = 0.5;

/**
 * Runs the plan and says how far it is. `onFleet` gets the fleet as soon as it runs: its processes outlive a caller that
 * is ended without stopping it. Rejects when the appliance or the dialler does not work at all.
 */
export async function runBench(
  plan: BenchPlan,
  say: (sentence: string) => void,
  onFleet: (fleet: BenchFleet) => void = () => undefined,
): Promise<BenchResult> {
  const startedAt = new Date().toISOString();
  const machine = describeMachine();
  say(`bare VAD loop: ${plan.calls} processes, ${plan.bareMs / 1000} s`);
  const bareVad = await measureBareVad(plan.calls, plan.bareMs);
  say(`appliance: ${plan.slots} slots, then ${plan.calmCalls} calls one by one`);
  const fleet = await BenchFleet.start(plan.slots);
  onFleet(fleet);
  const barePacing: BarePacing[] = [];
  const fleets: FleetReadings[] = [];
  try {
    const calm = await fleet.placeCalmCalls(plan.calmCalls, plan.framings[0] ?? 'json');
    const bare = async () => {
      say(`bare pacing loop: ${plan.calls} processes, ${plan.bareMs / 1000} s`);
      barePacing.push(await measureBarePacing(plan.calls, plan.bareMs));
    };
    for (let round = 1; round <= plan.rounds; round++) {
      await bare();
      for (const framing of plan.framings) {
        say(
          `round ${round} of ${plan.rounds}, ${framing} frames: ${plan.calls} calls, ${plan.measureMs / 1000} s`,
        );
        const { calls, slots, warmUpMs, measureMs, idleMs, seed } = plan;
        const options = { calls, slots, framing, warmUpMs, measureMs, idleMs, seed: seed + round };
        fleets.push(await fleet.placeLoad({ ...options, say: (text) => say(`  ${text}`) }));
      }
    }
    await bare();
    const ratios = plan.framings.map((framing) =>
      ratiosOf(
        framing,
        fleets.filter((readings) => readings.framing === framing),
        barePacing,
        bareVad,
      ),
    );
    return { machine, plan, startedAt, bareVad, barePacing, calm, fleets, ratios };
  } finally {
    await fleet.stop();
  }
}

/** From this load average per core on the machine counts as busy with something else. */
const BUSY_LOAD_PER_CORE = 0.5;

export function isBusy(machine: Machine): boolean {
  return machine.loadAtStart > BUSY_LOAD_PER_CORE * machine.cores;
}

function describeMachine(): Machine {
  const cpuinfo = readFileSync('/proc/cpuinfo', 'utf8');
  return {
    cores: availableParallelism(),
    processor: /^model name\s*:\s*(.+)$/m.exec(cpuinfo)?.[1] ?? process.arch,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    kernel: release(),
    loadAtStart: loadavg()[0] ?? 0,
  };
}

function ratiosOf(
  framing: Framing,
  fleets: readonly FleetReadings[],
  barePacing: readonly BarePacing[],
  bareVad: BareVad,
): FramingRatios {
  const over = (key: 'p50' | 'p99') => {
    const product =
      median(fleets.map((readings) => readings.dialler.lateness[key] ?? Number.NaN)) ?? Number.NaN;
    const bare = median(barePacing.map((readings) => readings.lateness[key] ?? Number.NaN)) ?? Number.NaN;
    return Math.max(product, LATENESS_GRAIN_MS) / Math.max(bare, LATENESS_GRAIN_MS);
  };
  const productUs = median(fleets.map((readings) => readings.cpuPerFrameUs)) ?? Number.NaN;
  const bareUs = median(barePacing.map((readings) => readings.cpuPerFrameUs)) ?? Number.NaN;
  return {
    framing,
    latenessP50: over('p50'),
    latenessP99: over('p99'),
    cpuPerFrame: productUs / (bareUs + bareVad.cpuPerFrameUs),
  };
}
