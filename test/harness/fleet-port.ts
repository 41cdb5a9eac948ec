import { randomUUID } from 'node:crypto';
import { DIALOUT_PATH, type DialoutRequest } from '../../src/contracts/dialout.ts';
import { FLEET_HEALTH_PATH } from '../../src/contracts/http-names.ts';
import { WIDGET_PATH, type WidgetDispatchRequest } from '../../src/contracts/room-requests.ts';
import { openFleetIngress } from '../../src/main/ingress/fleet-ingress.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { replyJson, serveLocally } from './local-server.ts';

/** A real fleet port. Behind it stands, in place of the media server, a list of the calls that it would have dialled. */
export interface FleetPort {
  url: string;
  free: number;
  dialled: DialoutRequest[];
  /** Dialouts that found no slot although the host had looked. */
  late: number;
  draining: boolean;
  /** How long a host takes to make the room. */
  dialMs: number;
  close(): Promise<void>;
}

export async function openFleetPort(
  secret: string,
  free: number,
  options: { withoutSip?: boolean } = {},
): Promise<FleetPort> {
  const ingress: FleetPort = {
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

/** A host with a fault that a real one does not show. */
export async function openFaultyHost(faults: {
  /** Body of its health answer, or `silent`. */
  health: string | 'silent';
  dialout?: { status: number; body: string } | 'silent' | 'cut';
}): Promise<{ url: string; dialouts: number; close(): Promise<void> }> {
  const host = { dialouts: 0 };
  const { url, close } = await serveLocally((request, response) => {
    if (request.method === 'GET') {
      if (faults.health !== 'silent') response.end(faults.health);
      return;
    }
    host.dialouts++;
    if (faults.dialout === 'cut') request.socket.destroy();
    else if (typeof faults.dialout === 'object') {
      response.writeHead(faults.dialout.status, { 'content-type': 'application/json' });
      response.end(faults.dialout.body);
    }
  });
  return Object.assign(host, { url, close });
}

interface HostReply {
  status: number;
  json: object;
}

/** A host that answers orders as a test wants: acceptance, refusals and silence that a real one shows only with effort. */
export interface ScriptedHost {
  url: string;
  free: number;
  /** To an order. Null: it takes the request and never answers. */
  answer: HostReply | null;
  /** Answers to orders wait for this. */
  held: Promise<void>;
  orders: WidgetDispatchRequest[];
  secrets: (string | undefined)[];
  /** Calls that it was told to end. */
  hungUp: string[];
  /** To the order to end a call. */
  hangupAnswer: HostReply;
  close(): Promise<void>;
}

/** It accepts every order until a test says otherwise. */
export async function openScriptedHost(): Promise<ScriptedHost> {
  const host: ScriptedHost = {
    url: '',
    free: 4,
    answer: accepted(),
    held: Promise.resolve(),
    orders: [],
    secrets: [],
    hungUp: [],
    hangupAnswer: { status: 200, json: { status: 'ok' } },
    close: async () => undefined,
  };
  const { url, close } = await serveLocally((request, response, body) => {
    if (request.url === FLEET_HEALTH_PATH) {
      const health = { status: 'ok', fleet_available: host.free, fleet_total: host.free, fleet_busy: 0 };
      return replyJson(response, 200, { ...health, accepting: true });
    }
    host.secrets.push(request.headers['x-core-secret'] as string | undefined);
    const [, ended] = /^\/calls\/([^/]+)\/hangup$/.exec(request.url ?? '') ?? [];
    if (ended !== undefined) {
      host.hungUp.push(decodeURIComponent(ended));
      return replyJson(response, host.hangupAnswer.status, host.hangupAnswer.json);
    }
    if (request.url !== WIDGET_PATH && request.url !== DIALOUT_PATH) {
      return replyJson(response, 404, { error: 'Not found' });
    }
    host.orders.push(JSON.parse(body) as WidgetDispatchRequest);
    void host.held.then(() => host.answer && replyJson(response, host.answer.status, host.answer.json));
  });
  return Object.assign(host, { url, close });
}

export function accepted(): HostReply {
  return { status: 200, json: { status: 'accepted', call_id: randomUUID(), room_name: 'room' } };
}
