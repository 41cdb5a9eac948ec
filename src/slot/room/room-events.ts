import type { RemoteParticipant, RemoteTrack, RemoteTrackPublication, Room } from '@livekit/rtc-node';

/** What the SDK tells of one connection. */
export interface RoomEvents {
  onCame(person: RemoteParticipant): void;
  onWent(person: RemoteParticipant): void;
  /** Their name or attributes are others. */
  onChanged(person: RemoteParticipant): void;
  onPublished(identity: string, publication: RemoteTrackPublication): void;
  onSubscribed(identity: string, track: RemoteTrack, publication: RemoteTrackPublication): void;
  onUnsubscribed(identity: string, publication: RemoteTrackPublication): void;
  onDtmf(identity: string, digit: string): void;
  onData(identity: string, topic: string, bytes: Uint8Array): void;
  onReconnecting(): void;
  onReconnected(): void;
  onDisconnected(reason: number): void;
}

/** Listens to a connection, until its listeners are removed. */
export function listenToRoom(room: Room, events: RoomEvents): void {
  room.on(
    'participantConnected',
    told((person) => events.onCame(person)),
  );
  room.on(
    'participantDisconnected',
    told((person) => events.onWent(person)),
  );
  const onChange = told((_: unknown, { identity }: { identity: string }) => {
    const person = room.remoteParticipants.get(identity);
    if (person) events.onChanged(person);
  });
  room.on('participantAttributesChanged', onChange);
  room.on('participantNameChanged', onChange);
  room.on(
    'trackPublished',
    // The SDK may not know the person yet whose track it tells of.
    told((publication, person) => events.onPublished(person?.identity ?? '', publication)),
  );
  room.on(
    'trackSubscribed',
    told((track, publication, person) => events.onSubscribed(person.identity, track, publication)),
  );
  room.on(
    'trackUnsubscribed',
    told((_track, publication, person) => events.onUnsubscribed(person.identity, publication)),
  );
  room.on(
    'dtmfReceived',
    told((_code, digit, person) => events.onDtmf(person?.identity ?? '', digit)),
  );
  room.on(
    'dataReceived',
    told((bytes, person, _kind, topic) => events.onData(person?.identity ?? '', topic ?? '', bytes)),
  );
  room.on(
    'reconnecting',
    told(() => events.onReconnecting()),
  );
  room.on(
    'reconnected',
    told(() => events.onReconnected()),
  );
  room.on(
    'disconnected',
    told((reason) => events.onDisconnected(reason)),
  );
}

/**
 * The SDK calls its listeners inside a promise of its own, where an error of ours would be taken for one of the SDK's:
 * it is thrown outside of it, as one of a socket's listeners would be.
 */
function told<A extends unknown[]>(listener: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  };
}
