import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Piscina } from 'piscina';
import { JOURNAL_FILE, RESULT_FILE, type SpoolResult } from '../../contracts/spool.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { AppError } from '../../platform/app-error.ts';
import type { LinkSigner } from '../../platform/recording-link.ts';
import { recordingLink } from './recording-links.ts';
import { type SalvageCause, salvageFolder } from './salvage.ts';

/** Folders up to this size are read on main's own loop: parsing stays under 3 ms. Larger ones go to a worker thread. */
const INLINE_BYTES = 262_144;
/** An unused worker thread costs 9 MB (D-14), so it does not stay. */
const WORKER_IDLE_MS = 5_000;

/** What the outbox needs of a finished call. The payload stays text: it is delivered as it was written. */
export interface SpoolReading {
  webhookUrl: string;
  sessionId: string;
  recordingKey: string | null;
  body: string;
  salvaged: boolean;
}

let workers: Piscina | undefined;

/**
 * Reads a call's folder, after salvaging it where it has no result. Null where no session existed. Throws
 * `unknown_version` for a folder of another version, which then must be left alone.
 */
export async function readSpoolFolder(
  folder: string,
  cause: SalvageCause,
  links: LinkSigner | null = null,
): Promise<SpoolReading | null> {
  const sizes = await Promise.all([RESULT_FILE, JOURNAL_FILE].map((name) => sizeOf(join(folder, name))));
  if (Math.max(...sizes) <= INLINE_BYTES) return readNow({ folder, cause, links });
  workers ??= new Piscina({
    filename: new URL(
      import.meta.url.endsWith('.ts') ? './spool-worker.ts' : './spool-worker.js',
      import.meta.url,
    ).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: WORKER_IDLE_MS,
  });
  const answer = (await workers.run({ folder, cause, links } satisfies ReadTask)) as
    | { reading: SpoolReading | null }
    | { unknownVersion: string };
  // An error class does not survive the way between threads; the code does.
  if ('unknownVersion' in answer) throw new AppError('unknown_version', answer.unknownVersion);
  return answer.reading;
}

export interface ReadTask {
  folder: string;
  cause: SalvageCause;
  /** Signs the `recording_url` of a call whose own control plane cannot give the recording out; null for nobody. */
  links: LinkSigner | null;
}

/** The same, in this thread. */
export async function readNow({ folder, cause, links }: ReadTask): Promise<SpoolReading | null> {
  const found = await readResult(folder);
  if (found) return reading(found, links, false);
  if (!(await salvageFolder(folder, cause))) return null;
  const salvaged = await readResult(folder);
  if (!salvaged) throw new AppError('internal', 'a salvaged folder has no result; look at the disk');
  return reading(salvaged, links, true);
}

/** `result.json`, or null where there is none that can be read: then the journal is the truth. */
async function readResult(folder: string): Promise<SpoolResult | null> {
  let text: string;
  try {
    text = await readFile(join(folder, RESULT_FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  let result: SpoolResult;
  try {
    result = JSON.parse(text) as SpoolResult;
  } catch {
    return null;
  }
  if (result.v !== SPOOL_VERSION) {
    throw new AppError(
      'unknown_version',
      `the result was written in spool version ${result.v}, this program reads ${SPOOL_VERSION}; run the version that wrote it`,
    );
  }
  return typeof result.webhookUrl === 'string' && typeof result.payload === 'object' ? result : null;
}

function reading(result: SpoolResult, links: LinkSigner | null, salvaged: boolean): SpoolReading {
  const { session_id: sessionId, recording_key: recordingKey } = result.payload;
  const key = typeof recordingKey === 'string' ? recordingKey : null;
  // A call of our own control plane names the record there; what lacks a URL is ours to give out.
  const link =
    links && key !== null && !result.payload.recording_url ? recordingLink(links, key, Date.now()) : null;
  return {
    webhookUrl: result.webhookUrl,
    sessionId: typeof sessionId === 'string' ? sessionId : '',
    recordingKey: key,
    body: JSON.stringify(link === null ? result.payload : { ...result.payload, recording_url: link }),
    salvaged,
  };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
