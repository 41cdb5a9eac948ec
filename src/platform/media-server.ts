import {
  AccessToken,
  type ParticipantInfo,
  RoomServiceClient,
  SipCallError,
  SipClient,
  TrackSource,
  TwirpError,
  type VideoGrant,
} from 'livekit-server-sdk';
import { type MediaServerAccess, SIP_PARTICIPANT_KIND } from '../contracts/rooms.ts';

/** Every question to the media server is answered within this, but dialling and transfers, which wait for people. */
export const MEDIA_REQUEST_TIMEOUT_S = 5;
/** A room that nobody has joined closes itself after this. */
const EMPTY_ROOM_S = 60;
/** A room that the last one has left closes itself after this. */
const DEPARTED_ROOM_S = 20;
/** What the HTTP request of a dialling or a transfer waits beyond the ringing itself. */
const ANSWER_MARGIN_S = 10;

export interface RoomFact {
  name: string;
  metadata: string;
  participants: number;
  createdAtMs: number;
}

export interface ParticipantFact {
  identity: string;
  name: string;
  isSip: boolean;
  attributes: Record<string, string>;
  /** They publish audio of theirs that is not muted. */
  hasMicrophone: boolean;
}

/** How a SIP request to somebody's telephone ended. */
export type SipAnswer =
  | { kind: 'ok'; sipCallId: string }
  /** The other side, or the carrier, said no, or nobody said anything in time (408). */
  | { kind: 'refused'; sipCode: number; sipStatus: string }
  /** No SIP answer at all: the media server or its SIP service is away, or refuses the request itself. */
  | { kind: 'failed'; reason: string };

export interface DialRequest {
  trunkId: string;
  toNumber: string;
  /** Empty: the trunk's own number. */
  fromNumber: string;
  roomName: string;
  identity: string;
  ringingTimeoutS: number;
  maxCallS: number;
  /** Become SIP headers of the INVITE. */
  headers?: Record<string, string>;
  attributes?: Record<string, string>;
}

/** Who a token is for and what it allows; always one room. */
export interface TokenRequest {
  room: string;
  identity: string;
  name?: string;
  ttlS: number;
  canPublish: boolean;
  /** What may be published; everything where nothing is said. */
  canPublishSources?: readonly 'microphone'[];
  canSubscribe: boolean;
  canPublishData: boolean;
  hidden?: boolean;
  attributes?: Record<string, string>;
}

/**
 * What the product asks of the media server, over its HTTP API (livekit-server-sdk). Methods reject with the server's
 * own error; a room or person that is gone already is no error.
 */
export class MediaServer {
  private readonly access: MediaServerAccess;
  private readonly rooms: RoomServiceClient;
  /** The SDK's own client, for what only the control plane does with trunks and rules. */
  readonly sip: SipClient;

  constructor(access: MediaServerAccess) {
    this.access = access;
    const url = httpUrl(access.url);
    const options = { requestTimeout: MEDIA_REQUEST_TIMEOUT_S };
    this.rooms = new RoomServiceClient(url, access.apiKey, access.apiSecret, options);
    this.sip = new SipClient(url, access.apiKey, access.apiSecret, options);
  }

  /** A token to join one room. */
  async token(request: TokenRequest): Promise<string> {
    const token = new AccessToken(this.access.apiKey, this.access.apiSecret, {
      identity: request.identity,
      ttl: request.ttlS,
      ...(request.name === undefined ? {} : { name: request.name }),
      ...(request.attributes === undefined ? {} : { attributes: request.attributes }),
    });
    const grant: VideoGrant = {
      roomJoin: true,
      room: request.room,
      canPublish: request.canPublish,
      canSubscribe: request.canSubscribe,
      canPublishData: request.canPublishData,
      ...(request.canPublishSources === undefined
        ? {}
        : { canPublishSources: request.canPublishSources.map((source) => SOURCES[source]) }),
      ...(request.hidden ? { hidden: true } : {}),
    };
    token.addGrant(grant);
    return token.toJwt();
  }

  /** Makes the room, or changes its metadata where it stands already. */
  async createRoom(name: string, metadata: string): Promise<void> {
    const room = await this.rooms.createRoom({
      name,
      metadata,
      emptyTimeout: EMPTY_ROOM_S,
      departureTimeout: DEPARTED_ROOM_S,
    });
    // Asked to make a room that stands, the server leaves its metadata as it is.
    if (room.metadata !== metadata) await this.setRoomMetadata(name, metadata);
  }

  async setRoomMetadata(name: string, metadata: string): Promise<void> {
    await this.rooms.updateRoomMetadata(name, metadata);
  }

