import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AppError, describeError } from '../platform/app-error.ts';

/**
 * The environment that boot settings are read from: a file of NAME=value lines, and over it what the process was
 * started with. (The option is not called `--env-file`: Node takes that one for itself wherever it stands.) Throws `bad_setting` when the file cannot be read.
 */
export function environmentWith(file: string | undefined): Record<string, string | undefined> {
  if (file === undefined) return { ...process.env };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('bad_setting', `--settings ${file}: it cannot be read (${describeError(cause)})`, {
      cause,
    });
  }
  return { ...parseEnv(text), ...process.env };
}
