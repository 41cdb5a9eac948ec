import type { Room } from '@livekit/rtc-node';
import type { MediaServerAccess } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { MediaServer } from '../../platform/media-server.ts';
import { BotAudio } from './bot-audio.ts';
import { BreakWatch } from './break-watch.ts';
import { HearingWatch, LOOK_MS } from './hearing-watch.ts';
import { loadRtc, type RtcSdk } from './load-rtc.ts';
import { PersonAudio } from './person-audio.ts';
import { connectRoom, disconnectRoom, type RoomSeat } from './room-connection.ts';
import { listenToRoom } from './room-events.ts';
import type { RoomHandlers } from './room-handlers.ts';
import { RoomPeople, type RoomPerson, reasonName } from './room-people.ts';
import { RoomWords } from './room-words.ts';

export type { RoomPerson } from './room-people.ts';

export interface JoinOrder {
  access: MediaServerAccess;
  roomName: string;
  /** Unique in the room: a second one of the same name throws the first one out. */
  identity: string;
  name: string;
  attributes?: Record<string, string>;
  /** Who is told first; `RoomLink.handlers` may be changed at any time. */
  handlers: RoomHandlers;
  logger: Logger;
}

/** Ends of a connection that somebody wanted, or that a fresh join would only repeat; all others are healed by one. */
const FINAL_ENDS = [
  'participant_removed',
  'room_deleted',
  'room_closed',
  'duplicate_identity',
  'client_initiated',
];
/** Between two attempts to join anew, while the media server is away; BREAK_BOUND_MS ends them. */
const JOIN_PAUSE_MS = 500;

/**
 * Joins a room. Subscribes to nobody and publishes nothing yet. Loads the real-time SDK at the first call in this
 * process. Rejects with `media_unavailable` where the room is not joined within 6 s.
 */
export async function joinRoom(order: JoinOrder): Promise<RoomLink> {
  const link = new RoomLink(loadRtc(order.logger), order);
  await link.join();
  return link;
}

/**
 * One participant of ours in one room: its voice, whom it hears, who is there, words and keys. All of it outlives the
 * SDK's connection: where that carries nothing, another one takes its place under the same identity.
 */
export class RoomLink {
  handlers: RoomHandlers;
  readonly roomName: string;
  /** The SDK's connection of the moment; before the first join one that is not used. */
  room: Room;
  private readonly rtc: RtcSdk;
  private readonly media: MediaServer;
  private readonly seat: RoomSeat;
  private readonly logger: Logger;
  private readonly people_: RoomPeople;
  private readonly words: RoomWords;
  private readonly voices = new Map<string, PersonAudio>();
  private audio: BotAudio | null = null;
  private publishing: Promise<void> | null = null;
  private leaving: Promise<void> | null = null;
  private joiningAnew: Promise<void> | null = null;
  /** Former connections that are being left. */
  private readonly partings = new Set<Promise<void>>();
  private readonly breaks: BreakWatch;
  private readonly hearing: HearingWatch;
  private looking: NodeJS.Timeout | undefined;
  /** Since when the connection is broken; null while it stands. */
  private awayAtMs: number | null = null;
  /** Why the room was lost; null while it is not. */
  goneReason: string | null = null;

  constructor(rtc: RtcSdk, order: JoinOrder) {
    this.rtc = rtc;
    this.handlers = order.handlers;
    this.roomName = order.roomName;
    this.logger = order.logger;
    this.media = new MediaServer(order.access);
    this.seat = { ...order, url: order.access.url };
    this.room = new rtc.Room();
    const room = () => this.room;
    this.words = new RoomWords(room, order.logger);
    this.people_ = new RoomPeople(rtc, room, (kind, person, reason) => {
      if (!this.isOver) this.handlers.onPerson(kind, person, reason);
    });
    this.breaks = new BreakWatch({
      onOverdue: () => void this.joinAnew('the connection did not come back by itself'),
      onGivenUp: () => this.lose('server_gone'),
    });
    this.hearing = new HearingWatch({
      voices: () => this.voices.values(),
      hasMicrophone: (identity) => this.hasMicrophone(identity),
      onAskedAnew: () => this.handlers.onState('asked_anew', {}),
      joinAnew: (reason) => this.joinAnew(reason),
      onGivenUp: (identity) => {
        if (this.isOver) return;
        this.handlers.onState('unheard', {});
        this.handlers.onUnheard(identity);
      },
    });
  }

