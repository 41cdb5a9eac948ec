import { type Database, open, type RootDatabase } from 'lmdb';
import { OLDEST_STORE_VERSION, STORE_VERSION } from '../contracts/versions.ts';
import { AppError, describeError } from './app-error.ts';
import { isoNow } from './clock.ts';
import { claimFolder, type FolderOwner } from './key-value-store/folder-owner.ts';
import { PRODUCT_VERSION } from './version.ts';

/**
 * The durable store of main: LMDB with one named table per concern and JSON values. Reads see what is on disk; a write
 * counts as done only when its promise resolves, and then it survives the death of the process.
 *
 * Writes that are asked for in the same turn of the event loop share one commit. The commit runs on the calling thread
 * (about 0.3 ms, most of it the flush): lmdb's own asynchronous queue leaves callback transactions hanging after a
 * synchronous one, and after a failed commit it raises a rejection that nobody can catch, which would end main on a
 * full disk.
 */
export interface KeyValueStore {
  readonly folder: string;
  /** The version of the data; below `STORE_VERSION` until the migrations have run. */
  version(): number;
  /** Writes the version down; for the migrations only. */
  setVersion(version: number): Promise<void>;
  /** The named table, created when it is new. */
  table<V>(name: string): Table<V>;
  /**
   * Runs `action` on a consistent view and commits what it wrote, all or nothing. Resolves with its result once that is
   * on disk. Rejects with what `action` threw (nothing is written then), or with `store_unavailable`.
   */
  transaction<T>(action: (writes: Transaction) => T): Promise<T>;
  /** Resolves when a small write has reached the disk; rejects with `store_unavailable`. */
  probe(): Promise<void>;
  /** Finishes what is queued and lets go of the folder. Idempotent. */
  close(): Promise<void>;
}

/** Strings and numbers sort as expected, arrays part by part; numbers come before strings. */
export type StoreKey = string | number | readonly (string | number)[];

export interface Table<V> {
  readonly name: string;
  get(key: StoreKey): V | undefined;
  /** The value as the JSON that is stored, for those who only pass it on. */
  text(key: StoreKey): string | undefined;
  /** Resolves once it is on disk. */
  put(key: StoreKey, value: V): Promise<void>;
  /** Resolves with whether there was one, once its absence is on disk. */
  remove(key: StoreKey): Promise<boolean>;
  /** At most `limit` entries in key order. */
  range(options: RangeOptions): { key: StoreKey; value: V }[];
  keys(options: RangeOptions): StoreKey[];
  count(): number;
}

export interface RangeOptions {
  limit: number;
  /** First key, included. With `reverse` the highest. */
  start?: StoreKey;
  /** Leaves `start` itself out. */
  exclusiveStart?: boolean;
  /** Where to stop, left out. With `reverse` the lowest. */
  end?: StoreKey;
  reverse?: boolean;
}

/** Reads inside a transaction see its own writes through `get`; ranges see the state before it. */
export interface Transaction {
  get<V>(table: Table<V>, key: StoreKey): V | undefined;
  put<V>(table: Table<V>, key: StoreKey, value: V): void;
  remove<V>(table: Table<V>, key: StoreKey): void;
}

/** Actions in one commit; the rest follows in the next turn, so that other work gets its turn. */
const MAX_ACTIONS_PER_COMMIT = 256;
/** Actions that wait for a commit; beyond it writers are refused with `store_unavailable`. */
const MAX_QUEUED_ACTIONS = 10_000;
/** LMDB takes 1978 bytes of key; every key of this product is far below. */
const MAX_KEY_BYTES = 1_500;
const MAX_TABLES = 128;

const META_TABLE = 'meta';
const VERSION_KEY = 'version';

/**
 * Opens, or creates, the store in `folder`. Throws `store_unavailable` when another process has it or the disk refuses,
 * and `unknown_version` when another version of the product wrote it. `migrates` lets an older version pass: who says so
 * runs the migrations (`control/migrations.ts`) before anything else reads.
 */
