import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './run-command.mjs';

/**
 * A stamp says which inputs a step last succeeded with. It is compared by content, so that a checkout that touches
 * every file's date does not repeat every step.
 */
const STAMPS = join(PROJECT, '.cache/setup');

export function isCurrent(step, fingerprint) {
  try {
    return readFileSync(join(STAMPS, step), 'utf8') === fingerprint;
  } catch {
    return false;
  }
}

export function writeStamp(step, fingerprint) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(join(STAMPS, step), fingerprint);
}

/** One hash over names and contents; a folder stands for the files in it, `wanted` chooses by name. */
export function fingerprint(paths, wanted = () => true) {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const file of filesIn(path)) {
      if (!wanted(file)) continue;
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(PROJECT, file)))
        .update('\0');
    }
  }
  return hash.digest('hex');
}

/** Project-relative files under a project-relative path, sorted; build output is left out. */
export function filesIn(path) {
  const full = join(PROJECT, path);
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full, { withFileTypes: true })
    .filter((entry) => !(entry.isDirectory() && /^(build|build-.*|node_modules)$/.test(entry.name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(path, entry.name)) : [join(path, entry.name)]));
}