  /** Makes the first connection; joinRoom does it. */
  async join(): Promise<void> {
    this.room = await this.connect();
    this.people_.begin();
    this.lookLater();
  }

  /** Everybody else in the room, hidden ones excepted. */
  people(): RoomPerson[] {
    return this.people_.all();
  }

  /** Makes the bot's voice heard; for a SIP caller that rings this is the answer. The same promise when called again. */
  publish(): Promise<void> {
    this.publishing ??= this.publishHere();
    return this.publishing;
  }

  /** Queues audio at 8 kHz; the memory is the caller's again when this returns. */
  sendAudio(frame: Int16Array): void {
    if (!this.isOver) this.openAudio().send(frame);
  }

  /** Drops all that was sent and has not left yet. */
  clear(): void {
    this.audio?.clear();
  }

  /** What was sent and has not left yet. */
  get queuedMs(): number {
    return this.audio?.queuedMs ?? 0;
  }

  /** Audio that was lost on our side: the queue was full, or the SDK refused a frame. */
  get lostAudio(): { fullMs: number; refused: number } {
    return this.audio?.lost ?? { fullMs: 0, refused: 0 };
  }

  /** Messages and keys that were not sent. */
  get lostWords(): number {
    return this.words.lost;
  }

  /**
   * Hears somebody's microphone, now or as soon as there is one: 20 ms at 16 kHz a frame, each in memory of its own.
   * Several people can be heard at once, each by a callback of its own; one person only once.
   */
  hear(identity: string, onFrame: (samples: Int16Array) => void): void {
    this.unhear(identity);
    if (this.isOver) return;
    const voice = new PersonAudio(this.rtc, () => this.room, identity, onFrame, this.logger);
    this.voices.set(identity, voice);
    voice.listen();
  }

  unhear(identity: string): void {
    this.voices.get(identity)?.close();
    this.voices.delete(identity);
  }

  /** Sends a data message, to everybody or to some. In order; see RoomWords for what happens where it cannot. */
  say(topic: string, text: string, to?: string[]): void {
    if (!this.isOver) this.words.say(topic, text, to);
  }

  /** Presses keys in the SIP legs of the room, one after the other. */
  sendDtmf(keys: string): void {
    if (!this.isOver) this.words.press(keys);
  }

  /** Leaves the room and gives everything back. Bounded; never rejects. */
  leave(): Promise<void> {
    this.leaving ??= this.end();
    return this.leaving;
  }

  private get isOver(): boolean {
    return this.goneReason !== null || this.leaving !== null;
  }

  private openAudio(): BotAudio {
    this.audio ??= new BotAudio(this.rtc);
    return this.audio;
  }

  private connect(): Promise<Room> {
    return connectRoom(this.rtc, this.media, this.seat, (room) => this.listen(room));
  }

  private listen(room: Room): void {
    listenToRoom(room, {
      onCame: (person) => this.people_.came(person),
      onWent: (person) => this.people_.went(person),
      onChanged: (person) => this.people_.changed(person),
      onPublished: (identity, publication) => this.voices.get(identity)?.published(publication),
      onSubscribed: (identity, track, publication) =>
        this.voices.get(identity)?.subscribed(track, publication),
      onUnsubscribed: (identity, publication) => this.voices.get(identity)?.unsubscribed(publication),
      onDtmf: (identity, digit) => {
        if (!this.isOver) this.handlers.onDtmf(identity, digit);
      },
      onData: (identity, topic, bytes) => {
        const text = this.words.read(bytes);
        if (text !== null && !this.isOver) this.handlers.onData(identity, topic, text);
      },
      onReconnecting: () => this.broke(),
      onReconnected: () => this.stands('reconnected'),
      onDisconnected: (reason) => this.onDisconnected(reasonName(this.rtc, reason)),
    });
  }

