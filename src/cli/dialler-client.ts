import WebSocket from 'ws';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ, MAX_MESSAGE_BYTES } from '../contracts/limits.ts';
import type { ConnectedMessage, DiallerMessage, Framing } from '../contracts/wire.ts';
import { monotonicMs, within } from '../platform/clock.ts';
import { CallRefused } from './call-refused.ts';
import type { DiallerEvent, DiallerEventOf } from './dialler-events.ts';
import { LinePlayout } from './line-playout.ts';
import { partnerDialect } from './partner-dialect.ts';
import { SoundTrack } from './sound-track.ts';
import { endOfSpeech, VoiceTracker } from './voice-tracker.ts';
import { telephonyDialect, type WireDialect } from './wire-dialect.ts';

export interface DiallerOptions {
  /** `ws://127.0.0.1:8090/ws/demo` */
  url: string;
  /** Fields of the first message; custom ones become `call.*` (docs/dialler-protocol.md, "Dialler to bot"). */
  connected?: Omit<ConnectedMessage, 'event' | 'media'>;
  framing?: Framing;
  /** How the call is spoken on the wire: `/ws/{bot_id}` by default, or `/partner/{bot_id}`. */
  dialect?: 'telephony' | 'partner' | WireDialect;
  headers?: Record<string, string>;
  /** Jitter buffer ahead of the far end's loudspeaker. */
  prebufferMs?: number;
  /** What this dialler does with the marks of audio that `clear` dropped; platforms differ. */
  clearedMarks?: 'forget' | 'echo';
  /** `leave`: nothing is told about marks that were played; whoever drives the call does it. */
  marks?: 'echo' | 'leave';
  /** Adds the line's own noise to each outgoing frame. */
  mixIn?: (frame: Int16Array) => void;
  /** Audio of each side that is kept; 0 keeps none, which suits a load run. */
  keepAudioMs?: number;
  /** How long the handshake and the config may take until `ready`. */
  readyTimeoutMs?: number;
  onEvent?: (event: DiallerEvent) => void;
  /** Every piece of audio as it comes over the wire, before the jitter buffer. */
  onAudio?: (samples: Int16Array, atMs: number) => void;
}

const PREBUFFER_MS = 60;
const KEEP_AUDIO_MS = 600_000;
const READY_TIMEOUT_MS = 15_000;
/** Events and arrival times kept per call; later ones go to `onEvent` alone. */
const MAX_EVENTS = 20_000;
const MAX_ARRIVALS = 100_000;
/** A process that slept longer than this lets the line jump forward rather than send all it owes at once. */
const MAX_CATCH_UP_FRAMES = 25;
/** After `stop`, the far end has this long to close by itself. */
const HANG_UP_WAIT_MS = 8_000;

/**
 * Places one call over the wire protocol and resolves once the slot is `ready`. From then on the line never stops:
 * 20 ms of caller audio, or of silence, leave by absolute deadlines until the call ends. Rejects with
 * {@link CallRefused} when the fleet port answers with a status or the slot closes before `ready`. The partner's dialect has
 * no `ready`: there it resolves once `start` is out, and a refusal comes as a close.
 */