export function openKeyValueStore(folder: string, options: { migrates?: boolean } = {}): KeyValueStore {
  const owner = claimFolder(folder);
  let root: RootDatabase<string> | undefined;
  try {
    root = open({
      path: folder,
      noSubdir: false,
      // With overlapping sync, records that were acknowledged went missing after SIGKILL (D-15).
      overlappingSync: false,
      encoding: 'string',
      maxDbs: MAX_TABLES,
    });
    const store = new LmdbStore(folder, root, owner);
    checkVersion(store, root, options.migrates === true);
    return store;
  } catch (error) {
    // Nothing is queued yet, so this closes at once.
    void root?.close();
    owner.release();
    throw error instanceof AppError ? error : unavailable(error);
  }
}

class LmdbStore implements KeyValueStore {
  readonly folder: string;
  private readonly root: RootDatabase<string>;
  private readonly owner: FolderOwner;
  private readonly tables = new Map<string, LmdbTable<unknown>>();
  private queue: QueuedAction[] = [];
  private scheduled = false;
  private closing: Promise<void> | null = null;
  private closed = false;

  constructor(folder: string, root: RootDatabase<string>, owner: FolderOwner) {
    this.folder = folder;
    this.root = root;
    this.owner = owner;
  }

  version(): number {
    return this.table<VersionRecord>(META_TABLE).get(VERSION_KEY)?.store ?? STORE_VERSION;
  }

  async setVersion(version: number): Promise<void> {
    const meta = this.table<VersionRecord>(META_TABLE);
    await this.transaction((writes) => {
      const record = writes.get(meta, VERSION_KEY);
      if (record) writes.put(meta, VERSION_KEY, { ...record, store: version });
    });
  }

  table<V>(name: string): Table<V> {
    const known = this.tables.get(name);
    if (known) return known as unknown as Table<V>;
    const table = new LmdbTable<V>(
      this,
      name,
      this.root.openDB<string, StoreKey & string>(name, { encoding: 'string' }),
    );
    this.tables.set(name, table as unknown as LmdbTable<unknown>);
    return table;
  }

