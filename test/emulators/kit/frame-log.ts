import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import { normalisedLines } from './normalised-log.ts';

/** One thing that crossed the wire; `in` is from the client. */
export interface LogEntry {
  /** On the emulator's clock. */
  atMs: number;
  /** Sockets and requests are counted separately, each from 0; -1 where a handshake was refused. */
  connection: number;
  direction: 'in' | 'out';
  kind:
    | 'handshake'
    | 'accepted'
    | 'refused'
    | 'request'
    | 'response'
    | 'chunk'
    | 'text'
    | 'binary'
    | 'ping'
    | 'pong'
    | 'close'
    | 'fault';
  method?: string;
  path?: string;
  query?: [string, string][];
  headers?: Record<string, string>;
  status?: number;
  /** A text frame or JSON body, parsed where it parses. */
  json?: unknown;
  text?: string;
  bytes?: number;
  code?: number;
  reason?: string;
  fault?: string;
}

/** A test that runs for minutes may fill the memory with audio frames otherwise; later entries are counted only. */
const MAX_ENTRIES = 200_000;
const DEFAULT_WAIT_MS = 15_000;

/** Everything that crossed an emulator's wire, in order. Keys of the vendor never stand in it. */
export class FrameLog {
  readonly entries: LogEntry[] = [];
  dropped = 0;
  private readonly clock: ProviderClock;
  private readonly secrets: readonly string[];
  private readonly waiting = new Set<() => void>();

  constructor(clock: ProviderClock, secrets: readonly string[]) {
    this.clock = clock;
    this.secrets = secrets;
  }

  add(entry: Omit<LogEntry, 'atMs'>): void {
    if (this.entries.length >= MAX_ENTRIES) {
      this.dropped += 1;
      return;
    }
    this.entries.push({ atMs: this.clock.nowMs(), ...this.masked(entry) });
    for (const wake of [...this.waiting]) wake();
  }

  /** Entries of one direction and kind, such as every text frame of the client. */
  of(direction: LogEntry['direction'], ...kinds: LogEntry['kind'][]): LogEntry[] {
    return this.entries.filter((entry) => entry.direction === direction && kinds.includes(entry.kind));
  }

  /** JSON messages in one direction, oldest first. */
  messages(direction: LogEntry['direction'], connection?: number): Record<string, unknown>[] {
    return this.of(direction, 'text')
      .filter((entry) => connection === undefined || entry.connection === connection)
      .map((entry) => entry.json)
      .filter((json): json is Record<string, unknown> => typeof json === 'object' && json !== null);
  }

  /** The first entry that fits, past or to come. Rejects after `timeoutMs` of real time. */
  waitFor(fits: (entry: LogEntry) => boolean, timeoutMs = DEFAULT_WAIT_MS): Promise<LogEntry> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.entries.find(fits);
        if (!found) return;
        this.waiting.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(look);
        reject(
          new Error(`no such frame within ${timeoutMs} ms; seen: ${this.normalise().slice(-20).join(' | ')}`),
        );
      }, timeoutMs);
      this.waiting.add(look);
      look();
    });
  }

  /** Lines to compare with those of another client; see `normalisedLines`. */
  normalise(options: { only?: 'client' } = {}): string[] {
    return normalisedLines(this.entries, options.only);
  }

  clear(): void {
    this.entries.length = 0;
  }

  private masked<T>(value: T): T {
    if (this.secrets.length === 0) return value;
    if (typeof value === 'string') {
      let text: string = value;
      for (const secret of this.secrets) text = text.replaceAll(secret, '***');
      return text as T;
    }
    if (Array.isArray(value)) return value.map((item) => this.masked(item)) as T;
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.masked(item)])) as T;
    }
    return value;
  }
}
