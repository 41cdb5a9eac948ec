import type { AppError } from '../../../platform/app-error.ts';
import { tidyVendorText, type VendorRefusal } from '../../connect/vendor-refusal.ts';
import { openVendorSocket, type VendorSocket } from '../../connect/vendor-socket.ts';
import type { ProviderClock } from '../../contract/provider-clock.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { classOfStatus, type FailureClass, providerError } from '../../contract/provider-error.ts';
import type { ClauseStream } from '../../tts/clause-stream.ts';
import { TEXT_HIGH_WATER_BYTES } from '../../tts/context-voice.ts';
import { closedError, orAborted } from '../../tts/voice-line.ts';

/** The vendor closes a socket after 60 s without a message (reference 5.3). */
const PING_EVERY_MS = 20_000;
/** Clauses at the same time: the one that is heard, the next one, and room for one that is being stopped. */
const MAX_AT_ONCE = 4;
/** Sockets that wait for their next clause; one more is closed. */
const MAX_IDLE = 2;

export interface SarvamConnection {
  socket: VendorSocket;
  /** What is being spoken; null while it waits. */
  clause: ClauseStream | null;
  /** Since when it is open, on the clock of the call. */
  openedMs: number;
}

export interface SarvamOptions {
  url: string;
  apiKey: string;
  clock: ProviderClock;
  /** The first message of every socket. */
  opening: string;
  warmSpare: boolean;
  onAccepted?: ProviderContext['accepted'] | undefined;
}

/**
 * The sockets of a call: those that speak, and one that waits in case the one in use has to be thrown away. Each is
 * configured as soon as it is open, so a clause costs no more than its text.
 */
export class SarvamConnections {
  private readonly options: SarvamOptions;
  private readonly idle: SarvamConnection[] = [];
  private readonly busy = new Set<SarvamConnection>();
  private readonly leaving = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private reserved = 0;
  private dialling: Promise<void> | undefined;

  constructor(options: SarvamOptions) {
    this.options = options;
  }

  /** A socket for one clause; `giveBack` must follow. Rejects with the failure of the dialling. */
  async take(signal: AbortSignal): Promise<SarvamConnection> {
    if (this.reserved >= MAX_AT_ONCE) {
      throw failure({ class: 'rate_limit' }, `is asked for more than ${MAX_AT_ONCE} clauses at once`);
    }
    this.reserved++;
    try {
      let connection = this.takeIdle();
      // Another clause may take what was dialled, but a vendor that closes each socket at once is not dialled for ever.
      for (let dials = 0; !connection && dials < MAX_AT_ONCE; dials++) {
        this.dialling ??= this.dialIdle();
        await orAborted(this.dialling, signal);
        connection = this.takeIdle();
      }
      if (!connection) throw failure({ class: 'transient' }, 'ends each connection as it opens');
      this.busy.add(connection);
      if (this.options.warmSpare) this.spare();
      return connection;
    } catch (error) {
      this.reserved--;
      throw error;
    }
  }

  /** A clause is over. One that did not come to its end leaves its socket with audio in flight: it is closed. */
  giveBack(connection: SarvamConnection, isDone: boolean): void {
    if (!this.busy.delete(connection)) return;
    this.reserved--;
    connection.clause = null;
    this.dropDead();
    const isWanted = isDone && connection.socket.isOpen && this.idle.length < MAX_IDLE;
    if (isWanted && !this.closing.signal.aborted) this.idle.push(connection);
    else this.leave(connection);
  }

  async warm(): Promise<void> {
    if (this.idle.some(({ socket }) => socket.isOpen)) return;
    this.dialling ??= this.dialIdle();
    await this.dialling;
  }

  /** Idempotent, never rejects. */
  async close(): Promise<void> {
    const closed = closedError('sarvam');
    this.closing.abort(closed);
    await this.dialling?.catch(() => undefined);
    for (const connection of this.busy) connection.clause?.fail(closed);
    for (const connection of [...this.busy, ...this.idle.splice(0)]) this.leave(connection);
    await Promise.all(this.leaving);
  }

  private takeIdle(): SarvamConnection | undefined {
    this.dropDead();
    // The one that spoke last, so that the spare stays one.
    return this.idle.pop();
  }

  private dropDead(): void {
    const alive = this.idle.filter(({ socket }) => socket.isOpen);
    this.idle.splice(0, this.idle.length, ...alive);
  }

