import type { AppError } from '../../platform/app-error.ts';
import type { VendorSocket } from '../connect/vendor-socket.ts';
import { providerError } from '../contract/provider-error.ts';
import type { ClauseStream } from './clause-stream.ts';

/** One connection and the clauses that are being spoken over it, by the id that the vendor knows them by. */
export interface VoiceConnection {
  readonly socket: VendorSocket;
  readonly clauses: Map<string, ClauseStream>;
}

/** Dials once; `clauses` are those of the new connection, `onEnd` goes into the socket's options. */
export type DialVoice = (connection: {
  clauses: Map<string, ClauseStream>;
  onEnd(error: AppError): void;
  signal: AbortSignal;
}) => Promise<VendorSocket>;

/**
 * The socket that all clauses of a call share: opened when it is first needed, and again when the vendor has closed
 * it or it was retired. Clauses that were open on a socket fail with it; nothing of them is said again here.
 */
export class VoiceLine {
  private readonly provider: string;
  private readonly dial: DialVoice;
  private readonly closing = new AbortController();
  private connection: VoiceConnection | undefined;
  private readonly retired = new Set<VoiceConnection>();
  private readonly leaving = new Set<Promise<void>>();
  private dialling: Promise<VoiceConnection> | undefined;

  constructor(provider: string, dial: DialVoice) {
    this.provider = provider;
    this.dial = dial;
  }

  get isOpen(): boolean {
    return this.connection?.socket.isOpen ?? false;
  }

  /** The open connection. An aborted signal ends the wait only: the socket is there for the next clause. */
  async open(signal?: AbortSignal): Promise<VoiceConnection> {
    signal?.throwIfAborted();
    if (this.connection?.socket.isOpen) return this.connection;
    this.dialling ??= this.dialOnce();
    return signal ? orAborted(this.dialling, signal) : this.dialling;
  }

  /** The next clause gets a new socket; this one stays for the clauses that are still heard over it. */
  retire(connection: VoiceConnection): void {
    if (this.connection === connection) this.connection = undefined;
    this.retired.add(connection);
    this.left(connection);
  }

  /** Somebody hears no more over this socket; a retired one that nobody hears any more is closed. */
  left(connection: VoiceConnection): void {
    const isHeard = [...connection.clauses.values()].some((clause) => clause.isOpen);
    if (isHeard || !this.retired.delete(connection)) return;
    const leaving = connection.socket.close().then(() => void this.leaving.delete(leaving));
    this.leaving.add(leaving);
  }

  /** Ends the sockets, the present one with the vendor's farewell; idempotent, never rejects. */
  async close(farewell?: string): Promise<void> {
    const closed = closedError(this.provider);
    this.closing.abort(closed);
    await this.dialling?.catch(() => undefined);
    for (const connection of this.retired) {
      failAll(connection.clauses, closed);
      this.left(connection);
    }
    const connection = this.connection;
    if (connection) {
      failAll(connection.clauses, closed);
      await connection.socket.close(farewell === undefined ? {} : { farewell });
    }
    await Promise.all(this.leaving);
  }

  private dialOnce(): Promise<VoiceConnection> {
    const dialling = this.connect().finally(() => {
      this.dialling = undefined;
    });
    // Whoever waited may have gone; the failure is then nobody's, and the next clause dials anew.
    dialling.catch(() => undefined);
    return dialling;
  }

  private async connect(): Promise<VoiceConnection> {
    const signal = this.closing.signal;
    signal.throwIfAborted();
    const clauses = new Map<string, ClauseStream>();
    const socket = await this.dial({ clauses, onEnd: (error) => failAll(clauses, error), signal });
    const connection = { socket, clauses };
    if (signal.aborted) {
      socket.terminate();
      throw signal.reason;
    }
    this.connection = connection;
    return connection;
  }
}

/** What a clause gets whose call has closed its voice. */
export function closedError(provider: string): AppError {
  return providerError(
    { provider, family: 'tts', class: 'transient', status: null },
    `the call has closed its voice of ${provider}`,
  );
}

/** The promise's value, or the signal's reason as soon as it aborts; the promise goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function failAll(clauses: Map<string, ClauseStream>, error: AppError): void {
  for (const clause of clauses.values()) clause.fail(error);
  clauses.clear();
}
