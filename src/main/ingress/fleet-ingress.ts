import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FleetHealth } from '../../contracts/fleet.ts';
import { REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import { HEALTH_ROUTE, PARTNER_ROUTE, SESSIONS_ROUTE, SOCKET_ROUTE } from '../../contracts/fleet-routes.ts';
import type { HostSessions } from '../../contracts/fleet-sessions.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import type { MediaServerAccess } from '../../contracts/rooms.ts';
import { AppError } from '../../platform/app-error.ts';
import { matchesAnySecret } from '../../platform/constant-time.ts';
import type { Logger } from '../../platform/logger.ts';
import { hostPort, type Settings } from '../../platform/settings.ts';
import type { RoomService } from '../rooms/room-service.ts';
import type { LeaseSource } from '../slots/slot-pool.ts';
import { serveAttach } from './attach.ts';
import { isLocalPeer } from './call-admission.ts';
import { createCallSockets } from './call-sockets.ts';
import { serveDispatch } from './dispatch.ts';
import { fleetTable, type ServedRoute, serve } from './fleet-table.ts';
import { type RecordingRouteOptions, serveRecording } from './recordings.ts';
import { type DialOut, serveDialout, serveHangup, serveReservations, serveWidget } from './room-routes.ts';

function serveSessions(sessions: () => Promise<HostSessions>): ServedRoute {
  return serve(SESSIONS_ROUTE, async () => ({ status: 200, body: await sessions() }));
}

/** Request line and headers together; more is answered 431. */
const MAX_HEADER_BYTES = 16_384;
/** A request must have sent its headers by then, else 408. */
const HEADERS_TIMEOUT_MS = 5_000;
/** A request must be whole by then, else 408. */
const REQUEST_TIMEOUT_MS = 10_000;
/** An idle connection between two requests is kept this long. */
const KEEP_ALIVE_MS = 5_000;
/** A connection on which nothing at all moves is closed after this. */
const IDLE_SOCKET_MS = 20_000;
/** How often the limits above are looked at. */
const CHECK_EVERY_MS = 1_000;
/** Connections that are not calls; more are closed at once. Calls are counted by slots. */
const MAX_CONNECTIONS = 1_024;

export interface FleetIngress {
  port: number;
  close(): Promise<void>;
}

export interface FleetIngressOptions {
  settings: Settings;
  pool: LeaseSource;
  isDraining(): boolean;
  pressure(): Refusal | null;
  /** `detailed` includes what only the host itself and holders of the core secret may see (D-55). */
  health(detailed: boolean): FleetHealth;
  /** Takes a single-use call ticket of the control plane; absent where another host's plane issues them. */
  consumeTicket?: (ticket: string, botId: string) => boolean;
  /** The media server of this host; null, or no such function, where none is set up. */
  media?: () => MediaServerAccess | null;
  /** Absent where the media server with SIP is not set up on this host. */
  dialOut?: DialOut;
  /** Absent where this ingress has no rooms. */
  rooms?: RoomService;
  /** Which sessions this host still has. */
  sessions?: () => Promise<HostSessions>;
  /** Recordings of this host by signed links. */
  recordings?: Omit<RecordingRouteOptions, 'coreSecrets'>;
  logger: Logger;
}

/**
 * Everything on `FLEET_LISTEN`. It runs on node:http because the socket of an upgrade can be handed to another
 * process there, which uWebSockets.js cannot do (D-4).
 */
export async function openFleetIngress(options: FleetIngressOptions): Promise<FleetIngress> {
  const { settings, logger } = options;
  const freeSlots = () => options.health(false).fleet_available;
  const calls = createCallSockets({
    ...options,
    hasRoom: () => freeSlots() > 0,
    consumeTicket: options.consumeTicket ?? (() => false),
    media: options.media ?? (() => null),
  });
  const host = { isDraining: options.isDraining, pressure: options.pressure, freeSlots };
  const rooms = options.rooms ? { ...host, roomService: options.rooms, logger } : null;
  // Whoever comes here without an upgrade is told what is wrong with the call.
  const refuseCall = ({ incoming }: { incoming: IncomingMessage }) =>
    calls.refusal(incoming) ?? REFUSALS.notFound;
  const answer = fleetTable(
    [
      serve(HEALTH_ROUTE, ({ incoming }) => {
        const detailed =
          isLocalPeer(incoming) ||
          matchesAnySecret(incoming.headers[CORE_SECRET_HEADER], settings.coreSecrets);
        return { status: 200, body: options.health(detailed) };
      }),
      ...(options.sessions ? [serveSessions(options.sessions)] : []),
      ...(options.recordings
        ? [serveRecording({ ...options.recordings, coreSecrets: settings.coreSecrets })]
        : []),
      serveDialout(host, options.dialOut),
      ...(rooms ? [serveDispatch(rooms), serveWidget(rooms), serveAttach(rooms), serveHangup(rooms)] : []),
      ...(rooms ? serveReservations(rooms) : []),
      serve(SOCKET_ROUTE, refuseCall),
      serve(PARTNER_ROUTE, refuseCall),
    ],
    { coreSecrets: settings.coreSecrets, logger },
  );
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      noDelay: true,
    },
    (request, response) => {
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      void answer(request, response);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_SOCKET_MS);
  server.on('upgrade', calls.onUpgrade);

  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new AppError(
          'bad_setting',
          `FLEET_LISTEN: ${hostPort(settings.fleetListen)} cannot be opened (${cause.message}); stop what uses it or choose another`,
          { cause },
        ),
      ),
    );
    server.listen(settings.fleetListen.port, settings.fleetListen.host, () => resolve());
  });
  server.on('error', (error) => logger.error({ err: error.message }, 'the fleet ingress reports an error'));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      // The close event is not awaited: Node asks every slot about the sockets it was given, and a slot with a live
      // call keeps that answer back. The listener is gone at the next turn of the loop, which is all a successor needs.
      server.close();
      server.closeAllConnections();
      await setImmediate();
    },
  };
}