  private spare(): void {
    this.dropDead();
    if (this.idle.length > 0 || this.dialling) return;
    this.dialling = this.dialIdle();
  }

  private dialIdle(): Promise<void> {
    const dialling = this.dial().finally(() => {
      this.dialling = undefined;
    });
    // A spare that cannot be had is no failure: the clause that needs it dials again and tells.
    dialling.catch(() => undefined);
    return dialling;
  }

  private async dial(): Promise<void> {
    const { url, apiKey, clock, opening } = this.options;
    const connection: Pick<SarvamConnection, 'clause'> = { clause: null };
    const socket = await openVendorSocket({
      provider: 'sarvam',
      family: 'tts',
      url,
      clock,
      headers: { 'api-subscription-key': apiKey },
      secrets: [apiKey],
      highWaterBytes: TEXT_HIGH_WATER_BYTES,
      keepAlive: { idleMs: PING_EVERY_MS, send: (open) => open.send(JSON.stringify({ type: 'ping' })) },
      signal: this.closing.signal,
      onAccepted: this.options.onAccepted,
      readRefusal: ({ body }) => readRefusal(body),
      onMessage: (message, open) => receive(connection.clause, message, open, apiKey),
      onEnd: (error) => connection.clause?.fail(error),
    });
    if (this.closing.signal.aborted) {
      socket.terminate();
      throw this.closing.signal.reason;
    }
    socket.send(opening);
    this.idle.push(Object.assign(connection, { socket, openedMs: clock.nowMs() }));
  }

  private leave(connection: SarvamConnection): void {
    const leaving = connection.socket.close().then(() => {
      this.leaving.delete(leaving);
    });
    this.leaving.add(leaving);
  }
}

function receive(
  clause: ClauseStream | null,
  message: string | Buffer,
  socket: VendorSocket,
  apiKey: string,
): void {
  const parsed = JSON.parse(message.toString()) as { type?: unknown; data?: unknown } | null;
  if (typeof parsed?.data !== 'object' || parsed.data === null) return;
  const data = parsed.data as Record<string, unknown>;
  if (parsed.type === 'audio') {
    if (typeof data.audio !== 'string') throw new Error('an audio message without its audio');
    clause?.bytes(Buffer.from(data.audio, 'base64'));
  } else if (parsed.type === 'event' && data.event_type === 'final') {
    // A clause that is worth saying has audio, so an end before any is the doubled end of the clause before it.
    if (clause && clause.samples > 0) clause.end();
  } else if (parsed.type === 'error') {
    socket.fail(readError(data, apiKey));
  }
}

/** The vendor's names, in error messages and refused handshakes. */
const CLASSES: Readonly<Record<string, FailureClass>> = {
  authentication_error: 'auth',
  invalid_api_key_error: 'auth',
  insufficient_quota_error: 'quota',
  rate_limit_exceeded_error: 'rate_limit',
  internal_server_error: 'transient',
  invalid_request_error: 'config',
  unprocessable_entity_error: 'config',
  not_found_error: 'config',
};

function readError(data: Record<string, unknown>, apiKey: string): AppError {
  const { code, message, request_id: requestId } = data;
  const status = typeof code === 'number' ? code : null;
  const isHttp = status !== null && status >= 400 && status < 600;
  const said = tidyVendorText(typeof message === 'string' ? message : 'it gives no reason', {
    secrets: [apiKey],
  });
  return failure(
    {
      class: isHttp ? classOfStatus(status) : 'transient',
      status,
      ...named(code),
      ...(typeof requestId === 'string' ? { requestId } : {}),
    },
    `refused: ${said}`,
  );
}

function named(code: unknown): VendorRefusal {
  if (typeof code !== 'string') return {};
  const known = Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
  return { vendorCode: code, ...(known ? { class: known } : {}) };
}

/** `{"error": {"code", "message", "request_id"}}` of a refused handshake. */
function readRefusal(body: string): VendorRefusal {
  try {
    const { error } = JSON.parse(body);
    return {
      ...named(error?.code),
      ...(typeof error?.message === 'string' ? { message: error.message } : {}),
      ...(typeof error?.request_id === 'string' ? { requestId: error.request_id } : {}),
    };
  } catch {
    return {};
  }
}

function failure(
  what: { class: FailureClass; status?: number | null } & Omit<VendorRefusal, 'message' | 'class'>,
  sentence: string,
): AppError {
  return providerError(
    { provider: 'sarvam', family: 'tts', status: null, ...what },
    `sarvam (tts) ${sentence}`,
  );
}
