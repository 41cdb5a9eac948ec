import { BOT_PREFIX } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs, sleepMs, within } from '../../platform/clock.ts';
import { closeRoom, hangUpParticipant } from '../../platform/end-room.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';
import { HalveRate } from '../audio/half-rate.ts';
import type {
  LineLoss,
  LineRemark,
  SocketTransport,
  TransferRequest,
  TransferResult,
  TransportHandlers,
} from '../transport/call-transport.ts';
import { ROOM_HEARING_HZ } from './person-audio.ts';
import { PlayoutMarks } from './playout-marks.ts';
import { type Absence, Presence } from './presence.ts';
import type { RoomHandlers } from './room-handlers.ts';
import type { RoomLink, RoomPerson } from './room-link.ts';

/**
 * How far the pacer runs ahead of the native queue. The queue is ours and is dropped at once, so this costs no
 * quickness; it is what a busy loop may be late by before the customer hears it (D-61).
 */
const PACER_LEAD_MS = 200;
/** From our queue to an ear: coding, two jitter buffers, a telephone. A hang-up must not cut the last word. */
const TAIL_MS = 200;
/** Of one line of the transcript on a screen: below a message's 15 kB in any script. */
const MAX_LINE_CHARS = 4_500;
/** livekit-sip ends a leg that has not sent a packet 30 s after its answer (`media_timeout_initial`). */
const MUTE_LEG_MS = 25_000;
const MUTE_LEG = 'no sound ever came from the telephone; check that its audio (RTP) reaches the SIP service';
/** While a transfer runs, the SIP side says within this whether the leg that went is the transfer. */
const TRANSFER_WORD_MS = 1_000;
/** Ends of a leg that may be breaks of a connection: the same person may come back. */
const BREAKS = ['lost', 'connection_timeout', 'signal_close', 'server_shutdown'];
/** The customer's own doing, or that of the telephone behind a SIP leg. */
const FAREWELLS = ['client_initiated', 'user_unavailable', 'user_rejected'];

/** A transfer that is under way on the SIP side. */
export interface RoomTransfer {
  /** The customer's leg is gone; resolves once it is known whether that was the transfer. */
  customerLeft(): Promise<void>;
}

export interface RoomTransportOptions {
  link: RoomLink;
  /** Identity of the one customer. */
  customer: string;
  media: Pick<MediaServer, 'removeParticipant' | 'participant' | 'deleteRoom' | 'participants'>;
  roomName: string;
  isSip: boolean;
  remark: LineRemark;
  logger: Logger;
  /** Passes a SIP leg on (REFER); without it the line knows no transfer. */
  startTransfer?: (request: TransferRequest, onResult: (result: TransferResult) => void) => RoomTransfer;
  /** How long the answer to a transfer may take. */
  transferWaitMs?: number;
  /** Waits of RT-63 as a share of the true ones; only tests bring one. */
  timeScale?: number;
}

/**
 * A room with one customer in it as the line of a call (RT-62): the customer alone is heard, at 16 kHz and at 8 kHz, and
 * hears the bot. The link is given; hanging up removes the customer, leaves, and closes the room.
 */
export class RoomTransport implements SocketTransport {
  readonly wideHz = ROOM_HEARING_HZ;
  readonly echoesItself = true;
  readonly leadMs = PACER_LEAD_MS;
  readonly transferMethod?: 'livekit_sip_refer';
  readonly transferWaitMs?: number;
  readonly sendTransfer?: (request: TransferRequest) => 'asked' | 'impossible';
  readonly sendDtmf?: (keys: string) => void;
  private readonly options: RoomTransportOptions;
  private readonly link: RoomLink;
  private readonly presence: Presence;
  private readonly marks = new PlayoutMarks(monotonicMs, (name) => this.tell()?.onMark(name));
  private readonly halve = new HalveRate();
  private narrow = new Int16Array(0);
  private readonly counts: Record<string, number> = {};
  private handlers: TransportHandlers | undefined;
  private transfer: RoomTransfer | null = null;
  private spokenUntilMs = Number.NEGATIVE_INFINITY;
  private wasLostByUs = false;
  private isReady = false;
  private readyAtMs = Number.POSITIVE_INFINITY;
  /** A telephone that sends anything at all is never quite silent. */
  private heardSound = false;
  /** Nothing is told any more: the line is lost, or we ended it. */
  private isOver = false;
  private isHandedBack = false;
  private ending: Promise<void> | null = null;

