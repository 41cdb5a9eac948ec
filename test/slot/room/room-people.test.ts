import { createRequire } from 'node:module';
import type { RemoteParticipant, Room } from '@livekit/rtc-node';
import t from 'tap';
import { sleepMs } from '../../../src/platform/clock.ts';
import type { RtcSdk } from '../../../src/slot/room/load-rtc.ts';
import { RoomPeople } from '../../../src/slot/room/room-people.ts';

// The SDK's own names of reasons and states; no room is joined, so that nothing has to be ended.
const rtc = createRequire(import.meta.url)('@livekit/rtc-node') as RtcSdk;
const { CONN_CONNECTED, CONN_RECONNECTING } = rtc.ConnectionState;
const { CLIENT_INITIATED, DUPLICATE_IDENTITY, PARTICIPANT_REMOVED, UNKNOWN_REASON } = rtc.DisconnectReason;

function person(identity: string, kind: number = rtc.ParticipantKind.STANDARD) {
  const participant = {
    identity,
    name: '',
    kind,
    attributes: {},
    info: { disconnectReason: UNKNOWN_REASON },
  };
  return participant as unknown as RemoteParticipant;
}

/** A room as the SDK shows it, whose people come and go by our hand. */
function aRoom() {
  const told: string[] = [];
  const room = { remoteParticipants: new Map<string, RemoteParticipant>(), connectionState: CONN_CONNECTED };
  const people = new RoomPeople(
    rtc,
    () => room as unknown as Room,
    (kind, { identity }, reason) => {
      told.push([kind, identity, ...(reason ? [reason] : [])].join(' '));
    },
  );
  return {
    told,
    room,
    people,
    come: (participant: RemoteParticipant) => {
      room.remoteParticipants.set(participant.identity, participant);
      people.came(participant);
    },
    go: (participant: RemoteParticipant, reason: number) => {
      room.remoteParticipants.delete(participant.identity);
      participant.info.disconnectReason = reason;
      people.went(participant);
    },
  };
}

/** Longer than somebody may be away. */
const BEYOND_RETURN_MS = 3_000;

t.test('RT-63 somebody who leaves to join again at once has not left', async (t) => {
  const { told, people, come, go } = aRoom();
  come(person('widget-user-1'));
  for (const reason of [CLIENT_INITIATED, DUPLICATE_IDENTITY, UNKNOWN_REASON]) {
    go(person('widget-user-1'), reason);
    t.same(
      people.all().map(({ identity }) => identity),
      ['widget-user-1'],
      'still among the people',
    );
    come(person('widget-user-1'));
  }
  await sleepMs(BEYOND_RETURN_MS);
  const coming = 'changed widget-user-1';
  t.same(told, ['joined widget-user-1', coming, coming, coming]);
});

t.test('RT-62 who really leaves is told once, with the reason, and a SIP leg at once', async (t) => {
  const { told, people, come, go } = aRoom();
  come(person('widget-user-1'));
  come(person('sip-1', rtc.ParticipantKind.SIP));
  come(person('agent-1'));
  go(person('sip-1', rtc.ParticipantKind.SIP), CLIENT_INITIATED);
  go(person('agent-1'), PARTICIPANT_REMOVED);
  t.same(told.slice(3), ['left sip-1 client_initiated', 'left agent-1 participant_removed']);
  go(person('widget-user-1'), CLIENT_INITIATED);
  t.equal(told.length, 5, 'a browser may come back');
  await sleepMs(BEYOND_RETURN_MS);
  t.same(told.slice(5), ['left widget-user-1 client_initiated']);
  t.same(people.all(), []);
});

t.test('RT-62 nobody has left while our own connection is made anew; who stays away then has', async (t) => {
  const { told, room, people, come, go } = aRoom();
  come(person('widget-user-1'));
  come(person('agent-1'));
  room.connectionState = CONN_RECONNECTING;
  go(person('widget-user-1'), UNKNOWN_REASON);
  go(person('agent-1'), UNKNOWN_REASON);
  await sleepMs(BEYOND_RETURN_MS);
  t.equal(told.length, 2, 'nothing is told');
  room.connectionState = CONN_CONNECTED;
  people.lookAgain();
  come(person('widget-user-1'));
  await sleepMs(BEYOND_RETURN_MS);
  t.same(told.slice(2), ['changed widget-user-1', 'left agent-1 lost']);
});
