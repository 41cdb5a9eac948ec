import { readFileSync } from 'node:fs';

/**
 * What names a process for good: its pid together with its start time and the boot it belongs to. A pid alone is
 * reused, so a spool folder left by a dead slot could otherwise pass for a live call.
 */
export interface ProcessIdentity {
  pid: number;
  startTicks: number;
  bootId: string;
}

/** Kernel boot id; the same for every process until the next boot. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Start time of a process in clock ticks from boot (field 22 of /proc/pid/stat), or null when it does not run. */
export function startTicks(pid: number): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the command in brackets and may itself hold spaces and brackets: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended; only its parent has not read that yet.
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  const ticks = Number(fields[19]);
  return Number.isFinite(ticks) ? ticks : null;
}

export function ownIdentity(): ProcessIdentity {
  const ticks = startTicks(process.pid);
  if (ticks === null) throw new Error('/proc/self/stat cannot be read; Linux with /proc is required');
  return { pid: process.pid, startTicks: ticks, bootId: bootId() };
}

/** Whether exactly this process still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && startTicks(identity.pid) === identity.startTicks;
}
