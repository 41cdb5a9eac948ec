import { within } from '../../platform/clock.ts';
import type { MediaServer, SipAnswer } from '../../platform/media-server.ts';
import type { TransferRequest, TransferResult } from '../transport/call-transport.ts';
import type { RoomTransfer } from './room-transport.ts';

/** The new line may ring for so long before the transfer counts as failed (RT-34: more than the SIP service's 30 s). */
const TRANSFER_RING_S = 60;
/** What a call waits for the outcome of a REFER: the ringing, the media server's margin for its own answer, and ours. */
export const SIP_TRANSFER_WAIT_MS = 75_000;
/** A leg that ended because it was moved is told as moved within this after it left the room. */
const LATE_ANSWER_MS = 1_000;

/**
 * One transfer of a SIP leg by REFER. The media server follows it to its final NOTIFY and answers once (D-42): yes
 * when the new line has taken the call, no with the SIP code when it has not (RT-34).
 */
export class SipTransfer implements RoomTransfer {
  private readonly settled: Promise<void>;

  /** Asks at once; `onResult` is called exactly once. `transferWaitMs` of the line bounds the wait. */
  constructor(parts: {
    media: Pick<MediaServer, 'transfer'>;
    room: string;
    identity: string;
    request: TransferRequest;
    onResult: (result: TransferResult) => void;
  }) {
    const { media, room, identity, request } = parts;
    this.settled = media
      .transfer(room, identity, referTarget(request.destination), {
        ringingTimeoutS: TRANSFER_RING_S,
        ...(Object.keys(request.headers).length > 0 ? { headers: request.headers } : {}),
      })
      .then((answer) => parts.onResult(resultOf(answer)));
  }

  /**
   * The customer is out of the room while nothing is decided. Resolves when it is, or when it is plain that they hung
   * up: the SIP service says yes to a leg that ended after its 202, and says nothing to one that ended before.
   */
  async customerLeft(): Promise<void> {
    await within(this.settled, LATE_ANSWER_MS, undefined);
  }
}

/** A destination of a bot as a URI for `Refer-To`: a number becomes a `tel:` one (RFC 3966; `#` is no part of it as such). */
export function referTarget(destination: string): string {
  const scheme = /^(sips?|tel):/i.exec(destination)?.[0];
  if (scheme) return scheme.toLowerCase() + destination.slice(scheme.length);
  return `tel:${destination.replaceAll('#', '%23')}`;
}

function resultOf(answer: SipAnswer): TransferResult {
  switch (answer.kind) {
    case 'ok':
      return { status: 'ok', reason: '', sipCode: null, sipStatus: null };
    case 'refused': {
      const { sipCode, sipStatus } = answer;
      return { status: 'failed', reason: `${sipCode} ${sipStatus}`.trim(), sipCode, sipStatus };
    }
    case 'failed': {
      const isLate = /cancell?ed|deadline|timed? ?out|aborted/i.test(answer.reason);
      const reason = isLate ? 'the new line did not take the call in time' : answer.reason;
      return { status: 'failed', reason, sipCode: null, sipStatus: null };
    }
  }
}
