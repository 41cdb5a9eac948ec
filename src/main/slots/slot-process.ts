import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { HangupOrder } from '../../contracts/hangup-orders.ts';
import type {
  MainToSlot,
  RoomCallKind,
  SlotCall,
  SlotInit,
  SlotRoomCall,
  SlotToMain,
} from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import type { ConnectedMessage } from '../../contracts/wire.ts';
import { AppError } from '../../platform/app-error.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { textOrNull } from '../../platform/json-shapes.ts';
import type { Logger } from '../../platform/logger.ts';
import { noteHangup } from './hangup-note.ts';

/** A slot that was told to leave while idle is killed when it has not gone by then. */
const LEAVE_TIMEOUT_MS = 8_000;
/** A slot whose channel broke cannot be reached any more; it is killed when it has not exited by then. */
const CHANNEL_LOST_GRACE_MS = 2_000;
/** What a slot may know of main's environment; secrets travel in the init message. */
const ENVIRONMENT = ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR'] as const;

/** `leased`: about to get a call. `reserved`: kept for one that a dialler is about to make (D-16). */
export type SlotState = 'starting' | 'idle' | 'leased' | 'reserved' | 'busy' | 'ended';

/**
 * How a slot process ended. `left`: we asked it to. `died`: it exited, or lost its channel, by itself or by our
 * SIGKILL. `gone`: we let it go alive (main leaves, the call talks on) and what it does is no longer our fact.
 */
export type SlotEnding =
  | { kind: 'left' }
  | { kind: 'died'; cause: 'slot_died' | 'slot_hung'; detail: string }
  | { kind: 'gone' };

export interface SlotStart {
  init: SlotInit;
  /** Program of the slot, absolute. */
  entry: string;
  reportsFolder: string;
  logger: Logger;
}

export interface SlotListener {
  ready(slot: SlotProcess): void;
  /** The carrier's id of the call in this slot is known now. */
  identified(slot: SlotProcess): void;
  finished(slot: SlotProcess, call: LiveCall, hasResult: boolean): void;
  ended(slot: SlotProcess, ending: SlotEnding, call: LiveCall | null): void;
  /** Whatever a slot tells that is not about its own life. */
  news(slot: SlotProcess, message: SlotNews): void;
}

type LifeCycle = 'ready' | 'heartbeat' | 'session' | 'finished';
export type SlotNews = Exclude<SlotToMain, { type: LifeCycle }>;

/** The live call of a slot as far as main knows it. Times are monotonic ms unless they say otherwise. */
export interface LiveCall {
  callId: string;
  botId: string;
  kind: SlotCall['kind'] | RoomCallKind;
  /** The room of a room call; null for a call on a socket. */
  roomName: string | null;
  handedOverAtMs: number;
  sinceIso: string;
  /** As the order named it, then as the config did; null before. */
  sessionId: string | null;
  /** Known once the slot has loaded the config. */
  maxCallSeconds: number | null;
  hangupSentAtMs: number | null;
  /** The carrier's own id, '' where there is none or it is not known yet. */
  callSid: string;
  /** The agent desk has been told of the call: the maximum duration no longer ends it (D-44). */
  handedOver: boolean;
}

/**
 * One forked slot. It is detached (a Ctrl-C at main's terminal is not meant for it) and shares main's own log
 * descriptor, so it outlives main without a broken pipe (D-8).
 */
export class SlotProcess {
  readonly slotId: number;
  readonly pid: number | null;
  readonly startedAtMs = monotonicMs();
  readonly sinceIso = new Date().toISOString();
  state: SlotState = 'starting';
  call: LiveCall | null = null;
  callsTaken = 0;
  roomCallsTaken = 0;
  rssBytes: number | null = null;
  /** Resident size when it was last idle and fresh; growth is measured against it. */
  firstRssBytes: number | null = null;
  lastHeartbeatAtMs = monotonicMs();
  idleSinceMs = monotonicMs();
  leaving = false;
  models: Record<string, 'ready' | 'missing' | 'off'> = {};

