import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import {
  KEY_FILE,
  MAX_SEALING_KEYS,
  newKey,
  readKeyFile,
  type SealingKey,
  writeKeyFile,
} from './key-file.ts';

/**
 * Seals what the store must not show, with AES-256-GCM and the key file of the data folder. A sealed text is
 * `s1.<key id>.<base64url of nonce, ciphertext, tag>`; its head is authenticated with it.
 */
export interface SecretBox {
  seal(plain: string): string;
  /** Throws `internal` where the text was changed or its key is gone. */
  open(sealed: string): string;
}

/** The box with what changing its key needs; see `rotate-key.ts`. */
export interface KeyedSecretBox extends SecretBox {
  /** Keys that open, the newest, which seals, first. */
  keyIds(): readonly string[];
  /** Writes a new key into the file and seals with it from then on. Throws `conflict` where too many still wait. */
  addKey(): Promise<string>;
  /** Takes all keys but the newest out of the file. This process can still open with them. */
  dropOldKeys(): Promise<void>;
}

/** NIST SP 800-38D, 8.2: 96 bits, and 128 bits of tag. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^s1\.(k[0-9a-f]{8})\.([A-Za-z0-9_-]{38,})$/;

const CHECK_TABLE = 'secret-box';
const CHECK_KEY = 'check';
const CHECK_TEXT = 'this store and this key file belong together';

/**
 * Opens the key file in `folder`; a store that has never sealed anything gets a new one. Throws `bad_setting` where the
 * file is missing, open to others, or not the one that belongs to the store.
 */
export async function openSecretBox(
  folder: string,
  store: KeyValueStore,
  nowIso: () => string,
): Promise<KeyedSecretBox> {
  const path = join(folder, KEY_FILE);
  const check: Table<{ sealed: string }> = store.table(CHECK_TABLE);
  const checked = check.get(CHECK_KEY);
  let keys = await readKeyFile(path);
  if (keys === null) {
    if (checked) {
      throw wrongFile(
        path,
        'is missing, and secrets in the store were sealed with it; restore it from the backup',
      );
    }
    keys = [newKey(nowIso())];
    await writeKeyFile(path, keys);
  }
  const box = new FileSecretBox(path, keys, nowIso);
  if (checked && !box.opens(checked.sealed)) {
    throw wrongFile(
      path,
      'is not the one that sealed the secrets in the store; restore both from one backup',
    );
  }
  if (!checked) await check.put(CHECK_KEY, { sealed: box.seal(CHECK_TEXT) });
  return box;
}

/** The table in which the box keeps its own sealed text; it is sealed anew with the others. */
export const BOX_TABLE = CHECK_TABLE;

/** Id of the key that sealed the text; null for a text that is none of ours. */
export function sealedWith(text: string): string | null {
  return SEALED.exec(text)?.[1] ?? null;
}

class FileSecretBox implements KeyedSecretBox {
  private readonly path: string;
  private readonly nowIso: () => string;
  private inFile: readonly SealingKey[];
  private readonly known: Map<string, Buffer>;
  /** Two changes of the file, one after another. */
  private writing: Promise<unknown> = Promise.resolve();

  constructor(path: string, keys: readonly SealingKey[], nowIso: () => string) {
    this.path = path;
    this.nowIso = nowIso;
    this.inFile = keys;
    this.known = new Map(keys.map(({ id, key }) => [id, key]));
  }

  seal(plain: string): string {
    const { id, key } = this.newest();
    const head = `s1.${id}`;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(head));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${head}.${sealed.toString('base64url')}`;
  }

  open(sealed: string): string {
    const [, id = '', body = ''] = SEALED.exec(sealed) ?? [];
    const key = this.known.get(id);
    if (!key) throw new AppError('internal', 'a secret in the store was sealed with a key that is gone');
    const bytes = Buffer.from(body, 'base64url');
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(`s1.${id}`));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new AppError('internal', 'a secret in the store was changed after it was sealed', { cause });
    }
  }

  opens(sealed: string): boolean {
    try {
      return this.open(sealed) === CHECK_TEXT;
    } catch {
      return false;
    }
  }

  keyIds(): readonly string[] {
    return this.inFile.map(({ id }) => id);
  }

  addKey(): Promise<string> {
    return this.oneByOne(async () => {
      if (this.inFile.length >= MAX_SEALING_KEYS) {
        throw new AppError('conflict', 'earlier keys are still in use; start the control plane again first');
      }
      const key = newKey(this.nowIso());
      const keys = [key, ...this.inFile];
      // In the file before anything is sealed with it.
      await writeKeyFile(this.path, keys);
      this.known.set(key.id, key.key);
      this.inFile = keys;
      return key.id;
    });
  }

  dropOldKeys(): Promise<void> {
    return this.oneByOne(async () => {
      const keys = [this.newest()];
      await writeKeyFile(this.path, keys);
      this.inFile = keys;
    });
  }

  private newest(): SealingKey {
    const [newest] = this.inFile;
    if (!newest) throw new AppError('internal', 'the key file holds no key');
    return newest;
  }

  private oneByOne<T>(action: () => Promise<T>): Promise<T> {
    const result = this.writing.then(action);
    this.writing = result.catch(() => undefined);
    return result;
  }
}

function wrongFile(path: string, what: string): AppError {
  return new AppError('bad_setting', `DATA_DIR: the key file ${path} ${what}`, {
    details: { setting: 'DATA_DIR' },
  });
}
