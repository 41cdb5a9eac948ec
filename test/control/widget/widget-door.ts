import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WidgetDispatchRequest } from '../../../src/contracts/room-requests.ts';

/** A host whose door answers what a test wants: faults and refusals that a real one shows only with much effort. */
export interface WidgetDoor {
  url: string;
  free: number;
  /** Null: it takes the request and never answers. */
  answer: { status: number; json: object } | null;
  /** Answers to orders wait for this. */
  held: Promise<void>;
  orders: WidgetDispatchRequest[];
  secrets: (string | undefined)[];
  /** Calls that it was told to end. */
  hungUp: string[];
  close(): Promise<void>;
}

function accepted(): { status: number; json: object } {
  return { status: 200, json: { status: 'accepted', call_id: randomUUID(), room_name: 'room' } };
}

export async function openWidgetDoor(): Promise<WidgetDoor> {
  const door: WidgetDoor = {
    url: '',
    free: 4,
    answer: accepted(),
    held: Promise.resolve(),
    orders: [],
    secrets: [],
    hungUp: [],
    close: async () => undefined,
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const reply = (status: number, json: object) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(json));
      };
      if (request.url === '/health/fleet') return reply(200, { status: 'ok', fleet_available: door.free });
      const [, ended] = /^\/calls\/([^/]+)\/hangup$/.exec(request.url ?? '') ?? [];
      if (ended !== undefined) {
        door.hungUp.push(ended);
        return reply(200, { status: 'ok' });
      }
      if (request.url !== '/rtc/widget') return reply(404, { error: 'Not found' });
      door.secrets.push(request.headers['x-core-secret'] as string | undefined);
      door.orders.push(JSON.parse(body) as WidgetDispatchRequest);
      void door.held.then(() => door.answer && reply(door.answer.status, door.answer.json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  door.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  door.close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return door;
}