  constructor(options: RoomTransportOptions) {
    this.options = options;
    this.link = options.link;
    this.presence = new Presence(monotonicMs, options.timeScale);
    if (options.transferWaitMs !== undefined) this.transferWaitMs = options.transferWaitMs;
    if (options.isSip) {
      // On other lines keys are sent as tones in the audio.
      this.sendDtmf = (keys) => this.link.sendDtmf(keys);
    }
    if (options.startTransfer) {
      this.transferMethod = 'livekit_sip_refer';
      this.sendTransfer = (request) => this.askForTransfer(request);
    }
  }

  /** From here on this transport owns the link's handlers, and the customer is heard. */
  attach(handlers: TransportHandlers): void {
    this.handlers = handlers;
    this.link.handlers = this.roomHandlers;
    const { customer, isSip } = this.options;
    const isThere = this.link.people().some((person) => person.identity === customer);
    if (isThere) this.presence.came();
    this.link.hear(customer, (wide) => this.onAudio(wide));
    const { goneReason } = this.link;
    if (goneReason !== null) queueMicrotask(() => this.onGone(goneReason));
    else if (!isThere && isSip)
      queueMicrotask(() => this.stopped('the customer hung up before the bot began'));
  }

  get unplayedMs(): number {
    return this.link.queuedMs;
  }

  ready(_sessionId: string): void {
    this.isReady = true;
    this.readyAtMs = monotonicMs();
    this.link.publish().catch((error: unknown) => {
      const reason = `the media server does not take the bot's voice: ${describeError(error)}`;
      this.lose({ kind: 'broken', reason, isOurs: true });
    });
  }

  sendAudio(frame: Int16Array): void {
    if (this.isOver) return;
    this.link.sendAudio(frame);
    this.spokenUntilMs = monotonicMs() + this.link.queuedMs;
  }

  sendClear(): void {
    this.link.clear();
    this.marks.clear();
    this.spokenUntilMs = Math.min(this.spokenUntilMs, monotonicMs());
  }

  sendMark(name: string): void {
    if (!this.isOver) this.marks.add(name, this.link.queuedMs);
  }

  /** A line of the transcript for the customer's screen (data message `transcript`); not part of the call's record. */
  tellTranscript(line: { speaker: string; text: string; final: boolean; timestamp: number }): void {
    const { speaker, final, timestamp } = line;
    if (this.isOver) return;
    const text = line.text.length > MAX_LINE_CHARS ? `${line.text.slice(0, MAX_LINE_CHARS)}…` : line.text;
    this.link.say('transcript', JSON.stringify({ speaker, text, final, timestamp }), [this.options.customer]);
  }

  hangUp(reason: string): Promise<void> {
    if (this.isHandedBack) return Promise.resolve();
    this.ending ??= this.endLeg(reason);
    return this.ending;
  }

  /** Leaves and closes the room; a customer who is still in it is sent away with it. */
  close(_code: number, _reason: string): Promise<void> {
    if (this.isHandedBack) return Promise.resolve();
    this.ending ??= this.endRoom();
    return this.ending;
  }

  tick(): void {
    if (this.isOver || this.isHandedBack) return;
    const { customer } = this.options;
    const others = this.link
      .people()
      .filter(({ identity }) => identity !== customer && !identity.startsWith(BOT_PREFIX)).length;
    const absence = this.presence.look(others);
    if (!absence) return;
    const isOurs = absence.kind !== 'never_came' && this.wasLostByUs;
    this.lose({ kind: 'vanished', reason: absenceReason(absence), ...(isOurs ? { isOurs } : {}) });
  }

  noise(): Record<string, number> {
    const { fullMs, refused } = this.link.lostAudio;
    return {
      ...this.counts,
      ...(fullMs > 0 ? { unsent_audio_ms: Math.round(fullMs) } : {}),
      ...(refused > 0 ? { unsent_frames: refused } : {}),
      ...(this.link.lostWords > 0 ? { unsent_messages: this.link.lostWords } : {}),
    };
  }

  /**
   * Gives the room over to somebody else: from here on this transport hears and speaks as before, but ends nothing, and
   * tells nothing of who comes and goes.
   */
  handBack(): { link: RoomLink; customerIdentity: string } {
    this.isHandedBack = true;
    return { link: this.link, customerIdentity: this.options.customer };
  }

  private readonly roomHandlers: RoomHandlers = {
    onPerson: (kind, person, reason) => this.onPerson(kind, person, reason ?? ''),
    onDtmf: (identity, digit) => {
      if (identity === this.options.customer) this.tell()?.onDtmf(digit);
    },
    onData: () => this.count('data_message'),
    onState: (status, detail) => {
      if (!this.isOver) this.options.remark('room_connection', { status, ...detail });
    },
    onUnheard: (identity) => {
      if (identity !== this.options.customer) return;
      this.lose({ kind: 'broken', reason: 'the customer speaks and cannot be heard', isOurs: true });
    },
    onGone: (reason) => this.onGone(reason),
  };

