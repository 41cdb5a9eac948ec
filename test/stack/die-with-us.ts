import { findEngine } from '../../src/platform/engine-programs.ts';

/**
 * A command that the kernel ends when this process ends, however this process ends. `setpriv` belongs to util-linux,
 * which every Debian has.
 */
export function dieWithUs(path: string, args: readonly string[]): { path: string; args: string[] } {
  const setpriv = findEngine('setpriv');
  if (!setpriv) throw new Error('setpriv is not installed; it is in the Debian package util-linux');
  return { path: setpriv.path, args: ['--pdeathsig', 'KILL', path, ...args] };
}
