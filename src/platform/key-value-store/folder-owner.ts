import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../app-error.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../process-identity.ts';

/** Holds a folder for one process until it is released. */
export interface FolderOwner {
  release(): void;
}

/**
 * Claims `folder` for this process (D-6: one opener). Throws `store_unavailable` with a sentence when another
 * live process, or this one a second time, has it.
 *
 * The whole identity stands in the name of the mark, so a mark is never reused and a dead one can be removed by anyone.
 * Each claimant writes its own mark before it looks for others: of two that start together both may be refused, but
 * never are both let in.
 */
export function claimFolder(folder: string): FolderOwner {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = markName(ownIdentity());
  const path = join(folder, own);
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotClaim(folder, cause);
    throw new AppError('store_unavailable', `this process already has the store at ${folder} open`);
  }
  for (const name of readdirSync(folder)) {
    const other = parseMark(name);
    if (!other || name === own) continue;
    if (isAlive(other)) {
      rmSync(path, { force: true });
      throw new AppError(
        'store_unavailable',
        `the store at ${folder} is in use by process ${other.pid}; stop that one first or choose another DATA_DIR`,
        { details: { pid: other.pid } },
      );
    }
    rmSync(join(folder, name), { force: true });
  }
  return { release: () => rmSync(path, { force: true }) };
}

function markName(identity: ProcessIdentity): string {
  return `owner.${identity.pid}.${identity.startTicks}.${identity.bootId}`;
}

function parseMark(name: string): ProcessIdentity | null {
  const match = /^owner\.(\d+)\.(\d+)\.([0-9a-f-]+)$/.exec(name);
  if (!match) return null;
  return { pid: Number(match[1]), startTicks: Number(match[2]), bootId: match[3] ?? '' };
}

function cannotClaim(folder: string, cause: unknown): AppError {
  return new AppError(
    'store_unavailable',
    `the store folder ${folder} cannot be written; check its owner and the disk`,
    {
      cause,
    },
  );
}
