import { closeSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';

/**
 * Closes descriptors that a fork of main left open on files below `folder`. LMDB opens its data file without
 * close-on-exec, so a slot would hold a writable descriptor of a store that is none of its business (D-6).
 */
export function closeInherited(folder: string): void {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch {
    return;
  }
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    try {
      if (readlinkSync(`/proc/self/fd/${name}`).startsWith(`${real}/`)) closeSync(descriptor);
    } catch {
      // The descriptor that read the folder itself is gone by now.
    }
  }
}
