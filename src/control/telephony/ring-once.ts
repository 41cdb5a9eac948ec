import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { TRUNK_TEST_ROOM_PREFIX } from '../../contracts/rooms.ts';
import { closeRoom, hangUpParticipant } from '../../platform/end-room.ts';
import type { MediaServer, SipAnswer } from '../../platform/media-server.ts';

/** What a test call has shown. */
export interface RingOutcome {
  /** `rang`: the telephone rang and was let go. `answered`: somebody was quick. `refused`: the other side said no. */
  outcome: 'rang' | 'answered' | 'refused' | 'failed';
  sip_code: number | null;
  sip_status: string | null;
  detail: string;
  ms: number;
}

/** A carrier may take a while to find the telephone. */
const RINGING_TIMEOUT_S = 20;
/** About one ring; then it is let go. */
const RING_MS = 2_000;
const LOOK_EVERY_MS = 250;
/** An answered test call is over after this, whatever else happens. */
const MAX_CALL_S = 10;

/** Rings a telephone once through a trunk of the media server and lets go. Rejects where the server does not answer. */
export async function ringOnce(
  server: MediaServer,
  call: { trunkId: string; from: string; to: string },
): Promise<RingOutcome> {
  const room = `${TRUNK_TEST_ROOM_PREFIX}${randomUUID()}`;
  const identity = `sip-test-${randomUUID().slice(0, 8)}`;
  const startedMs = performance.now();
  await server.createRoom(room, '');
  let answer: SipAnswer | null = null;
  let rang = false;
  try {
    const dialling = server
      .dial({
        trunkId: call.trunkId,
        toNumber: call.to,
        fromNumber: call.from,
        roomName: room,
        identity,
        ringingTimeoutS: RINGING_TIMEOUT_S,
        maxCallS: MAX_CALL_S,
      })
      .then((result) => {
        answer = result;
      });
    while (answer === null && !rang) {
      await wait(LOOK_EVERY_MS);
      const person = await server.participant(room, identity).catch(() => null);
      rang = person?.attributes['sip.callStatus'] === 'ringing';
    }
    if (rang && answer === null) await Promise.race([dialling, wait(RING_MS)]);
    // What it says once it is let go is about the letting go.
    const before = answer;
    await hangUpParticipant(server, room, identity);
    await dialling;
    return { ...outcomeOf(before, rang), ms: Math.round(performance.now() - startedMs) };
  } finally {
    await closeRoom(server, room);
  }
}

function outcomeOf(answer: SipAnswer | null, rang: boolean): Omit<RingOutcome, 'ms'> {
  const none = { sip_code: null, sip_status: null };
  if (answer === null) return { outcome: 'rang', ...none, detail: 'the telephone rang; the call was let go' };
  if (answer.kind === 'ok')
    return { outcome: 'answered', ...none, detail: 'somebody answered; it was hung up' };
  if (answer.kind === 'refused') {
    const detail = `${rang ? 'the telephone rang, then' : 'the other side'} said ${answer.sipCode} ${answer.sipStatus}`;
    return { outcome: 'refused', sip_code: answer.sipCode, sip_status: answer.sipStatus, detail };
  }
  return { outcome: 'failed', ...none, detail: answer.reason };
}