  private readonly child: ChildProcess;
  private readonly listener: SlotListener;
  private readonly spoolFolder: string;
  private readonly logger: Logger;
  private killedFor: 'slot_died' | 'slot_hung' | null = null;
  private disowned = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(start: SlotStart, listener: SlotListener) {
    this.slotId = start.init.slotId;
    this.listener = listener;
    this.spoolFolder = join(start.init.dataDir, 'spool');
    this.logger = start.logger;
    this.child = fork(start.entry, [], {
      execPath: process.execPath,
      execArgv: [
        '--report-on-signal',
        '--report-signal=SIGUSR2',
        `--report-directory=${start.reportsFolder}`,
        '--report-exclude-env',
        '--report-exclude-network',
        '--inspect-port=127.0.0.1:0',
        '--inspect-publish-uid=http',
        '--max-semi-space-size=2',
      ],
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: slotEnvironment(),
    });
    this.pid = this.child.pid ?? null;
    this.child.on('message', (message) => this.onMessage(message as SlotToMain));
    this.child.on('error', (error) => {
      this.logger.warn({ slot: this.slotId, err: error.message }, 'a slot process reported an error');
      // Without a pid nothing was started, and no exit event will follow.
      if (this.pid === null) this.onExit(null, null);
    });
    this.child.on('exit', (code, signal) => this.onExit(code, signal));
    this.child.on('disconnect', () => this.onChannelLost());
    this.tell(start.init);
  }

  /** Whether a message would reach the slot now. */
  get reachable(): boolean {
    return this.state !== 'ended' && !this.disowned && this.child.connected;
  }

  /**
   * Hands the call and its socket over. Resolves when the channel has taken both; the caller then destroys its copy of
   * the socket. Rejects with `slot_died` when the channel is broken; the socket is untouched then.
   *
   * `keepOpen` is on because Node otherwise keeps the descriptor until the slot acknowledges it, and for ever when the
   * slot dies first: the caller would hang on a line that nobody holds. What is on its way belongs to the kernel, which
   * closes it together with a dead slot.
   */
  passSocket(call: SlotCall, socket: Socket): Promise<void> {
    return this.give(call, null, socket);
  }

  /** The same for a room call, with which no socket travels. */
  takeRoomCall(call: SlotRoomCall): Promise<void> {
    return this.give(call, call.roomName);
  }

  private give(call: SlotCall | SlotRoomCall, roomName: string | null, socket?: Socket): Promise<void> {
    this.state = 'busy';
    this.callsTaken += 1;
    if (roomName !== null) this.roomCallsTaken += 1;
    this.call = {
      callId: call.callId,
      botId: call.botId,
      kind: call.kind,
      roomName,
      handedOverAtMs: monotonicMs(),
      sinceIso: new Date(call.acceptedAtMs).toISOString(),
      sessionId: call.type === 'room_call' ? orderedSession(call.connected) : null,
      maxCallSeconds: null,
      hangupSentAtMs: null,
      callSid: '',
      handedOver: false,
    };
    return new Promise((resolve, reject) => {
      if (!this.reachable) {
        this.call = null;
        reject(
          new AppError('slot_died', 'the slot left before it could take the call; the caller may retry'),
        );
        return;
      }
      this.child.send(call, socket, { keepOpen: true }, (error) => {
        if (error === null) {
          resolve();
          return;
        }
        this.call = null;
        reject(new AppError('slot_died', 'the slot did not take the call', { cause: error }));
      });
    });
  }

  hangUp(order: HangupOrder): void {
    if (!this.call) return;
    const { callId } = this.call;
    this.call.hangupSentAtMs = monotonicMs();
    this.tell({ v: SLOT_MESSAGES_VERSION, type: 'hangup', callId, ...order });
    void noteHangup(this.spoolFolder, callId, order);
  }

  /** Asks the slot to go: at once when idle, after its call when busy. Idempotent. */
  leave(): void {
    if (this.leaving || this.state === 'ended') return;
    this.leaving = true;
    this.tell({ v: SLOT_MESSAGES_VERSION, type: 'leave' });
    if (this.state !== 'busy' && this.state !== 'leased') this.expectExit(LEAVE_TIMEOUT_MS);
  }

