import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { projectPath } from './project-paths.ts';

/**
 * Where the local speech programs are. The system's own come first; a set-up without root unpacks the Debian packages
 * into `.cache/debian` instead, and then their libraries and data are found through the environment returned here.
 */
export interface EngineProgram {
  path: string;
  env: Record<string, string>;
  /** Prefix of `/usr` data files that belong to this program: '' or the unpacked root. */
  root: string;
}

const UNPACKED = projectPath('.cache/debian');

/** The program, or null when it is installed nowhere. */
export function findEngine(name: string): EngineProgram | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (folder && isExecutable(path)) return { path, env: {}, root: '' };
  }
  const path = join(UNPACKED, 'usr/bin', name);
  if (!isExecutable(path)) return null;
  const libraries = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'usr/lib', 'lib']
    .map((folder) => join(UNPACKED, folder))
    .filter((folder) => existsSync(folder));
  return {
    path,
    env: {
      LD_LIBRARY_PATH: libraries.join(':'),
      ESPEAK_DATA_PATH: join(UNPACKED, 'usr/lib/x86_64-linux-gnu'),
    },
    root: UNPACKED,
  };
}

/** A data file of a Debian package, installed or unpacked; null when missing. */
export function findEngineData(absolutePath: string): string | null {
  if (existsSync(absolutePath)) return absolutePath;
  const unpacked = join(UNPACKED, absolutePath);
  return existsSync(unpacked) ? unpacked : null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
