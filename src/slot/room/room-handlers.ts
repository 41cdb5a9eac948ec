import type { OnPerson } from './room-people.ts';

/**
 * What becomes of the connection: it broke and is being made anew; the SDK has taken it up again; a track that stayed
 * silent was asked for anew; we have joined anew, since it carried nothing or did not come back; or even that has not
 * brought a sound of somebody who speaks.
 */
export type RoomState = 'reconnecting' | 'reconnected' | 'asked_anew' | 'joined_anew' | 'unheard';

/** What a room tells whoever holds its link. Nothing is told any more after `onGone` or `leave()`. */
export interface RoomHandlers {
  /** Somebody comes, goes or changes attributes. Who is there already is told by `people()`, not here. */
  onPerson: OnPerson;
  /** A key of a SIP leg. */
  onDtmf(identity: string, digit: string): void;
  onData(identity: string, topic: string, text: string): void;
  /** For the record of the call: `detail` says why, and how long the connection was away. */
  onState(state: RoomState, detail: { reason?: string; duration_ms?: number }): void;
  /** Somebody who is listened to is in the room with a microphone, and no fresh join has brought a sound of it. */
  onUnheard(identity: string): void;
  /**
   * The room is lost: `participant_removed`, `room_deleted`, `room_closed`, `duplicate_identity`, or `server_gone` where
   * the media server did not come back in time.
   */
  onGone(reason: string): void;
}