  private onAudio(wide: Int16Array): void {
    if (!this.isReady) {
      this.count('early_audio');
      return;
    }
    this.heardSound ||= wide.some((sample) => sample !== 0);
    if (this.narrow.length !== wide.length >> 1) this.narrow = new Int16Array(wide.length >> 1);
    this.halve.block(wide, this.narrow);
    if (!this.isOver) this.handlers?.onAudio(this.narrow, wide);
  }

  private onPerson(kind: 'joined' | 'left' | 'changed', person: RoomPerson, reason: string): void {
    if (person.identity !== this.options.customer || this.isHandedBack) return;
    if (kind !== 'left') {
      this.presence.came();
    } else if (BREAKS.includes(reason)) {
      this.presence.vanished();
      // Nobody said goodbye and no connection of theirs was seen to break: it was ours.
      this.wasLostByUs = reason === 'lost';
      this.options.remark('room_connection', { status: 'customer_lost', reason });
    } else {
      void this.customerLeft(reason);
    }
  }

  private async customerLeft(reason: string): Promise<void> {
    this.presence.vanished();
    // A leg that was passed on ends like one that hung up; which it was is not known yet.
    if (this.transfer) await within(this.transfer.customerLeft(), TRANSFER_WORD_MS, undefined);
    if (FAREWELLS.includes(reason)) this.stopped('the customer hung up');
    else if (reason === 'participant_removed') {
      this.lose({ kind: 'closed', reason: 'the customer was sent out of the room', isOurs: true });
    } else if (reason === 'room_deleted' || reason === 'room_closed') this.onGone(reason);
    else this.lose({ kind: 'broken', reason: `the customer's leg failed: ${reason}`, isOurs: true });
  }

  private onGone(reason: string): void {
    if (reason === 'server_gone') {
      this.lose({ kind: 'broken', reason: 'the media server is gone', isOurs: true });
    } else {
      this.lose({ kind: 'closed', reason: `the room was lost: ${reason}`, isOurs: true });
    }
  }

  /**
   * The SIP service tells a leg that it gave up for want of packets like one that was hung up. Where no sound at all
   * came for as long as it waits for them, it is taken for that (RT-03).
   */
  private stopped(reason: string): void {
    const isMute = this.options.isSip && !this.heardSound && monotonicMs() - this.readyAtMs > MUTE_LEG_MS;
    if (isMute) this.lose({ kind: 'vanished', reason: MUTE_LEG, isOurs: true });
    else this.tell()?.onStop(reason);
  }

  private lose(loss: LineLoss): void {
    const told = this.tell();
    this.isOver = true;
    told?.onGone(loss);
  }

  /** Whoever is to be told of the line; nobody once it is over or somebody else's. */
  private tell(): TransportHandlers | undefined {
    return this.isOver || this.isHandedBack ? undefined : this.handlers;
  }

  private askForTransfer(request: TransferRequest): 'asked' | 'impossible' {
    const { startTransfer } = this.options;
    if (this.isOver || !startTransfer) return 'impossible';
    this.transfer = startTransfer(request, (result) => {
      this.transfer = null;
      this.tell()?.onTransferResult?.(result);
    });
    return 'asked';
  }

  private async endLeg(reason: string): Promise<void> {
    const { media, roomName, customer, remark, logger } = this.options;
    this.isOver = true;
    const tailMs = this.spokenUntilMs + TAIL_MS - monotonicMs();
    if (tailMs > 0) await sleepMs(Math.min(tailMs, PACER_LEAD_MS + TAIL_MS));
    const end = await hangUpParticipant(media, roomName, customer);
    remark('hung_up', { status: end.status, attempts: end.attempts, duration_ms: end.durationMs });
    if (end.status === 'failed')
      logger.error({ reason }, 'the customer could not be hung up; the room is closed');
    await this.endRoom();
  }

  private async endRoom(): Promise<void> {
    const { media, roomName, logger } = this.options;
    this.isOver = true;
    this.marks.clear();
    // First of all: who is still in the room is sent away by it, and it is gone when the call is told as over.
    const end = await closeRoom(media, roomName);
    await this.link.leave();
    if (end.status === 'failed') logger.error('the room could not be closed; the reconciler will find it');
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

function absenceReason({ kind, afterMs }: Absence): string {
  const seconds = Math.round(afterMs / 1000);
  switch (kind) {
    case 'never_came':
      return `the customer did not come into the room within ${seconds} s`;
    case 'left_alone':
      return `the customer was gone from the room for ${seconds} s`;
    case 'others_only':
      return `the customer was gone for ${seconds} s, and only others stayed in the room`;
  }
}
