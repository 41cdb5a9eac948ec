import { sleepMs } from '../src/platform/clock.ts';
import { type MemoryReading, readMemory } from './process-readings.ts';
import { median } from './spread.ts';

/** Memory of main, of a slot and of everything, in MB. */
export interface FleetMemory {
  main: MemoryReading;
  slotMedian: MemoryReading;
  slotMax: MemoryReading;
  total: MemoryReading;
}

/** One process at a time, this far apart: a look at all of them at once would disturb the pacing that is measured. */
const LOOK_EVERY_MS = 100;

/** Looks at every process in turn until the signal; of each process the median of its looks counts. */
export async function watchMemory(
  mainPid: number,
  slotPids: readonly number[],
  until: AbortSignal,
): Promise<FleetMemory> {
  const looks = new Map<number, MemoryReading[]>();
  const pids = [mainPid, ...slotPids];
  const look = (pid: number) => {
    const reading = readMemory(pid);
    if (reading) looks.set(pid, [...(looks.get(pid) ?? []), reading]);
  };
  for (let turn = 0; !until.aborted; turn++) {
    look(pids[turn % pids.length] as number);
    await sleepMs(LOOK_EVERY_MS, until).catch(() => undefined);
  }
  // A short run may not have come round.
  for (const pid of pids) if (!looks.has(pid)) look(pid);
  const medians = (pid: number) => combine(looks.get(pid) ?? [], (values) => median(values) ?? 0);
  const slots = slotPids.map(medians);
  const main = medians(mainPid);
  return {
    main,
    slotMedian: combine(slots, (values) => median(values) ?? 0),
    slotMax: combine(slots, (values) => Math.max(...values)),
    total: combine([main, ...slots], (values) => values.reduce((sum, value) => sum + value, 0)),
  };
}

/** One look at all of them, for a machine that does nothing else. */
export function memoryNow(mainPid: number, slotPids: readonly number[]): Promise<FleetMemory> {
  return watchMemory(mainPid, slotPids, AbortSignal.abort());
}

function combine(readings: readonly MemoryReading[], how: (values: number[]) => number): MemoryReading {
  return {
    rssMb: how(readings.map((reading) => reading.rssMb)),
    pssMb: how(readings.map((reading) => reading.pssMb)),
    privateDirtyMb: how(readings.map((reading) => reading.privateDirtyMb)),
  };
}
