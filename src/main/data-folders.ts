import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, describeError } from '../platform/app-error.ts';

/** Where main keeps what lasts (docs/operating.md, "What lies in `DATA_DIR`"). */
export interface DataFolders {
  root: string;
  store: string;
  spool: string;
  recordings: string;
  reports: string;
}

/** Creates the folders, readable by this user only: they hold what callers said. Throws `bad_setting`. */
export async function makeDataFolders(dataDir: string): Promise<DataFolders> {
  const folders: DataFolders = {
    root: dataDir,
    store: join(dataDir, 'store'),
    spool: join(dataDir, 'spool'),
    recordings: join(dataDir, 'recordings'),
    reports: join(dataDir, 'reports'),
  };
  try {
    for (const folder of Object.values(folders)) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
    }
  } catch (cause) {
    throw new AppError(
      'bad_setting',
      `DATA_DIR: ${dataDir} cannot be used (${describeError(cause)}); choose a folder that this user may write`,
      { cause },
    );
  }
  return folders;
}
