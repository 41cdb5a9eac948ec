import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, wherever this file was compiled to. */
function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json of trunkline not found above the code');
    folder = parent;
  }
  return folder;
}

export const projectRoot = findRoot();

/** An absolute path inside the installation. */
export function projectPath(relative: string): string {
  return join(projectRoot, relative);
}
