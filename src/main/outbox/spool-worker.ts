import { AppError } from '../../platform/app-error.ts';
import { type ReadTask, readNow, type SpoolReading } from './spool-reader.ts';

/** Worker thread entry: reads one large folder away from main's loop. */
export default async function readLargeFolder(
  task: ReadTask,
): Promise<{ reading: SpoolReading | null } | { unknownVersion: string }> {
  try {
    return { reading: await readNow(task) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'unknown_version') {
      return { unknownVersion: error.message };
    }
    throw error;
  }
}
