import { writeFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  JOURNAL_FILE,
  type JournalLine,
  OWNER_FILE,
  RECORDING_FILE,
  RESULT_FILE,
  type SpoolOwner,
  type SpoolResult,
} from '../../contracts/spool.ts';
import { syncFolder, writeFileDurably } from '../../platform/durable-files.ts';

/**
 * One call's folder in the spool, as its slot writes it (contracts/spool.ts). The journal is appended as things
 * happen and synced per turn; a reserve of disk space is kept back so that a disk filled by anything else still takes
 * the journal's end and the result.
 */
const RESERVE_FILE = 'reserve.bin';
const RESERVE_BYTES = 262_144;

export class SpoolFolder {
  readonly path: string;
  private journal: FileHandle | undefined;
  private appends: Promise<void> = Promise.resolve();
  private hasReserve = false;
  private owner: SpoolOwner;

  private constructor(path: string, owner: SpoolOwner) {
    this.path = path;
    this.owner = owner;
  }

  /** Makes the folder and names its owner, before anything else of the call happens. */
  static async create(spoolRoot: string, owner: SpoolOwner): Promise<SpoolFolder> {
    const folder = new SpoolFolder(join(spoolRoot, owner.callId), owner);
    await mkdir(folder.path, { mode: 0o700, recursive: true });
    writeFileSync(join(folder.path, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
    return folder;
  }

  /** A call on a socket is brought into a room: whoever finds its slot dead closes it (D-10). */
  async nameRoom(room: string): Promise<void> {
    this.owner = { ...this.owner, room };
    await writeFileDurably(join(this.path, OWNER_FILE), JSON.stringify(this.owner));
  }

  get recordingPath(): string {
    return join(this.path, RECORDING_FILE);
  }

  /** Opens the journal once a session exists. */
  async begin(first: JournalLine): Promise<void> {
    this.journal = await open(join(this.path, JOURNAL_FILE), 'a', 0o600);
    await this.takeReserve();
    this.append(first);
    await this.sync();
    await syncFolder(this.path);
    await syncFolder(dirname(this.path));
  }

  /** Appends one line; order is kept, nothing waits. */
  append(line: JournalLine): void {
    this.queue(async (journal) => {
      await journal.appendFile(`${JSON.stringify(line)}\n`);
    });
  }

  /** Resolves when every line so far is on disk. */
  sync(): Promise<void> {
    this.queue((journal) => journal.datasync());
    return this.appends;
  }

  /** Tells main that this call's process still lives, where no channel to it exists any more. */
  touch(): void {
    const now = new Date();
    utimes(join(this.path, OWNER_FILE), now, now).catch(() => undefined);
  }

  /** The finished result, on disk when this resolves. */
  async finish(result: SpoolResult): Promise<void> {
    await this.sync();
    await this.dropReserve();
    await writeFileDurably(join(this.path, RESULT_FILE), JSON.stringify(result));
    await this.journal?.close().catch(() => undefined);
    this.journal = undefined;
  }

  /** Nothing worth keeping: no session existed. */
  async discard(): Promise<void> {
    await this.journal?.close().catch(() => undefined);
    await rm(this.path, { recursive: true, force: true });
  }

  private queue(write: (journal: FileHandle) => Promise<void>): void {
    this.appends = this.appends.then(async () => {
      if (!this.journal) return;
      try {
        await write(this.journal);
      } catch {
        // The disk is full: the reserve makes room for the little that a journal still needs. A second failure loses
        // the line for a crash only; the result is built from memory.
        await this.dropReserve();
        // A torn line may stand before it; a line break keeps the next one readable.
        await this.journal.appendFile('\n').catch(() => undefined);
        await write(this.journal).catch(() => undefined);
      }
    });
  }

  private async takeReserve(): Promise<void> {
    try {
      writeFileSync(join(this.path, RESERVE_FILE), Buffer.alloc(RESERVE_BYTES, 1), { mode: 0o600 });
      this.hasReserve = true;
    } catch {
      this.hasReserve = false;
    }
  }

  private async dropReserve(): Promise<void> {
    if (!this.hasReserve) return;
    this.hasReserve = false;
    await rm(join(this.path, RESERVE_FILE), { force: true }).catch(() => undefined);
  }
}
