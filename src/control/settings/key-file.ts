import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, describeError } from '../../platform/app-error.ts';
import { syncFolder, writeFileDurably } from '../../platform/durable-files.ts';

/** A key of AES-256. The first in the file seals; the others still open what they have sealed. */
export interface SealingKey {
  id: string;
  key: Buffer;
  createdAt: string;
}

/** Beside the store, so that one backup holds both. */
export const KEY_FILE = 'secrets.key';
/** More keys than this mean that rotations were started and the plane never again. */
export const MAX_SEALING_KEYS = 8;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const FILE_VERSION = 1;
/** Anything beyond reading and writing by the owner lets others open every secret. */
const ALLOWED_MODES = [0o600, 0o400];

/**
 * The keys of the file, or null where there is none. Throws `bad_setting` with a sentence where the file is open to
 * others, belongs to somebody else, is a link, or cannot be read as what it should be.
 */
export async function readKeyFile(path: string): Promise<SealingKey[] | null> {
  let text: string;
  try {
    // A link could lead to a file that others may write.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { mode, uid } = await handle.stat();
      checkAccess(path, mode, uid);
      text = await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    const what = code === 'ELOOP' ? 'it is a link; put the file itself there' : describeError(cause);
    throw badFile(path, `cannot be read (${what})`, cause);
  }
  return parse(path, text);
}

/** Replaces the file whole; durable when it resolves. */
export async function writeKeyFile(path: string, keys: readonly SealingKey[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const rows = keys.map(({ id, key, createdAt }) => ({
    id,
    key: key.toString('base64'),
    created_at: createdAt,
  }));
  await writeFileDurably(path, `${JSON.stringify({ v: FILE_VERSION, keys: rows }, null, 2)}\n`);
  await syncFolder(dirname(path));
}

export function newKey(createdAt: string): SealingKey {
  return { id: `k${randomBytes(ID_BYTES).toString('hex')}`, key: randomBytes(KEY_BYTES), createdAt };
}

function checkAccess(path: string, mode: number, uid: number): void {
  const bits = mode & 0o7777;
  if (!ALLOWED_MODES.includes(bits)) {
    const octal = bits.toString(8).padStart(4, '0');
    throw badFile(path, `has mode ${octal}, so others may use it; run "chmod 600" on it`);
  }
  const own = process.geteuid?.();
  if (own !== undefined && uid !== own) {
    throw badFile(path, 'belongs to another user; run "chown" to give it to the user of the service');
  }
}

function parse(path: string, text: string): SealingKey[] {
  let file: { v?: unknown; keys?: unknown };
  try {
    file = JSON.parse(text);
  } catch (cause) {
    throw badFile(path, 'is damaged; restore it from the backup', cause);
  }
  if (file?.v !== FILE_VERSION) {
    throw badFile(path, 'was written by another version; start the product version that wrote it');
  }
  const rows = Array.isArray(file.keys) ? file.keys : [];
  const keys = rows.map((row: Record<string, unknown> | null) => ({
    id: String(row?.id ?? ''),
    key: Buffer.from(String(row?.key ?? ''), 'base64'),
    createdAt: String(row?.created_at ?? ''),
  }));
  const sound = keys.every(({ id, key }) => /^k[0-9a-f]{8}$/.test(id) && key.length === KEY_BYTES);
  if (keys.length === 0 || keys.length > MAX_SEALING_KEYS || !sound) {
    throw badFile(path, 'is damaged; restore it from the backup');
  }
  return keys;
}

function badFile(path: string, what: string, cause?: unknown): AppError {
  return new AppError('bad_setting', `DATA_DIR: the key file ${path} ${what}`, {
    cause,
    details: { setting: 'DATA_DIR' },
  });
}
