import type { RemoteParticipant, Room } from '@livekit/rtc-node';
import type { RtcSdk } from './load-rtc.ts';

export interface RoomPerson {
  identity: string;
  name: string;
  isSip: boolean;
  /** As they are at this moment; a SIP leg tells its state by `sip.callStatus`. */
  attributes: Record<string, string>;
}

/**
 * `reason` stands with `left`: LiveKit's DisconnectReason in lower case (`client_initiated`, `participant_removed`, …),
 * or `lost` for somebody who was no longer there after a break of the connection.
 */
export type OnPerson = (kind: 'joined' | 'left' | 'changed', person: RoomPerson, reason?: string) => void;

/** Somebody whose connection or ours breaks is away for so long without being told as having left. */
const RETURN_MS = 2_000;
/** These are not the end of somebody's presence: the same person comes back at once. */
const PASSING = ['unknown_reason', 'duplicate_identity', 'migration', 'state_mismatch'];
/** A browser says so when it leaves, and when it is about to join again because its connection broke. */
const MAYBE_PASSING = 'client_initiated';

/**
 * Who is in the room. While our connection is made anew, everybody vanishes and comes back within moments, and somebody
 * whose own connection is made anew leaves and comes again. Nothing of that is told: only who is still away 2 s later has
 * left. A SIP leg that ends is told at once, since it never comes back.
 */
export class RoomPeople {
  private readonly rtc: RtcSdk;
  private readonly room: () => Room;
  private readonly tell: OnPerson;
  private readonly told = new Map<string, RoomPerson>();
  /** Who may come back, why they went, and the timer that runs while our own connection stands. */
  private readonly away = new Map<string, { reason: string; timer: NodeJS.Timeout }>();

  /** `room` is the connection of the moment. */
  constructor(rtc: RtcSdk, room: () => Room, tell: OnPerson) {
    this.rtc = rtc;
    this.room = room;
    this.tell = tell;
  }

  /** Takes in whoever stands in the room already, without telling it. */
  begin(): void {
    for (const participant of this.room().remoteParticipants.values()) this.take(participant);
  }

  /** Everybody who has not left; somebody whose connection broke a moment ago is still among them. */
  all(): RoomPerson[] {
    for (const participant of this.room().remoteParticipants.values()) this.take(participant);
    return [...this.told.values()];
  }

  came(participant: RemoteParticipant): void {
    const isNew = !this.told.has(participant.identity);
    this.back(participant.identity);
    this.tell(isNew ? 'joined' : 'changed', this.take(participant));
  }

  changed(participant: RemoteParticipant): void {
    if (this.told.has(participant.identity)) this.tell('changed', this.take(participant));
  }

  went(participant: RemoteParticipant): void {
    const { identity } = participant;
    const reason = reasonName(this.rtc, participant.info.disconnectReason);
    const isSip = this.told.get(identity)?.isSip === true;
    if (PASSING.includes(reason)) this.await(identity, 'lost');
    else if (reason === MAYBE_PASSING && !isSip) this.await(identity, reason);
    else this.gone(identity, reason);
  }

  /** Our connection stands again: who does not come back has left meanwhile, and the others may have changed. */
  lookAgain(): void {
    for (const participant of this.room().remoteParticipants.values()) this.came(participant);
    for (const identity of this.told.keys()) {
      if (!this.room().remoteParticipants.has(identity)) {
        this.await(identity, this.away.get(identity)?.reason ?? 'lost');
      }
    }
  }

  close(): void {
    for (const identity of [...this.away.keys()]) this.back(identity);
  }

  private await(identity: string, reason: string): void {
    this.back(identity);
    const timer = setTimeout(() => {
      // While our own connection is being made anew nobody can be seen; `lookAgain` follows.
      if (this.room().connectionState !== this.rtc.ConnectionState.CONN_CONNECTED) return;
      if (this.room().remoteParticipants.has(identity)) this.back(identity);
      else this.gone(identity, reason);
    }, RETURN_MS);
    this.away.set(identity, { reason, timer });
  }

  private back(identity: string): void {
    clearTimeout(this.away.get(identity)?.timer);
    this.away.delete(identity);
  }

  private gone(identity: string, reason: string): void {
    const person = this.told.get(identity);
    if (!person) return;
    this.back(identity);
    this.told.delete(identity);
    this.tell('left', person, reason);
  }

  private take(participant: RemoteParticipant): RoomPerson {
    const person: RoomPerson = {
      identity: participant.identity,
      name: participant.name ?? '',
      isSip: participant.kind === this.rtc.ParticipantKind.SIP,
      attributes: { ...participant.attributes },
    };
    this.told.set(person.identity, person);
    return person;
  }
}

/** LiveKit's DisconnectReason in lower case. */
export function reasonName(rtc: RtcSdk, reason: number | undefined): string {
  return (rtc.DisconnectReason[reason ?? 0] ?? 'unknown_reason').toLowerCase();
}
