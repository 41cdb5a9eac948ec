import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT } from './run-command.mjs';
import { filesIn } from './stamps.mjs';

/** A table that code reads from beside itself (src/platform/text-table.ts). */
export const isTextTable = (file) => /^src\/.*\.txt$/.test(file);

/** Puts every table beside the compiled module that reads it; the compiler leaves them behind. */
export function copyTextTables() {
  for (const file of filesIn('src').filter(isTextTable)) {
    const [from, to] = [join(PROJECT, file), join(PROJECT, 'dist', file)];
    if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
}
