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
const TRIPLETS = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];

/** The program, or null when it is installed nowhere. */
export function findEngine(name: string): EngineProgram | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    // The unpacked programs may be in PATH too; they need the environment below all the same.
    if (folder === '' || folder.startsWith(UNPACKED)) continue;
    const path = join(folder, name);
    if (isExecutable(path)) return { path, env: {}, root: '' };
  }
  const path = join(UNPACKED, 'usr/bin', name);
  if (!isExecutable(path)) return null;
  return {
    path,
    env: {
      LD_LIBRARY_PATH: libraryFolders().join(':'),
      ESPEAK_DATA_PATH: join(
        UNPACKED,
        TRIPLETS.map((name) => `usr/lib/${name}`).find(isUnpacked) ?? 'usr/lib',
      ),
    },
    root: UNPACKED,
  };
}

/** Packages that leave their libraries to the alternatives system or keep them in a folder of their own. */
const OWN_FOLDERS = ['', '/blas', '/lapack', '/pulseaudio'];

function libraryFolders(): string[] {
  const folders = TRIPLETS.flatMap((name) => [
    ...OWN_FOLDERS.map((own) => `usr/lib/${name}${own}`),
    `lib/${name}`,
  ]);
  return [...folders, 'usr/lib', 'lib'].filter(isUnpacked).map((folder) => join(UNPACKED, folder));
}

function isUnpacked(folder: string): boolean {
  return existsSync(join(UNPACKED, folder));
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