  /** Everybody in the room is sent away; SIP legs are hung up. */
  async deleteRoom(name: string): Promise<'deleted' | 'absent'> {
    return (await orAbsent(this.rooms.deleteRoom(name))) === ABSENT ? 'absent' : 'deleted';
  }

  async listRooms(names?: string[]): Promise<RoomFact[]> {
    const rooms = await this.rooms.listRooms(names);
    return rooms.map((room) => ({
      name: room.name,
      metadata: room.metadata,
      participants: room.numParticipants,
      createdAtMs: Number(room.creationTimeMs || room.creationTime * 1000n),
    }));
  }

  /** Empty for a room that does not exist. */
  async participants(room: string): Promise<ParticipantFact[]> {
    const found = await orAbsent(this.rooms.listParticipants(room));
    return found === ABSENT ? [] : found.map(participantFact);
  }

  async participant(room: string, identity: string): Promise<ParticipantFact | null> {
    const found = await orAbsent(this.rooms.getParticipant(room, identity));
    return found === ABSENT ? null : participantFact(found);
  }

  /** A SIP leg is hung up by this; one that still rings is refused or cancelled. */
  async removeParticipant(room: string, identity: string): Promise<'removed' | 'absent'> {
    const done = await orAbsent(this.rooms.removeParticipant(room, identity));
    return done === ABSENT ? 'absent' : 'removed';
  }

  /** Calls a telephone into the room. Resolves when it is answered (SIP 200) or not. Never rejects. */
  async dial(request: DialRequest): Promise<SipAnswer> {
    try {
      const info = await this.sip.createSipParticipant(request.trunkId, request.toNumber, request.roomName, {
        participantIdentity: request.identity,
        waitUntilAnswered: true,
        ringingTimeout: request.ringingTimeoutS,
        maxCallDuration: request.maxCallS,
        timeout: request.ringingTimeoutS + ANSWER_MARGIN_S,
        ...(request.fromNumber === '' ? {} : { fromNumber: request.fromNumber }),
        ...(request.headers ? { headers: request.headers } : {}),
        ...(request.attributes ? { participantAttributes: request.attributes } : {}),
      });
      return { kind: 'ok', sipCallId: info.sipCallId };
    } catch (error) {
      return sipAnswer(error);
    }
  }

  /** Passes a SIP leg on by REFER. Resolves with its final outcome. Never rejects. */
  async transfer(
    room: string,
    identity: string,
    to: string,
    options: { ringingTimeoutS: number; headers?: Record<string, string> },
  ): Promise<SipAnswer> {
    try {
      await this.sip.transferSipParticipant(room, identity, to, {
        ringingTimeout: options.ringingTimeoutS,
        timeout: options.ringingTimeoutS + ANSWER_MARGIN_S,
        ...(options.headers ? { headers: options.headers } : {}),
      });
      return { kind: 'ok', sipCallId: '' };
    } catch (error) {
      return sipAnswer(error);
    }
  }
}

/** The API answers on http where clients join on ws. */
export function httpUrl(url: string): string {
  return url.replace(/^ws/, 'http').replace(/\/+$/, '');
}

/** Clients join on ws where the API answers on http. */
export function socketUrl(url: string): string {
  return url.replace(/^http/, 'ws').replace(/\/+$/, '');
}

/** LiveKit protocol, `TrackType.AUDIO`. */
const AUDIO_TRACK = 0;
const SOURCES = { microphone: TrackSource.MICROPHONE } as const;

const ABSENT = Symbol('absent');

async function orAbsent<T>(asking: Promise<T>): Promise<T | typeof ABSENT> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof TwirpError && error.status === 404) return ABSENT;
    throw error;
  }
}

function participantFact(info: ParticipantInfo): ParticipantFact {
  return {
    identity: info.identity,
    name: info.name,
    isSip: info.kind === SIP_PARTICIPANT_KIND,
    attributes: { ...info.attributes },
    hasMicrophone: info.tracks.some(
      ({ type, source, muted }) =>
        type === AUDIO_TRACK && source !== TrackSource.SCREEN_SHARE_AUDIO && !muted,
    ),
  };
}

function sipAnswer(error: unknown): SipAnswer {
  if (error instanceof SipCallError || (error instanceof TwirpError && error.metadata?.sip_status_code)) {
    const sipCode = Number(error.metadata?.sip_status_code);
    if (Number.isInteger(sipCode) && sipCode > 0) {
      return { kind: 'refused', sipCode, sipStatus: error.metadata?.sip_status ?? '' };
    }
  }
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
}
