import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DialoutRequest } from '../../../src/contracts/dialout.ts';
import { openFleetIngress } from '../../../src/main/ingress/fleet-ingress.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { readSettings } from '../../../src/platform/settings.ts';

/** A real fleet ingress. Behind it stands, in place of the media server, a list of the calls that it would have dialled. */
export interface TestDoor {
  url: string;
  free: number;
  dialled: DialoutRequest[];
  /** Dialouts that found no slot although the ingress had looked. */
  late: number;
  draining: boolean;
  /** How long a host takes to make the room. */
  dialMs: number;
  close(): Promise<void>;
}

export async function openDoor(
  secret: string,
  free: number,
  options: { withoutSip?: boolean } = {},
): Promise<TestDoor> {
  const ingress: TestDoor = {
    url: '',
    free,
    dialled: [],
    late: 0,
    draining: false,
    dialMs: 0,
    close: async () => undefined,
  };
  const running = await openFleetIngress({
    settings: readSettings(
      { FLEET_LISTEN: '127.0.0.1:0', CORE_SECRET: secret, WS_AUTH: 'secret' },
      '/folder',
      '/install',
    ),
    pool: { lease: () => null, release: () => undefined },
    isDraining: () => ingress.draining,
    pressure: () => null,
    health: () => ({
      status: ingress.draining ? 'draining' : 'ok',
      fleet_available: ingress.draining ? 0 : ingress.free,
      fleet_total: 16,
      fleet_busy: 16 - ingress.free,
      fleet_reserved: 0,
      fleet_draining: 0,
      accepting: !ingress.draining,
      version: 'test',
      started_at: '',
      server_time: '',
      reasons: [],
    }),
    ...(options.withoutSip
      ? {}
      : {
          async dialOut(request) {
            if (ingress.free === 0) {
              ingress.late++;
              return 'full';
            }
            ingress.free--;
            ingress.dialled.push(request);
            await new Promise((resolve) => setTimeout(resolve, ingress.dialMs));
            const callId = randomUUID();
            return { status: 'accepted', call_id: callId, room_name: `room-${callId}` };
          },
        }),
    logger: createLogger({ level: 'silent', role: 'test' }),
  });
  ingress.url = `http://127.0.0.1:${running.port}`;
  ingress.close = () => running.close();
  return ingress;
}

/** A host with a fault that a real ingress does not show. */
export async function openFaultyHost(faults: {
  /** Body of its health answer, or `silent`. */
  health: string | 'silent';
  dialout?: { status: number; body: string } | 'silent' | 'cut';
}): Promise<{ url: string; dialouts: number; close(): Promise<void> }> {
  const host: { url: string; dialouts: number; close(): Promise<void> } = {
    url: '',
    dialouts: 0,
    close: async () => undefined,
  };
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') {
      if (faults.health !== 'silent') response.end(faults.health);
      return;
    }
    host.dialouts++;
    request.on('end', () => {
      if (faults.dialout === 'cut') request.socket.destroy();
      else if (typeof faults.dialout === 'object') {
        response.writeHead(faults.dialout.status, { 'content-type': 'application/json' });
        response.end(faults.dialout.body);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  host.close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return host;
}
