import { availableParallelism } from 'node:os';
import { sleepMs } from '../src/platform/clock.ts';
import { projectPath } from '../src/platform/project-paths.ts';
import type { VadMessage } from './bare-vad.ts';
import { DiallerRun, endPrograms, startProgram } from './child-programs.ts';
import { CpuMeter } from './process-readings.ts';
import type { Spread } from './spread.ts';

/** A bare pacer per call, none of them doing anything else. */
export interface BarePacing {
  lateness: Spread;
  diallerLateness: Spread;
  /** CPU microseconds per process and 20 ms of time, one frame each way. */
  cpuPerFrameUs: number;
}

export interface BareVad {
  /** CPU microseconds per 32 ms window: one after the other, and at the pace of a call in as many processes. */
  hotUs: number;
  coldUs: number;
  /** The cold cost as a share per 20 ms, beside a frame. */
  cpuPerFrameUs: number;
}

const FRAMES_PER_SECOND = 50;
const VAD_WINDOWS_PER_SECOND = 31.25;
/** The first ticks of a new process are slow ones. */
const SETTLE_MS = 1_000;

/** Runs so many bare pacers against the dialler and measures them as the slots are measured. */
export async function measureBarePacing(pacers: number, measureMs: number): Promise<BarePacing> {
  const dialler = new DiallerRun({ kind: 'bare', pacers, measureMs });
  const children = [dialler.child];
  try {
    const { port } = await dialler.stage('listening');
    const processes = Array.from({ length: pacers }, () => startProgram('bare-pacing', [String(port)]));
    children.push(...processes);
    await dialler.stage('measuring');
    const meter = new CpuMeter(processes.map((child) => child.pid as number));
    await dialler.stage('measured');
    const { cpuSeconds } = meter.read();
    dialler.finish();
    const report = await dialler.report;
    return {
      lateness: report.lateness,
      diallerLateness: report.ownLateness,
      cpuPerFrameUs: perFrameUs(cpuSeconds, pacers, measureMs),
    };
  } finally {
    await endPrograms(children);
  }
}

/** Runs so many processes that only listen for speech. */
export async function measureBareVad(listeners: number, measureMs: number): Promise<BareVad> {
  const modelDir = process.env.MODEL_DIR || projectPath('models');
  const children = [startProgram('bare-vad', [modelDir, 'hot'])];
  try {
    const hotUs = await readyVad(children[0] as (typeof children)[number]);
    // Loading takes a whole processor; not more at once than there are.
    while (children.length < listeners) {
      const count = Math.min(availableParallelism(), listeners - children.length);
      const batch = Array.from({ length: count }, () => startProgram('bare-vad', [modelDir]));
      children.push(...batch);
      await Promise.all(batch.map(readyVad));
    }
    await sleepMs(SETTLE_MS);
    const meter = new CpuMeter(children.map((child) => child.pid as number));
    await sleepMs(measureMs);
    const cpuPerFrameUs = perFrameUs(meter.read().cpuSeconds, listeners, measureMs);
    return {
      hotUs: hotUs ?? 0,
      coldUs: (cpuPerFrameUs * FRAMES_PER_SECOND) / VAD_WINDOWS_PER_SECOND,
      cpuPerFrameUs,
    };
  } finally {
    await endPrograms(children);
  }
}

/** CPU of a fleet as microseconds per call and 20 ms of its time. */
export function perFrameUs(cpuSeconds: number, calls: number, measureMs: number): number {
  return (cpuSeconds * 1e6) / (calls * (measureMs / 1000) * FRAMES_PER_SECOND);
}

function readyVad(child: ReturnType<typeof startProgram>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: VadMessage) => resolve(message.hotUs));
    child.once('exit', (code) =>
      reject(new Error(`the bare VAD loop ended with ${code}; see its output above`)),
    );
  });
}
