import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from '../../src/platform/project-paths.ts';

/** Folders that hold what others made or what a build or a run makes. */
const FOREIGN = /^(node_modules|dist|\.git|\.cache|\.tap|data|bench\/results|native\/build(-[^/]*)?)$/;

/** Project-relative paths of the files of this project that end in one of `endings`, sorted. */
export function projectFiles(endings: readonly string[], below = '.'): string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && FOREIGN.test(relative(projectRoot, path))) continue;
      if (entry.isDirectory()) walk(path);
      else if (endings.some((ending) => entry.name.endsWith(ending))) found.push(relative(projectRoot, path));
    }
  };
  walk(join(projectRoot, below));
  return found.sort();
}

export function readProjectFile(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}
