import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import { until } from './wait.ts';

export interface SeenProcess {
  pid: number;
  /** One letter of the kernel: R, S, T, Z, … */
  state: string;
}

/** The program of the local decoder. */
export const DECODER = 'pocketsphinx_continuous';

/** Children of this process that run the program, zombies included. */
export function childrenNamed(name: string): SeenProcess[] {
  return processes().filter((seen) => seen.parent === process.pid && seen.name === name.slice(0, 15));
}

/** The process with this id, zombie or not; undefined when there is none. */
export function processOf(pid: number): SeenProcess | undefined {
  return processes().find((seen) => seen.pid === pid);
}

/** The decoder at work; a test has one at a time. */
export function decoderPid(): number {
  const [decoder] = childrenNamed(DECODER);
  if (!decoder) throw new Error('no decoder runs');
  return decoder.pid;
}

/** Kills the decoder as a crash would and waits until this process has been told. */
export async function crashDecoder(): Promise<void> {
  const pid = decoderPid();
  process.kill(pid, 'SIGSEGV');
  await until(() => processOf(pid) === undefined);
  // The child is gone in the round of the loop that tells of it.
  await nextRound();
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
