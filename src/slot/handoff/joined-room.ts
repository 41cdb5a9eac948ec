import type { RoomOwner } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';
import type { RoomHandlers } from '../room/room-handlers.ts';
import type { RoomLink } from '../room/room-link.ts';
import { type HandoffRoom, type HandoffRoomWatch, isTalker } from './handoff-room.ts';

export interface RoomPlaceParts {
  link: RoomLink;
  media: Pick<MediaServer, 'setRoomMetadata'>;
  owner: RoomOwner;
  customer: string;
  /** The line of the call lets go of the room: it neither hangs up nor closes anything from then on. */
  handBack(): void;
  logger: Logger;
}

/** The room that a call is in already: the agent comes into it, and the slot goes. */
export class JoinedRoom implements HandoffRoom {
  readonly isBridge = false;
  private readonly parts: RoomPlaceParts;
  private leaving: Promise<void> | undefined;

  constructor(parts: RoomPlaceParts) {
    this.parts = parts;
  }

  get room(): string {
    return this.parts.link.roomName;
  }

  get caller(): string {
    return this.parts.customer;
  }

  async open(): Promise<void> {
    // The caller stands in it.
  }

  watch(watch: HandoffRoomWatch): void {
    const { link, customer } = this.parts;
    // The line of the call goes on hearing of everything, and judges a caller who leaves by themselves; what concerns the
    // handoff is told first.
    const line = link.handlers;
    link.handlers = {
      ...boundTo(line),
      onPerson(kind, person, reason) {
        const isRemoved = reason === 'participant_removed' || reason === 'room_deleted';
        if (person.identity === customer && kind === 'left' && isRemoved) {
          watch.onEnded('the customer was sent out of the room');
        } else if (kind !== 'changed' && isTalker(person.identity)) watch.onPeople();
        line.onPerson(kind, person, reason);
      },
      onGone(reason) {
        tellGone(watch, reason);
        line.onGone(reason);
      },
    };
  }

  talkers(): string[] {
    return talkersOf(this.parts.link);
  }

  hear(identity: string, onAudio: (wide: Int16Array) => void): void {
    this.parts.link.hear(identity, onAudio);
  }

  unhear(identity: string): void {
    this.parts.link.unhear(identity);
  }

  send(): void {
    // The room hears the caller without us.
  }

  async mark(handedOver: boolean): Promise<void> {
    const { media, owner, logger } = this.parts;
    const marked: RoomOwner = { trunkline: { ...owner.trunkline, handed_over: handedOver } };
    try {
      await media.setRoomMetadata(this.room, JSON.stringify(marked));
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'the room could not be marked as handed over');
    }
  }

  leave(): Promise<void> {
    this.leaving ??= this.goAway();
    return this.leaving;
  }

  private async goAway(): Promise<void> {
    this.parts.handBack();
    await this.parts.link.leave();
  }
}

/** The handlers by themselves: whoever holds the link may be an object with a life. */
function boundTo(line: RoomHandlers): RoomHandlers {
  return {
    onPerson: (kind, person, reason) => line.onPerson(kind, person, reason),
    onDtmf: (identity, digit) => line.onDtmf(identity, digit),
    onData: (identity, topic, text) => line.onData(identity, topic, text),
    onState: (state, detail) => line.onState(state, detail),
    onUnheard: (identity) => line.onUnheard(identity),
    onGone: (reason) => line.onGone(reason),
  };
}

export function talkersOf(link: Pick<RoomLink, 'people'>): string[] {
  return link
    .people()
    .map(({ identity }) => identity)
    .filter(isTalker);
}

/** The end of a room by somebody's order, or because its server is away. */
export function tellGone(watch: HandoffRoomWatch, reason: string): void {
  if (reason === 'server_gone' || reason === 'duplicate_identity') watch.onLost(reason);
  else watch.onEnded(reason);
}
