import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { RoomServiceClient } from 'livekit-server-sdk';
import type { OwnStack } from './start-stack.ts';

/** What is still on the media server, as the media server itself tells it. */
export interface Leftovers {
  /** Each room with who is in it: 'room-name: identity (SIP), identity'. */
  rooms: string[];
  /** What livekit-sip says of the calls that it cannot finish; '' when there is none. */
  calls: string;
}

export interface LeftoverPatience {
  roomsMs: number;
  callsMs: number;
}

/**
 * livekit-server closes a room 20 s after the last one left it, unless someone closed it before. A leg whose BYE is on
 * its way has two of the rounds of 5 s in which livekit-sip looks.
 */
const PATIENCE: LeftoverPatience = { roomsMs: 25_000, callsMs: 11_000 };
const LOOK_AGAIN_MS = 200;
/** ParticipantInfo.Kind.SIP of the server's protocol. */
const KIND_SIP = 3;

/** Asks livekit-server for its rooms and livekit-sip for its calls. livekit-sip is over after this. */
export async function findLeftovers(
  stack: OwnStack,
  patience: LeftoverPatience = PATIENCE,
): Promise<Leftovers> {
  let rooms = await roomsOf(stack);
  const deadline = Date.now() + patience.roomsMs;
  while (rooms.length > 0 && Date.now() < deadline) {
    await wait(LOOK_AGAIN_MS);
    rooms = await roomsOf(stack);
  }
  // Told to finish its calls and go, livekit-sip goes at once when it has none, and else says every 5 s which it has.
  const went = await stack.retireSip(patience.callsMs);
  const lastWord = readFileSync(join(stack.logsFolder, 'livekit-sip.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('waiting for calls to finish'))
    .at(-1);
  return { rooms, calls: went ? '' : (lastWord ?? 'livekit-sip did not go and does not say why') };
}

async function roomsOf(stack: OwnStack): Promise<string[]> {
  const service = new RoomServiceClient(stack.url, stack.apiKey, stack.apiSecret);
  const rooms = await service.listRooms();
  return Promise.all(
    rooms.map(async (room) => {
      const people = await service.listParticipants(room.name).catch(() => []);
      const names = people.map((one) => `${one.identity}${one.kind === KIND_SIP ? ' (SIP)' : ''}`);
      return `${room.name}: ${names.join(', ') || 'nobody'}`;
    }),
  );
}