export async function placeCall(options: DiallerOptions): Promise<DiallerCall> {
  const socket = new WebSocket(options.url, {
    headers: options.headers ?? {},
    perMessageDeflate: false,
    handshakeTimeout: options.readyTimeoutMs ?? READY_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  const call = new DiallerCall(socket, options);
  await call.opened();
  return call;
}

interface QueuedClip {
  name: string;
  samples: Int16Array;
  sent: number;
  startedAtMs: number;
  speechMs: number;
  done: (spoken: SpokenClip) => void;
}

/** When a clip went out. `voiceEndedAtMs` is its last audible frame: what a caller feels as "I have finished". */
export interface SpokenClip {
  startedAtMs: number;
  endedAtMs: number;
  voiceEndedAtMs: number;
  /** False when the call ended first. */
  complete: boolean;
}

export class DiallerCall {
  sessionId = '';
  readonly startedAtMs = monotonicMs();
  readonly events: DiallerEvent[] = [];
  /** When each piece of the bot's audio came over the wire, and how many samples it held. */
  readonly arrivals: { atMs: number; samples: number }[] = [];
  /** Both sides on the line's own clock, as the far end spoke and heard them. */
  readonly spoken: SoundTrack;
  readonly heard: SoundTrack;
  readonly playout: LinePlayout;
  readonly closed: Promise<DiallerEventOf<'closed'>>;
  framesSent = 0;
  framesSkipped = 0;
  isClosed = false;
  /** When the first frame was due; the line's clock counts from here. */
  lineStartedAtMs = 0;
  /** Set to stop the caller's audio altogether, as a broken trunk does; the playing side goes on. */
  lineHeld = false;
  private readonly voice = new VoiceTracker();
  private readonly clips: QueuedClip[] = [];
  private readonly waiting = new Set<() => void>();
  private readonly socket: WebSocket;
  private readonly options: DiallerOptions;
  private readonly dialect: WireDialect;
  private settleOpened: (error?: Error) => void = () => undefined;
  private readonly whenOpened: Promise<void>;
  private timer: NodeJS.Timeout | undefined;
  private nextFrameAtMs = 0;

  constructor(socket: WebSocket, options: DiallerOptions) {
    this.socket = socket;
    this.options = options;
    this.dialect = dialectOf(options);
    const keepMs = options.keepAudioMs ?? KEEP_AUDIO_MS;
    this.spoken = new SoundTrack(keepMs);
    this.heard = new SoundTrack(keepMs);
    this.playout = new LinePlayout(options.prebufferMs ?? PREBUFFER_MS);
    this.whenOpened = new Promise((resolve, reject) => {
      this.settleOpened = (error) => (error ? reject(error) : resolve());
    });
    this.whenOpened.catch(() => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve(this.onClose(code, reason.toString('utf8'))));
    });
    socket.on('open', () => {
      for (const text of this.dialect.greeting()) socket.send(text);
      if (this.dialect.waitsForReady) return;
      this.startLine();
      this.settleOpened();
    });
    socket.on('unexpected-response', (_request, response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        this.settleOpened(new CallRefused(response.statusCode ?? 0, Buffer.concat(parts).toString('utf8')));
        socket.terminate();
      });
    });
    socket.on('error', (error) => this.settleOpened(new CallRefused(0, error.message)));
    socket.on('message', (data, isBinary) => this.onMessage(data as Buffer, isBinary));
  }

  /** Resolves at `ready`. */
  async opened(): Promise<void> {
    const timeoutMs = this.options.readyTimeoutMs ?? READY_TIMEOUT_MS;
    const timer = setTimeout(() => {
      this.settleOpened(new CallRefused(0, `no "ready" within ${timeoutMs} ms`));
      this.socket.terminate();
    }, timeoutMs);
    try {
      await this.whenOpened;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Queues caller audio (8 kHz) behind what is queued already; resolves when its last frame is out. */
  say(samples: Int16Array, name = 'clip'): Promise<SpokenClip> {
    return new Promise((done) => {
      const speechMs = (endOfSpeech(samples) * 1000) / LINE_RATE_HZ;
      const clip = { name, samples, sent: 0, startedAtMs: Number.NaN, speechMs, done };
      if (this.isClosed) done(endOf(clip, monotonicMs(), false));
      else this.clips.push(clip);
    });
  }

  /** Sends any message of the protocol, or anything else a test wants the slot to see. */
  send(message: DiallerMessage | Record<string, unknown> | Uint8Array | string): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const plain = typeof message === 'string' || message instanceof Uint8Array;
    this.socket.send(plain ? message : this.dialect.write(message));
  }

  /** Whether the bot is audible or has audio waiting to be played. */
  get botIsSpeaking(): boolean {
    return this.voice.speaking || this.playout.queuedMs > 0;
  }

  /** How long the bot has not been audible; without end before its first sound. */
  get quietMs(): number {
    return monotonicMs() - this.voice.lastVoiceAtMs;
  }

  /** Resolves true once the condition holds, looked at on every tick; false at the time-out or the call's end. */
  async until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    const endAtMs = monotonicMs() + timeoutMs;
    while (!holds()) {
      if (this.isClosed || monotonicMs() >= endAtMs) return holds();
      await this.nextTick();
    }
    return true;
  }

  /**
   * Waits for the bot to become audible after `sinceMs` and then to be quiet for `quietMs`. Null when it never spoke
   * within `timeoutMs`.
   */
  async answerAfter(
    sinceMs: number,
    quietMs = 700,
    timeoutMs = 20_000,
  ): Promise<DiallerEventOf<'bot_started'> | null> {
    const started = () =>
      this.events.find(
        (event): event is DiallerEventOf<'bot_started'> =>
          event.type === 'bot_started' && event.atMs >= sinceMs,
      );
    if (!(await this.until(() => started() !== undefined, timeoutMs))) return null;
    await this.until(
      () => !this.botIsSpeaking && monotonicMs() - this.voice.lastVoiceAtMs >= quietMs,
      timeoutMs * 3,
    );
    return started() ?? null;
  }

  /** The first event of a kind from `sinceMs` on, waiting for it if need be; null at the time-out. */
  async event<T extends DiallerEvent['type']>(
    type: T,
    timeoutMs: number,
    sinceMs = 0,
  ): Promise<DiallerEventOf<T> | null> {
    const find = () =>
      this.events.find((event): event is DiallerEventOf<T> => event.type === type && event.atMs >= sinceMs);
    await this.until(() => find() !== undefined, timeoutMs);
    return find() ?? null;
  }

  /** The caller hangs up: `stop`, then the close handshake; the socket is cut if the far end does not close. */
  async hangUp(reason = 'customer hung up'): Promise<DiallerEventOf<'closed'>> {
    if (!this.isClosed) {
      this.send({ event: 'stop', reason });
      const closing = await within(this.closed, HANG_UP_WAIT_MS, null);
      if (!closing) this.socket.close(1000);
      const cut = setTimeout(() => this.socket.terminate(), 1000);
      await this.closed;
      clearTimeout(cut);
    }
    return this.closed;
  }

  /** Closes in order but without `stop`, as a dialler does that moves its leg away. */
  close(): void {
    this.socket.close(1000);
  }

  /** Breaks the connection without a word, as a dead gateway does. */
  drop(): void {
    this.socket.terminate();
  }

  private nextTick(): Promise<void> {
    return new Promise((resolve) => this.waiting.add(resolve));
  }

  private wakeWaiting(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }

  private startLine(): void {
    this.lineStartedAtMs = monotonicMs();
    this.nextFrameAtMs = this.lineStartedAtMs;
    this.schedule();
  }

  private schedule(): void {
    this.timer = setTimeout(() => this.runLine(), Math.max(0, this.nextFrameAtMs - monotonicMs()));
  }

  /** Sends and plays every frame whose deadline has passed. */
  private runLine(): void {
    if (this.isClosed) return;
    const nowMs = monotonicMs();
    const owed = Math.floor((nowMs - this.nextFrameAtMs) / FRAME_MS) + 1;
    if (owed > MAX_CATCH_UP_FRAMES) {
      const skipped = owed - MAX_CATCH_UP_FRAMES;
      this.framesSkipped += skipped;
      this.nextFrameAtMs += skipped * FRAME_MS;
    }
    while (this.nextFrameAtMs <= nowMs && !this.isClosed) {
      this.sendFrame(nowMs);
      this.playFrame(nowMs);
      this.nextFrameAtMs += FRAME_MS;
    }
    this.wakeWaiting();
    this.schedule();
  }

  private sendFrame(atMs: number): void {
    const frame = new Int16Array(FRAME_SAMPLES);
    const clip = this.clips[0];
    if (clip) {
      if (clip.sent === 0) {
        clip.startedAtMs = atMs;
        this.note({ type: 'caller_started', atMs, clip: clip.name });
      }
      const part = clip.samples.subarray(clip.sent, clip.sent + FRAME_SAMPLES);
      frame.set(part);
      clip.sent += part.length;
    }
    this.options.mixIn?.(frame);
    this.spoken.append(frame);
    if (!this.lineHeld) {
      const wire = this.dialect.media(frame);
      if (wire !== null) this.send(wire);
      this.framesSent += 1;
    }
    if (clip && clip.sent >= clip.samples.length) {
      this.clips.shift();
      const spoken = endOf(clip, atMs + FRAME_MS, true);
      this.note({ type: 'caller_stopped', atMs, clip: clip.name, voiceEndedAtMs: spoken.voiceEndedAtMs });
      clip.done(spoken);
    }
  }

  private playFrame(atMs: number): void {
    const frame = this.playout.tick();
    this.heard.append(frame.samples);
    const change = this.voice.take(frame.samples, atMs);
    if (change?.change === 'started') {
      this.note({ type: 'bot_started', atMs, arrivedAtMs: frame.arrivedAtMs ?? atMs });
    } else if (change) {
      this.note({ type: 'bot_stopped', atMs: change.atMs });
    }
    for (const name of frame.marks) this.markPlayed(name, atMs);
  }

  private markPlayed(name: string, atMs: number): void {
    if (this.options.marks === 'leave') this.note({ type: 'mark_played', atMs, name });
    else this.echoMark(name, atMs);
  }

  private echoMark(name: string, atMs: number): void {
    this.send({ event: 'mark', mark: { name } });
    this.note({ type: 'mark_played', atMs, name });
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    const atMs = monotonicMs();
    const inbound = this.dialect.read(data, isBinary);
    if ('odd' in inbound) {
      this.note({ type: 'unreadable', atMs, sentence: inbound.odd });
      return;
    }
    if ('audio' in inbound) {
      this.takeAudio(inbound.audio, atMs);
      return;
    }
    const { message } = inbound;
    switch (message.event) {
      case 'ready':
        this.sessionId = message.session_id;
        this.note({ type: 'ready', atMs, sessionId: message.session_id });
        this.startLine();
        this.settleOpened();
        return;
      case 'clear':
        this.onClear(atMs);
        return;
      case 'mark':
        this.note({ type: 'mark', atMs, name: message.mark.name });
        this.playout.pushMark(message.mark.name);
        return;
      case 'transfer':
        this.note({ type: 'transfer', atMs, transfer: message.transfer });
        return;
      case 'hangup':
        this.note({ type: 'hangup', atMs, reason: message.reason });
        return;
      default:
        this.note({ type: 'unreadable', atMs, sentence: 'the slot sent an event of an unknown name' });
    }
  }

  private takeAudio(samples: Int16Array, atMs: number): void {
    if (this.arrivals.length < MAX_ARRIVALS) this.arrivals.push({ atMs, samples: samples.length });
    this.options.onAudio?.(samples, atMs);
    this.playout.pushAudio(samples, atMs);
  }

  private onClear(atMs: number): void {
    const { droppedMs, marks } = this.playout.clear();
    const change = this.voice.stop();
    this.note({ type: 'clear', atMs, droppedMs, droppedMarks: marks });
    if (change) this.note({ type: 'bot_stopped', atMs: change.atMs });
    if (this.options.clearedMarks === 'echo') for (const name of marks) this.echoMark(name, atMs);
  }

  private onClose(code: number, reason: string): DiallerEventOf<'closed'> {
    this.isClosed = true;
    clearTimeout(this.timer);
    const event = { type: 'closed', atMs: monotonicMs(), code, reason } as const;
    this.note(event);
    for (const clip of this.clips.splice(0)) clip.done(endOf(clip, event.atMs, false));
    this.settleOpened(new CallRefused(code, reason));
    this.wakeWaiting();
    return event;
  }

  private note(event: DiallerEvent): void {
    if (this.events.length < MAX_EVENTS) this.events.push(event);
    this.options.onEvent?.(event);
  }
}

function dialectOf({ dialect, connected, framing }: DiallerOptions): WireDialect {
  if (dialect === 'partner') return partnerDialect({ connected });
  return typeof dialect === 'object' ? dialect : telephonyDialect({ connected, framing });
}

function endOf(clip: QueuedClip, endedAtMs: number, complete: boolean): SpokenClip {
  const startedAtMs = Number.isNaN(clip.startedAtMs) ? endedAtMs : clip.startedAtMs;
  return {
    startedAtMs,
    endedAtMs,
    voiceEndedAtMs: Math.min(endedAtMs, startedAtMs + clip.speechMs),
    complete,
  };
}
