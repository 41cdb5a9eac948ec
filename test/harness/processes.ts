import { readdirSync, readFileSync } from 'node:fs';

export interface SeenProcess {
  pid: number;
  /** One letter of the kernel: R, S, T, Z, … */
  state: string;
}

/** Children of this process that run the program, zombies included. */
export function childrenNamed(name: string): SeenProcess[] {
  return processes().filter((seen) => seen.parent === process.pid && seen.name === name.slice(0, 15));
}

/** The process with this id, zombie or not; undefined when there is none. */
export function processOf(pid: number): SeenProcess | undefined {
  return processes().find((seen) => seen.pid === pid);
}

function processes(): (SeenProcess & { parent: number; name: string })[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
        const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
        const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return [{ pid: Number(entry), name, state, parent: Number(parent) }];
      } catch {
        return [];
      }
    });
}
