import {
  BRIDGED_CALLER_PREFIX,
  callRoomName,
  type MediaServerAccess,
  type RoomOwner,
} from '../../contracts/rooms.ts';
import { closeRoom } from '../../platform/end-room.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';
import type { RoomLink } from '../room/room-link.ts';
import type { LineRemark } from '../transport/call-transport.ts';
import { type HandoffRoom, type HandoffRoomWatch, isAgent, isTalker } from './handoff-room.ts';
import { talkersOf, tellGone } from './joined-room.ts';

export interface BridgedRoomParts {
  access: MediaServerAccess;
  callId: string;
  botId: string;
  /** Writes down that the call has a room now, before it has one. */
  nameRoom(room: string): Promise<void>;
  remark: LineRemark;
  logger: Logger;
}

/**
 * A room for a caller on a socket (D-44): made when the caller is to be handed over, with the slot in it in
 * the caller's name. The real-time SDK is loaded only then.
 */
export class BridgedRoom implements HandoffRoom {
  readonly isBridge = true;
  readonly room: string;
  readonly caller: string;
  private readonly parts: BridgedRoomParts;
  private opening: Promise<void> | null = null;
  private link: RoomLink | null = null;
  private media: MediaServer | null = null;
  private watcher: HandoffRoomWatch | null = null;
  private leaving: Promise<void> | undefined;

  constructor(parts: BridgedRoomParts) {
    this.parts = parts;
    this.room = callRoomName(parts.callId);
    this.caller = `${BRIDGED_CALLER_PREFIX}${parts.callId.slice(0, 8)}`;
  }

  open(): Promise<void> {
    this.opening ??= this.make().catch(async (error: unknown) => {
      // The next attempt begins from nothing.
      this.opening = null;
      await this.unmake();
      throw error;
    });
    return this.opening;
  }

  watch(watch: HandoffRoomWatch): void {
    this.watcher = watch;
  }

  talkers(): string[] {
    return this.link ? talkersOf(this.link) : [];
  }

  hear(identity: string, onAudio: (wide: Int16Array) => void): void {
    this.link?.hear(identity, onAudio);
  }

  unhear(identity: string): void {
    this.link?.unhear(identity);
  }

  send(samples: Int16Array): void {
    this.link?.sendAudio(samples);
  }

  async mark(): Promise<void> {
    // It has said so since it was made: nothing but a handoff is ever in it.
  }

  leave(): Promise<void> {
    this.leaving ??= this.unmake();
    return this.leaving;
  }

  private async make(): Promise<void> {
    const { access, callId, botId, logger } = this.parts;
    const [{ MediaServer }, { joinRoom }] = await Promise.all([
      import('../../platform/media-server.ts'),
      import('../room/room-link.ts'),
    ]);
    await this.parts.nameRoom(this.room);
    const media = new MediaServer(access);
    const owner: RoomOwner = {
      trunkline: { host: '', call_id: callId, bot_id: botId, handed_over: true },
    };
    await media.createRoom(this.room, JSON.stringify(owner));
    // From here on there is a room to close. Where the server cannot be reached there is none, and nobody waits for it.
    this.media = media;
    this.link = await joinRoom({
      access,
      roomName: this.room,
      identity: this.caller,
      name: 'Caller',
      handlers: {
        onPerson: (kind, person) => {
          if (kind !== 'changed' && isTalker(person.identity)) this.watcher?.onPeople();
        },
        onDtmf: () => undefined,
        onData: () => undefined,
        onState: (status, detail) => this.parts.remark('room_connection', { status, ...detail }),
        onUnheard: () => this.watcher?.onLost('an agent speaks and cannot be heard'),
        onGone: (reason) => {
          if (this.watcher) tellGone(this.watcher, reason);
          // Lost before the caller was handed over: it is made anew when it is needed.
          else this.forget();
        },
      },
      logger,
    });
    await this.link.publish();
  }

  private forget(): void {
    const { link } = this;
    this.link = null;
    this.opening = null;
    void link?.leave();
  }

  /** The room goes with the caller, unless somebody is in it: they are the desk's to send away. */
  private async unmake(): Promise<void> {
    const { link, media } = this;
    this.link = null;
    const isEmpty = !link?.people().some(({ identity }) => isAgent(identity));
    await link?.leave();
    if (!isEmpty || !media) return;
    const { status, reason } = await closeRoom(media, this.room);
    if (status === 'failed') {
      this.parts.logger.warn(
        { err: reason },
        'the room of a handoff could not be closed; the media server closes it when it has stood empty',
      );
    }
  }
}
