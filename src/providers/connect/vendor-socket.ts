import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import type { AppError } from '../../platform/app-error.ts';
import type { ProviderClock } from '../contract/provider-clock.ts';
import { type ProviderContext, requestIdOf } from '../contract/provider-context.ts';
import { type ProviderFailure, providerError } from '../contract/provider-error.ts';
import {
  classOfCloseCode,
  handshakeError,
  MAX_REFUSAL_BYTES,
  tidyVendorText,
  type VendorRefusal,
} from './vendor-refusal.ts';

/** From dialling to an open socket (D-34). */
const HANDSHAKE_TIMEOUT_MS = 4_000;
/** Protocol pings, so that a dead line is noticed by vendors that say nothing for long (reference 2). */
const PING_EVERY_MS = 10_000;
const MAX_MISSED_PONGS = 2;
/** Bytes handed to the system that make no progress for this long: the line is half dead. */
const SEND_STALL_MS = 5_000;
/** Between our close frame and the end of the connection. */
const CLOSE_DEADLINE_MS = 1_000;
/** Largest message of a vendor; TTS audio in JSON is the largest there is (reference 1). */
const MAX_MESSAGE_BYTES = 4 * 1_048_576;
/** The body of a refused handshake must be there within this; then its status alone tells. */
const REFUSAL_BODY_MS = 1_000;

export interface VendorSocketOptions {
  provider: string;
  family: 'stt' | 'tts';
  /** The whole address (`vendorUrl` makes it); it never appears in a message. */
  url: string;
  clock: ProviderClock;
  headers?: Record<string, string>;
  protocols?: string[];
  /** Texts that must not appear in error messages, such as the key. */
  secrets?: readonly (string | undefined)[];
  /** Certificates to trust beside the system's; a deployment uses NODE_EXTRA_CA_CERTS. */
  ca?: string;
  handshakeTimeoutMs?: number;
  maxMessageBytes?: number;
  /** Above so many unsent bytes `offer` refuses and `sendWhenClear` waits. */
  highWaterBytes: number;
  /** Sent when nothing else was for `idleMs`: what the vendor wants to hear on an idle socket. */
  keepAlive?: { idleMs: number; send(socket: VendorSocket): void };
  /** Ends the dialling; the promise of `openVendorSocket` rejects with the signal's reason. */
  signal?: AbortSignal;
  /** What the vendor says in a refused handshake, in its own words. */
  readRefusal?(answer: { status: number; headers: IncomingHttpHeaders; body: string }): VendorRefusal;
  /** What a close frame that we did not ask for means at this vendor; parts left out are mapped by its code. */
  readClose?(code: number, reason: string): VendorRefusal;
  /**
   * Text messages come as string, binary ones as Buffer. The first may come before `openVendorSocket` resolved, hence
   * the socket. What it throws ends the socket.
   */
  onMessage(message: string | Buffer, socket: VendorSocket): void;
  /** The socket is over without our doing: closed, cut, dead or failed by `fail`. Called once at most. */
  onEnd(error: AppError): void;
  /** There is room again after `offer` refused. */
  onRoom?(): void;
  /** The vendor let us in; how long that took, and its id for the connection (RT-67). */
  onAccepted?: ProviderContext['accepted'] | undefined;
}

/**
 * Dials a vendor. Rejects with the AppErrors of `providerError`: a refused handshake with its status, class, request
 * id and Retry-After, silence as `provider_timeout`, a broken line as `transient`.
 */
export function openVendorSocket(options: VendorSocketOptions): Promise<VendorSocket> {
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted) {
      reject(options.signal.reason);
      return;
    }
    const startedMs = options.clock.nowMs();
    let socket: WebSocket;
    try {
      socket = new WebSocket(options.url, options.protocols ?? [], {
        headers: options.headers ?? {},
        perMessageDeflate: false,
        followRedirects: false,
        maxPayload: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      });
    } catch {
      // The address was checked with the settings, so this is a header that cannot be sent; its value may be the key.
      reject(failure(options, { class: 'config', status: null }, 'cannot be dialled with these settings'));
      return;
    }
    let upgradeHeaders: IncomingHttpHeaders = {};
    let refused = false;
    const settle = (action: () => void) => {
      cancelTimer();
      options.signal?.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // What still happens to a socket that nobody waits for any more must not become an uncaught error.
      socket.on('error', () => undefined);
      action();
    };
    const giveUp = (error: unknown) =>
      settle(() => {
        socket.terminate();
        reject(error);
      });
    const onAbort = () => giveUp(options.signal?.reason);
    const timeoutMs = options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS;
    const cancelTimer = options.clock.after(timeoutMs, () =>
      giveUp(
        failure(
          options,
          { class: 'transient', status: null },
          `did not open the connection within ${timeoutMs} ms`,
          'provider_timeout',
        ),
      ),
    );
    options.signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('upgrade', (response: IncomingMessage) => {
      upgradeHeaders = response.headers;
    });
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      refused = true;
      readBody(response, options.clock, (body) =>
        giveUp(
          handshakeError(options, { status: response.statusCode ?? 0, headers: response.headers, body }),
        ),
      );
    });
    socket.once('error', (error) => {
      if (refused) return;
      const said = tidyVendorText(error.message || String((error as NodeJS.ErrnoException).code), options);
      giveUp(failure(options, { class: 'transient', status: null }, `cannot be reached: ${said}`));
    });
    socket.once('open', () =>
      settle(() => {
        const { provider, family } = options;
        const requestId = requestIdOf((name) => upgradeHeaders[name] as string | undefined);
        options.onAccepted?.({ provider, family, waitMs: options.clock.nowMs() - startedMs, requestId });
        resolve(new VendorSocket(socket, options));
      }),
    );
  });
}

