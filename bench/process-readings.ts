import { readdirSync, readFileSync } from 'node:fs';

/** What the kernel says about processes, read from outside: memory in MB, CPU in seconds. Linux only. */
export interface MemoryReading {
  rssMb: number;
  /** Shared pages divided among those that share them: what a fleet really takes, summed. */
  pssMb: number;
  privateDirtyMb: number;
}

/** Clock ticks per second in /proc; the kernel shows 100 to programs whatever it uses itself. */
const TICKS_PER_SECOND = 100;

/** Null where the process has ended. Reading it costs the process nothing but a look at its page table. */
export function readMemory(pid: number): MemoryReading | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  } catch {
    return null;
  }
  const mb = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { rssMb: mb('Rss'), pssMb: mb('Pss'), privateDirtyMb: mb('Private_Dirty') };
}

/** User and system time of all threads since the process began; null where it has ended. */
export function readCpuSeconds(pid: number): number | null {
  const fields = statFields(pid);
  return fields ? (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND : null;
}

/** A process and all that descend from it, at this moment. */
export function processTree(rootPid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(statFields(pid)?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree: number[] = [];
  for (const pending = [rootPid]; pending.length > 0; ) {
    const pid = pending.pop() as number;
    tree.push(pid);
    pending.push(...(children.get(pid) ?? []));
  }
  return tree;
}

/**
 * CPU seconds that a set of processes used between two looks. A process that ended in between counts with what it had
 * used when it was last seen, which is too little; `ended` says that this happened.
 */
export class CpuMeter {
  private readonly pids: readonly number[];
  private readonly before: Map<number, number>;

  constructor(pids: readonly number[]) {
    this.pids = pids;
    this.before = new Map(pids.map((pid) => [pid, readCpuSeconds(pid) ?? 0]));
  }

  read(): { cpuSeconds: number; ended: number } {
    let cpuSeconds = 0;
    let ended = 0;
    for (const pid of this.pids) {
      const now = readCpuSeconds(pid);
      if (now === null) ended++;
      else cpuSeconds += now - (this.before.get(pid) ?? 0);
    }
    return { cpuSeconds, ended };
  }
}

/** The fields of /proc/pid/stat from the state on; the command before it may hold spaces and brackets. */
function statFields(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
