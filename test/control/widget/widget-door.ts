import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WidgetDispatchRequest } from '../../../src/contracts/room-requests.ts';

/** A host whose ingress answers what a test wants: faults and refusals that a real one shows only with much effort. */
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
  const ingress: WidgetDoor = {
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
      if (request.url === '/health/fleet') return reply(200, { status: 'ok', fleet_available: ingress.free });
      const [, ended] = /^\/calls\/([^/]+)\/hangup$/.exec(request.url ?? '') ?? [];
      if (ended !== undefined) {
        ingress.hungUp.push(ended);
        return reply(200, { status: 'ok' });
      }
      if (request.url !== '/rtc/widget') return reply(404, { error: 'Not found' });
      ingress.secrets.push(request.headers['x-core-secret'] as string | undefined);
      ingress.orders.push(JSON.parse(body) as WidgetDispatchRequest);
      void ingress.held.then(() => ingress.answer && reply(ingress.answer.status, ingress.answer.json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ingress.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ingress.close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return ingress;
}
