import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  JOURNAL_FILE,
  type JournalCall,
  OWNER_FILE,
  RESULT_FILE,
  type SpoolOwner,
} from '../../contracts/spool.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { parseJournal } from '../outbox/journal.ts';

/** The `call` line is the first of its journal; a config never makes it longer than this. */
const JOURNAL_HEAD_BYTES = 65_536;

/** What a spool folder says about itself before anything of it is taken in. */
export type FolderFacts =
  | { kind: 'owned'; owner: SpoolOwner; ownerTouchedAtMs: number }
  /** No readable owner file. `finished` where a result lies there all the same. */
  | { kind: 'ownerless'; finished: boolean; ageMs: number }
  | { kind: 'foreign'; version: unknown };

/** Reads who writes a folder. Null when the folder is gone or is no folder. */
export async function readFolderFacts(folder: string): Promise<FolderFacts | null> {
  const own = await statOrNull(folder);
  if (!own?.isDirectory()) return null;
  const ownerPath = join(folder, OWNER_FILE);
  const touched = await statOrNull(ownerPath);
  const owner = touched ? parseOwner(await readFile(ownerPath, 'utf8').catch(() => '')) : null;
  if (!owner || !touched) {
    const finished = (await statOrNull(join(folder, RESULT_FILE))) !== null;
    return { kind: 'ownerless', finished, ageMs: Date.now() - own.mtimeMs };
  }
  if (owner.v !== SPOOL_VERSION) return { kind: 'foreign', version: owner.v };
  return { kind: 'owned', owner, ownerTouchedAtMs: touched.mtimeMs };
}

/** When a slot last touched its owner file, in wall-clock ms; null when the file is gone. */
export async function ownerTouchedAtMs(folder: string): Promise<number | null> {
  return (await statOrNull(join(folder, OWNER_FILE)))?.mtimeMs ?? null;
}

/** The `call` line of a journal that is still being written; null before the session exists. */
export async function readJournalCall(folder: string): Promise<JournalCall | null> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(join(folder, JOURNAL_FILE), 'r');
  } catch {
    return null;
  }
  try {
    const head = Buffer.alloc(JOURNAL_HEAD_BYTES);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    return parseJournal(head.subarray(0, bytesRead)).call;
  } finally {
    await handle.close();
  }
}

function parseOwner(text: string): SpoolOwner | null {
  try {
    const value = JSON.parse(text) as Partial<SpoolOwner> | null;
    if (typeof value !== 'object' || value === null) return null;
    if (value.v !== SPOOL_VERSION) return value as SpoolOwner;
    const whole =
      typeof value.pid === 'number' &&
      typeof value.startTicks === 'number' &&
      typeof value.bootId === 'string';
    return whole ? (value as SpoolOwner) : null;
  } catch {
    return null;
  }
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch {
    return null;
  }
}
