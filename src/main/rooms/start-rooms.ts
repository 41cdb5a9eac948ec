import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DialoutAccepted, DialoutRequest } from '../../contracts/dialout.ts';
import type { FleetMedia } from '../../contracts/fleet.ts';
import { REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import type { HangupOrder } from '../../contracts/hangup-orders.ts';
import type { MediaSetup } from '../../contracts/rooms.ts';
import { OWNER_FILE, type SpoolOwner } from '../../contracts/spool.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import { plainNumber, type Settings } from '../../platform/settings.ts';
import type { OrphanCalls } from '../slots/orphan-calls.ts';
import type { SlotPool } from '../slots/slot-pool.ts';
import type { LiveCall, SlotNews, SlotProcess } from '../slots/slot-process.ts';
import { RoomCloser } from './close-room.ts';
import { type MediaSettings, startMediaSettings } from './media-settings.ts';
import { RecentNames } from './recent-names.ts';
import { Reservations } from './reservations.ts';
import { RoomCalls } from './room-calls.ts';
import { RoomClaims } from './room-claims.ts';
import { RoomReconciler } from './room-reconciler.ts';
import { demandSessionId, dialoutOrder } from './room-requests.ts';
import { JOIN_WITHIN_MS, type RoomService, refusalOf } from './room-service.ts';

/** Calls that are over, so that hanging one up again is no mistake. */
const MAX_OVER = 10_000;
/** Rooms of calls that are over: nobody has any business there. */
const MAX_ENDED_ROOMS = 2_000;

/** Shorter than the product's, where a test cannot wait for those. */
export interface RoomBounds {
  reservationMs: number;
  joinWithinMs: number;
  unclaimedMs: number;
  reconcileEveryMs: number;
  reconcileGraceMs: number;
}

export interface RoomParts {
  settings: Settings;
  store: KeyValueStore;
  spoolFolder: string;
  /** The control plane of this process; null in a worker. */
  plane: {
    mediaSetup(): Promise<MediaSetup | null>;
    botForNumber(did: string): Promise<{ botId: string } | null>;
  } | null;
  pool: SlotPool;
  orphans: () => OrphanCalls;
  /** Whether the folder of the call is being taken in. */
  isBeingTaken(callId: string): boolean;
  onRoomEvent: RoomService['onRoomEvent'];
  bounds: Partial<RoomBounds>;
  logger: Logger;
}

/** Main's side of room calls: what the ingress, the slots and the orphans bring to it. */
export interface Rooms {
  roomService: RoomService;
  media: MediaSettings;
  dialOut(request: DialoutRequest): Promise<DialoutAccepted | 'full' | Refusal>;
  hear(news: Extract<SlotNews, { type: 'room_joined' | 'room_refused' }>): void;
  /** A call is over and its folder whole. */
  finished(call: LiveCall): void;
  /** The process of a call of ours is dead: its room is closed (D-10). */
  died(call: LiveCall): void;
  /** The same for an orphan, whose room stands in its owner file. */
  orphanLeft(callId: string, roomName: string | null): void;
  slotGone(slot: SlotProcess): void;
  health(): FleetMedia | null;
  stop(): Promise<void>;
}

export async function startRooms(parts: RoomParts): Promise<Rooms> {
  const { settings, pool, orphans, logger, bounds, plane } = parts;
  const hostId = await readHostId(parts.store);
  const media = await startMediaSettings({
    ask: plane ? () => plane.mediaSetup() : null,
    seeds: settings.seeds,
    logger,
  });
  const isLive = (callId: string) => pool.slots().some((slot) => slot.call?.callId === callId);
  const isServed = (roomName: string) =>
    claims.isTaken(roomName) ||
    orphans().inRoom(roomName) !== null ||
    pool.slots().some((slot) => slot.call?.roomName === roomName);
  const calls = new RoomCalls({
    pool,
    hostId,
    isSessionLive: (sessionId) =>
      pool.slots().some((slot) => slot.call?.sessionId === sessionId) || orphans().hasSession(sessionId),
    logger,
  });
  const claims = new RoomClaims(isLive);
  const reservations = new Reservations(pool, bounds.reservationMs);
  const closer = new RoomCloser({ media, logger, unclaimedMs: bounds.unclaimedMs });
  const over = new RecentNames(MAX_OVER);
  const endedRooms = new RecentNames(MAX_ENDED_ROOMS);
  const isOver = (callId: string) => {
    over.add(callId);
    calls.ended(callId);
    claims.ended(callId);
  };
  const leaveRoom = (call: LiveCall) => {
    // A dialler’s room is not ours to judge, and one that was handed over is in use.
    if (call.roomName !== null && call.kind !== 'attach' && !call.handedOver) endedRooms.add(call.roomName);
    isOver(call.callId);
  };

  const reconciler = new RoomReconciler({
    media,
    hostId,
    isAlive: (callId) => isLive(callId) || orphans().has(callId) || parts.isBeingTaken(callId),
    isEnded: (roomName) => endedRooms.has(roomName) && !isServed(roomName),
    live: () => pool.slots().flatMap(liveRoomCall),
    logger,
    ...(bounds.reconcileEveryMs === undefined ? {} : { lookEveryMs: bounds.reconcileEveryMs }),
    ...(bounds.reconcileGraceMs === undefined ? {} : { graceMs: bounds.reconcileGraceMs }),
  });
  reconciler.start();

  const roomService: RoomService = {
    hasOwnPlane: plane !== null && settings.configUrl === '',
    media,
    calls,
    claims,
    reservations,
    closer,
    botForNumber: (did) => (plane ? plane.botForNumber(did) : botInMap(settings.didMap, did)),
    onRoomEvent: parts.onRoomEvent,
    joinWithinMs: bounds.joinWithinMs ?? JOIN_WITHIN_MS,
    isServed,
    orphanSession: (roomName) => orphans().sessionInRoom(roomName),
    hangUp(callId, reason) {
      const slot = pool.slots().find((candidate) => candidate.call?.callId === callId);
      const order: HangupOrder = { cause: 'operator', reason };
      if (slot) slot.hangUp(order);
      if (slot || orphans().hangUp(callId, order)) return 'told';
      return over.has(callId) || parts.isBeingTaken(callId) ? 'over' : 'unknown';
    },
  };

  return {
    roomService,
    media,
    async dialOut(request) {
      if (roomService.hasOwnPlane && request.config_url === undefined) {
        const { _campaign_session_id: session } = request.connected_event ?? {};
        demandSessionId(session, '/connected_event/_campaign_session_id');
      }
      const setup = await media.fresh();
      if (!setup?.dialling) return REFUSALS.sipNotConfigured;
      const order = dialoutOrder(request, setup.dialling);
      const outcome = await calls.start(order, setup, { joinedWithinMs: null });
      if (outcome.kind !== 'accepted') return refusalOf(outcome);
      return { status: 'accepted', call_id: order.callId, room_name: order.roomName };
    },
    hear: (news) => calls.hear(news),
    finished: leaveRoom,
    died(call) {
      leaveRoom(call);
      const room = call.roomName ?? roomInFolder(join(parts.spoolFolder, call.callId));
      if (room !== null) closer.closeDead(room, call.callId);
    },
    orphanLeft(callId, roomName) {
      isOver(callId);
      if (roomName !== null) closer.closeDead(roomName, callId);
    },
    slotGone: (slot) => reservations.slotGone(slot),
    health: () => reconciler.health(),
    async stop() {
      reconciler.stop();
      reservations.stop();
      media.stop();
      await closer.stop();
    },
  };
}

/**
 * The name of this host in the metadata of its rooms. It lies in the store, so that the rooms of an earlier main are
 * known as ours (RT-85).
 */
async function readHostId(store: KeyValueStore): Promise<string> {
  const table = store.table<string>('host');
  const standing = table.get('id');
  if (standing !== undefined) return standing;
  const fresh = `host-${randomUUID()}`;
  await table.put('id', fresh);
  return fresh;
}

function liveRoomCall(slot: SlotProcess) {
  const { call } = slot;
  if (!call || call.roomName === null || call.hangupSentAtMs !== null) return [];
  const hangUp = (reason: string) => slot.hangUp({ cause: 'host', reason });
  return [{ callId: call.callId, roomName: call.roomName, hangUp }];
}

async function botInMap(map: Readonly<Record<string, string>>, did: string) {
  const botId = map[plainNumber(did)] ?? map['*'];
  return botId === undefined ? null : { botId };
}

/** The room that a call on a socket was brought into when it was handed over. */
function roomInFolder(folder: string): string | null {
  try {
    return (JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8')) as SpoolOwner).room ?? null;
  } catch {
    // No folder yet, or none that can be read: then there is no room either.
    return null;
  }
}
