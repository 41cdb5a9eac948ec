import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { AppError } from '../../platform/app-error.ts';
import { syncFolder } from '../../platform/durable-files.ts';

/**
 * Moves a recording to its place under the recordings folder, durably. Returns false where neither the source nor an
 * earlier move of it exists. Safe to repeat after a crash at any point.
 */
export async function storeRecording(
  source: string,
  recordingsFolder: string,
  key: string,
): Promise<boolean> {
  const target = recordingPath(recordingsFolder, key);
  if (!(await exists(source))) return exists(target);
  await makeFolders(recordingsFolder, dirname(target));
  try {
    await rename(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyAcross(source, target);
  }
  await syncFolder(dirname(target));
  await syncFolder(dirname(source));
  return true;
}

/** The file of a key. Throws `validation_error` for a key that leads out of the folder. */
export function recordingPath(recordingsFolder: string, key: string): string {
  const root = resolve(recordingsFolder);
  const path = resolve(root, key);
  if (key === '' || key.includes('\0') || key.includes('\\') || !path.startsWith(root + sep)) {
    throw new AppError('validation_error', 'the recording key of a call leads out of the recordings folder');
  }
  return path;
}

/** Creates what is missing between root and folder, and makes each new name durable. */
async function makeFolders(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let at = folder; at.length > root.length; at = dirname(at)) await syncFolder(dirname(at));
}

/** The recordings may lie on a disk of their own; then a rename is impossible and the copy must be whole first. */
async function copyAcross(source: string, target: string): Promise<void> {
  const beside = `${target}.part`;
  await copyFile(source, beside);
  const handle = await open(beside, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, target);
  await syncFolder(dirname(target));
  await rm(source, { force: true });
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