/**
 * An open socket to a vendor of speech: sends within a bound, keeps the vendor's idle rules, notices a dead line, and
 * leaves nothing behind. It does not reconnect; that belongs to the layer above, which knows what to say again.
 */
export class VendorSocket {
  /** Resolves when the connection is gone, however it ended. */
  readonly gone: Promise<void>;
  private readonly socket: WebSocket;
  private readonly options: VendorSocketOptions;
  private lastSentMs: number;
  private lastProgressMs = 0;
  private missedPongs = 0;
  private wasRefused = false;
  private lineError: Error | undefined;
  /** `over` once nobody is told anything any more. */
  private state: 'open' | 'closing' | 'over' = 'open';
  private waiting: (() => void)[] = [];
  private cancelKeepAlive: () => void = () => undefined;
  private cancelPing: () => void = () => undefined;
  private cancelStall: (() => void) | undefined;

  constructor(socket: WebSocket, options: VendorSocketOptions) {
    this.socket = socket;
    this.options = options;
    this.lastSentMs = options.clock.nowMs();
    socket.on('message', (data, isBinary) => this.onMessage(data, isBinary));
    socket.on('pong', () => {
      this.missedPongs = 0;
    });
    socket.on('error', (error) => {
      this.lineError = error;
    });
    this.gone = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.onClose(code, reason.toString('utf8'));
        resolve();
      });
    });
    this.schedulePing();
    this.scheduleKeepAlive(options.keepAlive?.idleMs ?? 0);
  }

  get isOpen(): boolean {
    return this.state === 'open' && this.socket.readyState === WebSocket.OPEN;
  }

  /** Bytes that the system has not taken yet. */
  get unsentBytes(): number {
    return this.socket.bufferedAmount;
  }

  /**
   * Sends unless the line is congested; false means that nothing was sent and `onRoom` will tell. The message is
   * copied, so its memory may be reused at once. Without effect on a socket that is over.
   */
  offer(message: string | Buffer): boolean {
    if (this.unsentBytes > this.options.highWaterBytes) {
      this.wasRefused = true;
      return false;
    }
    this.send(message);
    return true;
  }

  /** Sends whatever the line's state is: for short control messages. */
  send(message: string | Buffer): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const nowMs = this.options.clock.nowMs();
    this.lastSentMs = nowMs;
    if (this.unsentBytes === 0) this.lastProgressMs = nowMs;
    this.socket.send(message, this.onWritten);
    if (this.unsentBytes > 0) this.cancelStall ??= this.watchSends(SEND_STALL_MS);
  }

  /** Waits while the line is congested, then sends. Rejects with the signal's reason; resolves when the socket ends. */
  async sendWhenClear(message: string | Buffer, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    while (this.isOpen && this.unsentBytes > this.options.highWaterBytes) await this.room(signal);
    this.send(message);
  }

  /** Ends the socket because of what the vendor said in a message; `onEnd` gets the error. */
  fail(error: AppError): void {
    if (this.state !== 'over') this.finish(error);
    this.socket.terminate();
  }

  /**
   * Says goodbye: `farewell` is the vendor's own last message, after which it sends what it still has and closes
   * (messages keep coming meanwhile). Without one, or without an answer in time, our close frame, then the end of the
   * line. Idempotent, never rejects, over within `deadlineMs` twice.
   */
  async close(options: { farewell?: string | Buffer; deadlineMs?: number } = {}): Promise<void> {
    const deadlineMs = options.deadlineMs ?? CLOSE_DEADLINE_MS;
    if (this.state === 'open') {
      this.state = 'closing';
      this.cancelKeepAlive();
      if (options.farewell !== undefined) {
        this.send(options.farewell);
        await this.goneWithin(deadlineMs);
      }
    }
    this.stopTimers();
    this.socket.close(1000);
    await this.goneWithin(deadlineMs);
    this.terminate();
    await this.gone;
  }

  /** Cuts the line at once and tells nobody. */
  terminate(): void {
    this.state = 'over';
    this.stopTimers();
    this.socket.terminate();
  }

  private readonly onWritten = () => {
    this.lastProgressMs = this.options.clock.nowMs();
    if (this.unsentBytes > this.options.highWaterBytes) return;
    this.wake();
    if (!this.wasRefused || !this.isOpen) return;
    this.wasRefused = false;
    this.options.onRoom?.();
  };

  private onMessage(data: RawData, isBinary: boolean): void {
    this.missedPongs = 0;
    if (this.state === 'over') return;
    const bytes = data as Buffer;
    try {
      this.options.onMessage(isBinary ? bytes : bytes.toString('utf8'), this);
    } catch (cause) {
      const said = tidyVendorText(cause instanceof Error ? cause.message : String(cause), this.options);
      this.fail(
        failure(
          this.options,
          { class: 'transient', status: null },
          `sent a message that cannot be used: ${said}`,
        ),
      );
    }
  }

  private onClose(code: number, reason: string): void {
    if (this.state === 'open') this.finish(this.closeError(code, reason));
    this.state = 'over';
    this.stopTimers();
    this.wake();
  }

  private closeError(code: number, reason: string): AppError {
    const read = this.options.readClose?.(code, reason) ?? {};
    const why = this.lineError?.message ?? read.message ?? reason;
    const said = tidyVendorText(why, this.options);
    return failure(
      this.options,
      {
        class: read.class ?? classOfCloseCode(code),
        status: code,
        ...(read.vendorCode === undefined ? {} : { vendorCode: read.vendorCode }),
        ...(read.requestId === undefined ? {} : { requestId: read.requestId }),
        ...(read.retryAfterMs === undefined ? {} : { retryAfterMs: read.retryAfterMs }),
      },
      `closed the connection with ${code}${said === '' ? '' : `: ${said}`}`,
    );
  }

  private finish(error: AppError): void {
    const wasOpen = this.state === 'open';
    this.state = 'over';
    this.stopTimers();
    this.wake();
    if (wasOpen) this.options.onEnd(error);
  }

  private schedulePing(): void {
    this.cancelPing = this.options.clock.after(PING_EVERY_MS, () => {
      if (this.missedPongs >= MAX_MISSED_PONGS) {
        this.dead(`answered none of ${MAX_MISSED_PONGS} pings`);
        return;
      }
      this.missedPongs++;
      if (this.socket.readyState === WebSocket.OPEN) this.socket.ping(undefined, undefined, this.onWritten);
      this.schedulePing();
    });
  }

  private scheduleKeepAlive(inMs: number): void {
    const keepAlive = this.options.keepAlive;
    if (!keepAlive) return;
    this.cancelKeepAlive = this.options.clock.after(inMs, () => {
      // One timer that looks back is cheaper than moving a timer with every frame of audio.
      const idleMs = this.options.clock.nowMs() - this.lastSentMs;
      if (idleMs < keepAlive.idleMs) {
        this.scheduleKeepAlive(keepAlive.idleMs - idleMs);
        return;
      }
      keepAlive.send(this);
      this.scheduleKeepAlive(keepAlive.idleMs);
    });
  }

  private watchSends(inMs: number): () => void {
    return this.options.clock.after(inMs, () => {
      this.cancelStall = undefined;
      if (this.unsentBytes === 0) return;
      const stalledMs = this.options.clock.nowMs() - this.lastProgressMs;
      if (stalledMs >= SEND_STALL_MS) this.dead(`took no data for ${SEND_STALL_MS} ms`);
      else this.cancelStall = this.watchSends(SEND_STALL_MS - stalledMs);
    });
  }

  private dead(what: string): void {
    this.fail(failure(this.options, { class: 'transient', status: null }, what, 'provider_timeout'));
  }

  private room(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.push(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }

  private wake(): void {
    const waiting = this.waiting;
    if (waiting.length === 0) return;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  private async goneWithin(ms: number): Promise<void> {
    let cancel = () => {};
    const expired = new Promise<void>((resolve) => {
      cancel = this.options.clock.after(ms, resolve);
    });
    await Promise.race([this.gone, expired]);
    cancel();
  }

  private stopTimers(): void {
    this.cancelKeepAlive();
    this.cancelPing();
    this.cancelStall?.();
    this.cancelStall = undefined;
  }
}

function failure(
  options: VendorSocketOptions,
  what: Pick<ProviderFailure, 'class' | 'status'> & Partial<ProviderFailure>,
  sentence: string,
  kind: 'provider_failed' | 'provider_timeout' = 'provider_failed',
): AppError {
  const { provider, family } = options;
  return providerError({ provider, family, ...what }, `${provider} (${family}) ${sentence}`, kind);
}

/** Reads at most MAX_REFUSAL_BYTES, within REFUSAL_BODY_MS, and calls back once with what came. */
function readBody(response: IncomingMessage, clock: ProviderClock, done: (body: string) => void): void {
  const parts: Buffer[] = [];
  let size = 0;
  let finished = false;
  const finish = () => {
    if (finished) return;
    finished = true;
    cancel();
    done(Buffer.concat(parts).subarray(0, MAX_REFUSAL_BYTES).toString('utf8'));
    response.destroy();
  };
  const cancel = clock.after(REFUSAL_BODY_MS, finish);
  response.on('data', (part: Buffer) => {
    parts.push(part);
    size += part.length;
    if (size >= MAX_REFUSAL_BYTES) finish();
  });
  response.once('end', finish);
  response.once('close', finish);
  response.once('error', finish);
}
