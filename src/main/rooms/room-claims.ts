import type { FleetAnswer } from '../../contracts/fleet-refusals.ts';

/** Answers of calls that are over, kept for repeats that come late; the oldest goes first. */
const MAX_PAST = 1_000;

interface Claim {
  roomName: string;
  answer: Promise<FleetAnswer>;
  /** Whether a repeat after the call gets the same answer, too. */
  lasting: boolean;
}

/**
 * Who holds which room: one call per room, and one answer per request however often it is sent. A refused request
 * leaves nothing behind, so that it may be tried again. What is live is bounded by the number of slots.
 */
export class RoomClaims {
  private readonly claims = new Map<string, Claim>();
  private readonly rooms = new Map<string, string>();
  private readonly keyOfCall = new Map<string, string>();
  private readonly past = new Map<string, FleetAnswer>();
  /** Whether a slot has this call now. */
  private readonly isLive: (callId: string) => boolean;

  constructor(isLive: (callId: string) => boolean) {
    this.isLive = isLive;
  }

  /** The answer that this very request got, or is about to get; null for a new one. */
  standing(key: string): Promise<FleetAnswer> | null {
    const past = this.past.get(key);
    return past ? Promise.resolve(past) : (this.claims.get(key)?.answer ?? null);
  }

  /** Whether a call has this room, or is about to. */
  isTaken(roomName: string): boolean {
    return this.rooms.has(roomName);
  }

  /** Does `work` for a new key in a free room, and remembers what came of it for as long as the call lives. */
  async run(
    claim: { key: string; roomName: string; callId: string; lasting: boolean },
    work: () => Promise<FleetAnswer>,
  ): Promise<FleetAnswer> {
    const { key, roomName, callId, lasting } = claim;
    const answer = work();
    this.claims.set(key, { roomName, answer, lasting });
    this.rooms.set(roomName, key);
    let accepted: FleetAnswer | null = null;
    try {
      const got = await answer;
      if (got.status === 200) accepted = got;
      return got;
    } finally {
      if (accepted && this.isLive(callId)) this.keyOfCall.set(callId, key);
      else this.drop(key, accepted);
    }
  }

  /** The call is over: its room is free. */
  ended(callId: string): void {
    const key = this.keyOfCall.get(callId);
    if (key === undefined) return;
    this.keyOfCall.delete(callId);
    void this.claims.get(key)?.answer.then((answer) => this.drop(key, answer));
  }

  private drop(key: string, accepted: FleetAnswer | null): void {
    const claim = this.claims.get(key);
    if (!claim) return;
    this.claims.delete(key);
    this.rooms.delete(claim.roomName);
    if (!accepted || !claim.lasting) return;
    this.past.set(key, accepted);
    const oldest = this.past.size > MAX_PAST ? this.past.keys().next().value : undefined;
    if (oldest !== undefined) this.past.delete(oldest);
  }
}
