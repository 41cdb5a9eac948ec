import { realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';

/**
 * The file of a recording key; null where there is none. Results are taken unsigned, so the key in them may be anyone's:
 * what leads out of the folder, by dots or by a link, is no recording. The folder itself may be a link to another disk.
 */
export async function recordingFile(folder: string, key: string): Promise<string | null> {
  if (key.includes('\0') || key.includes('\\')) return null;
  try {
    const root = await realpath(folder);
    const path = await realpath(resolve(root, key));
    return path.startsWith(root + sep) ? path : null;
  } catch {
    return null;
  }
}