  transaction<T>(action: (writes: Transaction) => T): Promise<T> {
    if (this.closing) return Promise.reject(closed());
    if (this.queue.length >= MAX_QUEUED_ACTIONS) {
      return Promise.reject(
        new AppError('store_unavailable', `${MAX_QUEUED_ACTIONS} writes wait for the disk; try again later`),
      );
    }
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ action, resolve: resolve as (value: unknown) => void, reject });
      this.schedule();
    });
  }

  /** Throws `store_unavailable` once the store has let go of its files. */
  checkOpen(): void {
    if (this.closed) throw closed();
  }

  async probe(): Promise<void> {
    await this.table<string>(META_TABLE).put('probe', isoNow());
  }

  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    while (this.queue.length > 0) this.commit();
    // LMDB itself does not survive a read after its close.
    this.closed = true;
    await this.root.close();
    this.owner.release();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.queue.length > 0) this.commit();
      if (this.queue.length > 0) this.schedule();
    });
  }

  /** One LMDB transaction for all that waited. An action that throws leaves the others of its commit alone. */
  private commit(): void {
    const taken = this.queue.splice(0, MAX_ACTIONS_PER_COMMIT);
    const done: (() => void)[] = [];
    try {
      this.root.transactionSync(() => {
        for (const { action, resolve, reject } of taken) {
          const writes = new PendingWrites();
          try {
            const result = action(writes);
            writes.apply();
            done.push(() => resolve(result));
          } catch (error) {
            if (writes.applying) throw error;
            done.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      const refusal = unavailable(error);
      for (const { reject } of taken) reject(refusal);
      return;
    }
    for (const settle of done) settle();
  }
}

interface QueuedAction {
  action: (writes: Transaction) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

class LmdbTable<V> implements Table<V> {
  readonly name: string;
  readonly database: Database<string, StoreKey & string>;
  private readonly store: LmdbStore;

  constructor(store: LmdbStore, name: string, database: Database<string, StoreKey & string>) {
    this.store = store;
    this.name = name;
    this.database = database;
  }

  get(key: StoreKey): V | undefined {
    const text = this.text(key);
    return text === undefined ? undefined : (JSON.parse(text) as V);
  }

  text(key: StoreKey): string | undefined {
    this.store.checkOpen();
    checkKey(key);
    return this.database.get(key as never);
  }

  async put(key: StoreKey, value: V): Promise<void> {
    await this.store.transaction((writes) => writes.put(this, key, value));
  }

  remove(key: StoreKey): Promise<boolean> {
    return this.store.transaction((writes) => {
      const had = writes.get(this, key) !== undefined;
      if (had) writes.remove(this, key);
      return had;
    });
  }

  range(options: RangeOptions): { key: StoreKey; value: V }[] {
    this.store.checkOpen();
    const found: { key: StoreKey; value: V }[] = [];
    for (const { key, value } of this.database.getRange(options as never)) {
      found.push({ key, value: JSON.parse(value) as V });
    }
    return found;
  }

  keys(options: RangeOptions): StoreKey[] {
    this.store.checkOpen();
    return [...this.database.getKeys(options as never)];
  }

  count(): number {
    this.store.checkOpen();
    return (this.database.getStats() as { entryCount: number }).entryCount;
  }
}

/** Collects what an action writes, so that one that throws half-way leaves nothing behind. */
class PendingWrites implements Transaction {
  applying = false;
  private readonly writes = new Map<
    string,
    { table: LmdbTable<unknown>; key: StoreKey; text: string | null }
  >();

  get<V>(table: Table<V>, key: StoreKey): V | undefined {
    const pending = this.writes.get(writeId(table.name, key));
    if (!pending) return table.get(key);
    return pending.text === null ? undefined : (JSON.parse(pending.text) as V);
  }

  put<V>(table: Table<V>, key: StoreKey, value: V): void {
    checkKey(key);
    const text = JSON.stringify(value);
    if (text === undefined) throw new AppError('internal', `the value for ${table.name} has no JSON form`);
    this.write(table, key, text);
  }

  remove<V>(table: Table<V>, key: StoreKey): void {
    checkKey(key);
    this.write(table, key, null);
  }

  apply(): void {
    this.applying = true;
    for (const { table, key, text } of this.writes.values()) {
      if (text === null) table.database.removeSync(key as never);
      else table.database.putSync(key as never, text);
    }
  }

  private write<V>(table: Table<V>, key: StoreKey, text: string | null): void {
    this.writes.set(writeId(table.name, key), { table: table as unknown as LmdbTable<unknown>, key, text });
  }
}

function writeId(table: string, key: StoreKey): string {
  return JSON.stringify([table, key]);
}

function checkKey(key: StoreKey): void {
  const bytes = typeof key === 'number' ? 8 : Buffer.byteLength(typeof key === 'string' ? key : key.join(''));
  if (bytes > MAX_KEY_BYTES) {
    throw new AppError('internal', `a store key has ${bytes} bytes; ${MAX_KEY_BYTES} are allowed`);
  }
}

function closed(): AppError {
  return new AppError('store_unavailable', 'the store is closed');
}

interface VersionRecord {
  store: number;
  created_by: string;
  created_at: string;
}

/** A store without any table was created by a process that died right then, or just now: it becomes ours. */
function checkVersion(store: LmdbStore, root: RootDatabase<string>, migrates: boolean): void {
  const fresh = [...root.getKeys({ limit: 1 })].length === 0;
  const meta = store.table<VersionRecord>(META_TABLE) as LmdbTable<VersionRecord>;
  const record = meta.get(VERSION_KEY);
  if (record?.store === STORE_VERSION) return;
  if (
    migrates &&
    record !== undefined &&
    record.store >= OLDEST_STORE_VERSION &&
    record.store < STORE_VERSION
  ) {
    return;
  }
  if (record === undefined && (fresh || meta.count() === 0)) {
    const created: VersionRecord = {
      store: STORE_VERSION,
      created_by: PRODUCT_VERSION,
      created_at: isoNow(),
    };
    root.transactionSync(() => meta.database.putSync(VERSION_KEY as never, JSON.stringify(created)));
    return;
  }
  throw new AppError(
    'unknown_version',
    `the store at ${store.folder} has version ${record?.store ?? 'none'}, this product reads version ${STORE_VERSION}; start the product version that wrote it, or restore a backup`,
  );
}

const NO_SPACE = 28;
const MAP_FULL = -30_792;

function unavailable(error: unknown): AppError {
  const code = (error as { code?: unknown } | null)?.code;
  const full = code === NO_SPACE || code === MAP_FULL || /no space|MAP_FULL/i.test(describeError(error));
  const sentence = full
    ? 'the disk of DATA_DIR is full; free some space and try again'
    : `the store cannot be written (${describeError(error)}); check the disk of DATA_DIR`;
  return new AppError('store_unavailable', sentence, { cause: error });
}
