import type { RemoteParticipant, RemoteTrackPublication, Room } from '@livekit/rtc-node';
import type { MediaServerAccess } from '../../contracts/rooms.ts';
import { AppError, describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { BotAudio } from './bot-audio.ts';
import { BreakWatch } from './break-watch.ts';
import { forgetRoom, loadRtc, type RtcSdk } from './load-rtc.ts';
import { PersonAudio } from './person-audio.ts';
import { type OnPerson, RoomPeople, type RoomPerson, reasonName } from './room-people.ts';
import { RoomWords } from './room-words.ts';

export type { RoomPerson } from './room-people.ts';

/** What a room tells whoever holds its link. Nothing is told any more after `onGone` or `leave()`. */
export interface RoomHandlers {
  /** Somebody comes, goes or changes attributes. Who is there already is told by `people()`, not here. */
  onPerson: OnPerson;
  /** A key of a SIP leg. */
  onDtmf(identity: string, digit: string): void;
  onData(identity: string, topic: string, text: string): void;
  /** The connection to the media server broke and is being made anew; or it stands again. */
  onState(state: 'reconnecting' | 'reconnected'): void;
  /**
   * The room is lost: `participant_removed`, `room_deleted`, `room_closed`, `duplicate_identity`, or `server_gone` where
   * the media server did not come back in time.
   */
  onGone(reason: string): void;
}

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

/** The media server answers a join within this, or the call does not come about. */
const JOIN_BOUND_MS = 6_000;
/** The token of a join; the media server gives newer ones to whoever stays. */
const TOKEN_TTL_S = 3_600;
const LEAVE_BOUND_MS = 3_000;

/**
 * Joins a room. Subscribes to nobody and publishes nothing yet. Loads the real-time SDK at the first call in this
 * process. Rejects with `media_unavailable` where the room is not joined within 6 s.
 */
export async function joinRoom(order: JoinOrder): Promise<RoomLink> {
  const rtc = loadRtc(order.logger);
  const { MediaServer, socketUrl } = await import('../../platform/media-server.ts');
  const token = await new MediaServer(order.access).token({
    room: order.roomName,
    identity: order.identity,
    name: order.name,
    ttlS: TOKEN_TTL_S,
    canPublish: true,
    canSubscribe: true,
    canPublishData: true,
    ...(order.attributes === undefined ? {} : { attributes: order.attributes }),
  });
  const room = new rtc.Room();
  const link = new RoomLink(rtc, room, order);
  const joining = room.connect(socketUrl(order.access.url), token, { autoSubscribe: false, dynacast: false });
  try {
    const late = Symbol('late');
    const first = await within(joining, JOIN_BOUND_MS, late);
    if (first === late) {
      // It may still come about, and nobody would leave the room.
      joining.then(() => room.disconnect()).catch(() => undefined);
      throw new Error(`no answer within ${JOIN_BOUND_MS / 1000} s`);
    }
  } catch (error) {
    throw new AppError('media_unavailable', `the room cannot be joined: ${describeError(error)}`, {
      cause: error,
    });
  }
  link.joined();
  return link;
}

/** One participant of ours in one room: its voice, whom it hears, who is there, words and keys. */
export class RoomLink {
  handlers: RoomHandlers;
  readonly roomName: string;
  /** The SDK's room, for tests that break its connection. */
  readonly room: Room;
  private readonly rtc: RtcSdk;
  private readonly logger: Logger;
  private readonly people_: RoomPeople;
  private readonly words: RoomWords;
  private readonly voices = new Map<string, PersonAudio>();
  private audio: BotAudio | null = null;
  private publishing: Promise<void> | null = null;
  private leaving: Promise<void> | null = null;
  private readonly breaks: BreakWatch;
  /** Why the room was lost; null while it is not. */
  goneReason: string | null = null;

  constructor(rtc: RtcSdk, room: Room, order: Pick<JoinOrder, 'handlers' | 'roomName' | 'logger'>) {
    this.rtc = rtc;
    this.room = room;
    this.handlers = order.handlers;
    this.roomName = order.roomName;
    this.logger = order.logger;
    this.words = new RoomWords(room, order.logger);
    this.people_ = new RoomPeople(rtc, room, (kind, person, reason) => {
      if (!this.isOver) this.handlers.onPerson(kind, person, reason);
    });
    this.breaks = new BreakWatch({
      framesHeard: () => [...this.voices.values()].reduce((sum, voice) => sum + voice.frames, 0),
      isAnybodyThere: () => [...this.voices.keys()].some((identity) => room.remoteParticipants.has(identity)),
      makeAnew: () => this.makeAnew(),
      onGivenUp: () => this.lose('server_gone'),
    });
    this.watch();
  }

  /** Everybody else in the room, hidden ones excepted. */
  people(): RoomPerson[] {
    return this.people_.all();
  }

  /** Makes the bot's voice heard; for a SIP caller that rings this is the answer. The same promise when called again. */
  publish(): Promise<void> {
    this.publishing ??= this.openAudio().publish(this.rtc, this.room);
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
    const voice = new PersonAudio(this.rtc, this.room, identity, onFrame, this.logger);
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

  /** The room is joined. */
  joined(): void {
    this.people_.begin();
  }

  private get isOver(): boolean {
    return this.goneReason !== null || this.leaving !== null;
  }

  private openAudio(): BotAudio {
    this.audio ??= new BotAudio(this.rtc);
    return this.audio;
  }

  private watch(): void {
    const { room } = this;
    room.on(
      'participantConnected',
      told((person) => this.people_.came(person)),
    );
    room.on(
      'participantDisconnected',
      told((person) => this.people_.went(person)),
    );
    const onChange = told((_: unknown, person: { identity: string }) => {
      const participant = room.remoteParticipants.get(person.identity);
      if (participant) this.people_.changed(participant);
    });
    room.on('participantAttributesChanged', onChange);
    room.on('participantNameChanged', onChange);
    room.on(
      'trackPublished',
      told((track, person) => this.voices.get(person?.identity)?.published(track)),
    );
    room.on(
      'trackSubscribed',
      told((track, publication, person) => this.voices.get(person.identity)?.subscribed(track, publication)),
    );
    const onUnsubscribed = (publication: RemoteTrackPublication, person: RemoteParticipant) =>
      this.voices.get(person.identity)?.unsubscribed(publication);
    room.on(
      'trackUnsubscribed',
      told((_track, publication, person) => onUnsubscribed(publication, person)),
    );
    room.on(
      'dtmfReceived',
      told((_code, digit, person) => {
        if (!this.isOver) this.handlers.onDtmf(person?.identity ?? '', digit);
      }),
    );
    room.on(
      'dataReceived',
      told((bytes, person, _kind, topic) => {
        const text = this.words.read(bytes);
        if (text !== null && !this.isOver) this.handlers.onData(person?.identity ?? '', topic ?? '', text);
      }),
    );
    room.on(
      'reconnecting',
      told(() => this.onReconnecting()),
    );
    room.on(
      'reconnected',
      told(() => this.onReconnected()),
    );
    room.on(
      'disconnected',
      told((reason) => this.onDisconnected(reason)),
    );
  }

  private onReconnecting(): void {
    if (this.isOver) return;
    this.breaks.broke();
    this.handlers.onState('reconnecting');
  }

  private onReconnected(): void {
    if (this.isOver) return;
    for (const voice of this.voices.values()) voice.listen();
    this.people_.lookAgain();
    this.breaks.stands();
    this.handlers.onState('reconnected');
  }

  /** What the SDK does by itself after a break, once more and from the beginning. */
  private makeAnew(): void {
    if (this.isOver) return;
    this.logger.warn('the connection to the media server stands and carries nothing; it is made anew');
    const { SIMULATE_FULL_RECONNECT } = this.rtc.SimulateScenarioKind;
    this.room.simulateScenario(SIMULATE_FULL_RECONNECT).catch((error: unknown) => {
      this.logger.warn({ err: describeError(error) }, 'the connection could not be made anew');
    });
  }

  private onDisconnected(reason: number): void {
    const name = reasonName(this.rtc, reason);
    this.lose(['unknown_reason', 'signal_close', 'server_shutdown'].includes(name) ? 'server_gone' : name);
  }

  private lose(reason: string): void {
    if (this.isOver) return;
    this.goneReason = reason;
    this.stopListening();
    this.handlers.onGone(reason);
  }

  private stopListening(): void {
    this.breaks.stop();
    this.people_.close();
    for (const identity of [...this.voices.keys()]) this.unhear(identity);
  }

  private async end(): Promise<void> {
    this.stopListening();
    this.audio?.clear();
    try {
      await within(this.room.disconnect(), LEAVE_BOUND_MS, undefined);
      await this.audio?.close();
    } catch (error) {
      this.logger.warn({ err: describeError(error) }, 'the room was not left in order');
    }
    this.room.removeAllListeners();
    forgetRoom(this.room);
  }
}

/**
 * The SDK calls its listeners inside a promise of its own, where an error of ours would be taken for one of the SDK's:
 * it is thrown outside of it, as one of a socket's listeners would be.
 */
function told<A extends unknown[]>(listener: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  };
}
