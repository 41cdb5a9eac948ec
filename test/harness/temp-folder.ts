import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder that goes with this process. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  folders.push(folder);
  return folder;
}