  kill(cause: 'slot_died' | 'slot_hung'): void {
    if (this.state === 'ended') return;
    this.killedFor ??= cause;
    this.child.kill('SIGKILL');
  }

  /** Lets the process go on without us; it finds its channel closed and leaves after its call. */
  disown(): void {
    if (this.state === 'ended' || this.disowned) return;
    this.disowned = true;
    if (this.child.connected) this.child.disconnect();
    this.child.unref();
    this.end({ kind: 'gone' });
  }

  tell(message: MainToSlot): void {
    if (!this.reachable) return;
    // A slot that is dying takes no message; its exit is the event that counts.
    this.child.send(message, () => undefined);
  }

  private onMessage(message: SlotToMain): void {
    if (this.state === 'ended') return;
    if (message.v !== SLOT_MESSAGES_VERSION) {
      this.logger.error(
        { slot: this.slotId, version: message.v, expected: SLOT_MESSAGES_VERSION },
        'a slot speaks another version of the slot messages; finish the upgrade by restarting the appliance',
      );
      this.kill('slot_died');
      return;
    }
    switch (message.type) {
      case 'ready':
        if (this.state !== 'starting') return;
        this.models = message.models;
        this.lastHeartbeatAtMs = monotonicMs();
        this.becomeIdle();
        this.logger.info(
          { slot: this.slotId, slot_pid: this.pid, warmup_ms: message.warmupMs },
          'slot is ready',
        );
        this.listener.ready(this);
        return;
      case 'heartbeat':
        this.lastHeartbeatAtMs = monotonicMs();
        this.rssBytes = message.rssBytes;
        this.firstRssBytes ??= message.rssBytes;
        return;
      case 'session':
        if (this.call?.callId !== message.callId) return;
        this.call.maxCallSeconds = message.maxCallSeconds;
        this.call.sessionId = message.sessionId;
        return;
      case 'carrier_call':
        if (this.call?.callId !== message.callId) return;
        this.call.callSid = message.callSid;
        this.listener.identified(this);
        return;
      case 'finished':
        // A repeat, or an answer to a call that is not ours, must not free a lease.
        if (this.call?.callId !== message.callId) return;
        this.endCall(this.call, message.hasResult);
        return;
      case 'desk_notes':
        if (this.call?.callId === message.callId) this.call.handedOver = true;
        this.listener.news(this, message);
        return;
      default:
        this.listener.news(this, message);
    }
  }

  private endCall(call: LiveCall, hasResult: boolean): void {
    this.call = null;
    this.becomeIdle();
    if (this.leaving) this.expectExit(LEAVE_TIMEOUT_MS);
    this.listener.finished(this, call, hasResult);
  }

  private becomeIdle(): void {
    this.state = 'idle';
    this.idleSinceMs = monotonicMs();
  }

  private onChannelLost(): void {
    if (this.state === 'ended' || this.leaving) return;
    this.expectExit(CHANNEL_LOST_GRACE_MS);
  }

  private expectExit(withinMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.kill('slot_died'), withinMs);
  }

  private onExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.leaving && this.killedFor === null && code === 0 && this.call === null) {
      this.end({ kind: 'left' });
      return;
    }
    const detail = signal ? `signal ${signal}` : code === null ? 'could not be started' : `exit code ${code}`;
    this.end({ kind: 'died', cause: this.killedFor ?? 'slot_died', detail });
  }

  private end(ending: SlotEnding): void {
    if (this.state === 'ended') return;
    clearTimeout(this.timer);
    const { call } = this;
    this.state = 'ended';
    this.call = null;
    this.listener.ended(this, ending, call);
  }
}

/** The session that a dialler has chosen for the call of an order; null where it has chosen none. */
export function orderedSession(connected: ConnectedMessage): string | null {
  return textOrNull(connected._campaign_session_id);
}

function slotEnvironment(): Record<string, string> {
  // glibc keeps an arena per thread; two of them save a slot 18 MB of private memory.
  const env: Record<string, string> = { MALLOC_ARENA_MAX: '2' };
  for (const name of ENVIRONMENT) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
