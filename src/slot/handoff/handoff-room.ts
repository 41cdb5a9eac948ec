import { AGENT_PREFIX, SUPERVISOR_PREFIX } from '../../contracts/rooms.ts';

/** What the place of a handoff tells. */
export interface HandoffRoomWatch {
  /** Somebody came or went who is heard: an agent, a supervisor. */
  onPeople(): void;
  /** By somebody's order, such as the desk's: the room is closed, or the caller or the slot was sent away. */
  onEnded(reason: string): void;
  /** The media server is away for good. */
  onLost(reason: string): void;
}

/**
 * Where a caller meets an agent: the room that their call is in already (JoinedRoom), or one that is made for a caller
 * on a socket (BridgedRoom, D-44).
 */
export interface HandoffRoom {
  readonly room: string;
  /** As who the caller is in the room. */
  readonly caller: string;
  /** The caller's audio goes through the slot, both ways. */
  readonly isBridge: boolean;
  /** Makes the place ready for an agent. Rejects where it cannot be. Again after a failure; at once where it stands. */
  open(): Promise<void>;
  /** From here on the watch is told. */
  watch(watch: HandoffRoomWatch): void;
  /** Identities of those who are heard. */
  talkers(): string[];
  /** 16 kHz, in pieces. */
  hear(identity: string, onAudio: (wide: Int16Array) => void): void;
  unhear(identity: string): void;
  /** The caller's audio at line rate; nothing where the room has it by itself. */
  send(samples: Int16Array): void;
  /** Says in the room's metadata whose it is. Never rejects. */
  mark(handedOver: boolean): Promise<void>;
  /** Goes away. The caller stays where they are, with whoever else is there. Bounded; never rejects. */
  leave(): Promise<void>;
}

export function isTalker(identity: string): boolean {
  return isAgent(identity) || identity.startsWith(SUPERVISOR_PREFIX);
}

export function isAgent(identity: string): boolean {
  return identity.startsWith(AGENT_PREFIX);
}
