import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Reports of hung slots that are kept; the oldest goes first. */
export const MAX_REPORTS = 20;

/** Removes the oldest diagnostic reports beyond {@link MAX_REPORTS}. */
export async function pruneReports(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('report.'));
  if (names.length <= MAX_REPORTS) return;
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  dated.sort((a, b) => b.at - a.at);
  for (const { name } of dated.slice(MAX_REPORTS)) await rm(join(folder, name), { force: true });
}
