import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a created, renamed or removed name in `folder` survive a crash of the process and of the kernel's cache. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces `path` whole: write beside it, sync, rename, sync the folder. A reader sees the old or the new, never half. */
export async function writeFileDurably(path: string, content: string | Uint8Array): Promise<void> {
  const beside = `${path}.tmp`;
  const handle = await open(beside, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, path);
  await syncFolder(dirname(path));
}