  private broke(): void {
    if (this.isOver || this.awayAtMs !== null) return;
    this.awayAtMs = monotonicMs();
    this.breaks.broke();
    this.handlers.onState('reconnecting', {});
  }

  private stands(state: 'reconnected' | 'joined_anew', reason: { reason?: string } = {}): void {
    if (this.isOver) return;
    const awayMs = this.awayAtMs === null ? 0 : Math.round(monotonicMs() - this.awayAtMs);
    this.awayAtMs = null;
    this.breaks.stop();
    for (const voice of this.voices.values()) voice.listen();
    this.people_.lookAgain();
    this.hearing.beginAnew();
    this.handlers.onState(state, { ...reason, duration_ms: awayMs });
  }

  private onDisconnected(reason: string): void {
    if (FINAL_ENDS.includes(reason)) this.lose(reason);
    else if (!this.isOver) void this.joinAnew(`the connection ended: ${reason}`);
  }

  private lookLater(): void {
    this.looking = setTimeout(() => {
      this.look();
      if (!this.isOver) this.lookLater();
    }, LOOK_MS);
  }

  private look(): void {
    const isStanding = this.room.connectionState === this.rtc.ConnectionState.CONN_CONNECTED;
    if (isStanding && !this.isOver && !this.joiningAnew) void this.hearing.look();
  }

  private async hasMicrophone(identity: string): Promise<boolean | null> {
    try {
      return (await this.media.participant(this.roomName, identity))?.hasMicrophone ?? false;
    } catch {
      return null;
    }
  }

  /** Another connection takes the place of this one. Resolves when it stands, or when the room is lost. */
  private joinAnew(reason: string): Promise<void> {
    if (this.isOver) return Promise.resolve();
    this.joiningAnew ??= this.replaceConnection(reason).finally(() => {
      this.joiningAnew = null;
    });
    return this.joiningAnew;
  }

  private async replaceConnection(reason: string): Promise<void> {
    this.logger.warn({ reason }, 'the room is joined anew');
    this.broke();
    for (const voice of this.voices.values()) voice.forget();
    // Not waited for: the media server puts out whoever has the same identity, and the SDK tries nothing more by itself.
    this.part(this.room);
    while (!this.isOver) {
      const room = await this.connect().catch((error: unknown) => {
        this.logger.warn({ err: describeError(error) }, 'the room was not joined anew yet');
        return null;
      });
      if (room?.isConnected && !this.isOver) {
        this.room = room;
        this.publishAgain();
        return this.stands('joined_anew', { reason });
      }
      // Nobody wants it any more, or it broke at once.
      if (room) this.part(room);
      if (!this.isOver) await sleepMs(JOIN_PAUSE_MS);
    }
  }

  private publishAgain(): void {
    if (!this.publishing) return;
    this.publishing = this.publishHere();
    this.publishing.catch(() => this.lose('server_gone'));
  }

  /** A connection that is replaced while it takes the voice leaves that to the next one. */
  private async publishHere(): Promise<void> {
    const room = this.room;
    try {
      await this.openAudio().publish(this.rtc, room);
    } catch (error) {
      if (room === this.room && !this.joiningAnew) throw error;
      await this.joiningAnew;
      if (room === this.room) throw error;
      await this.publishing;
    }
  }

  private part(room: Room): void {
    const parting = disconnectRoom(room, this.logger).finally(() => this.partings.delete(parting));
    this.partings.add(parting);
  }

  private lose(reason: string): void {
    if (this.isOver) return;
    this.goneReason = reason;
    this.stopListening();
    this.handlers.onGone(reason);
  }

  private stopListening(): void {
    clearTimeout(this.looking);
    this.breaks.stop();
    this.people_.close();
    for (const identity of [...this.voices.keys()]) this.unhear(identity);
  }

  private async end(): Promise<void> {
    this.stopListening();
    this.audio?.clear();
    if (!this.joiningAnew) this.part(this.room);
    await this.joiningAnew;
    await Promise.all(this.partings);
    await this.audio?.close();
  }
}
