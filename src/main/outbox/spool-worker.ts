import { AppError } from '../../platform/app-error.ts';
import type { SalvageCause } from './salvage.ts';
import { readNow, type SpoolReading } from './spool-reader.ts';

/** Worker thread entry: reads one large folder away from main's loop. */
export default async function readLargeFolder(task: {
  folder: string;
  cause: SalvageCause;
}): Promise<{ reading: SpoolReading | null } | { unknownVersion: string }> {
  try {
    return { reading: await readNow(task.folder, task.cause) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'unknown_version') {
      return { unknownVersion: error.message };
    }
    throw error;
  }
}
