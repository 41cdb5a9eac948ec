import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Another host's fleet ingress, as far as the control plane asks it. */
export interface FleetIngress {
  url: string;
  /** What it answers to a dial-out. */
  answer: { status: number; json: object };
  dialled: Record<string, unknown>[];
  close: () => Promise<void>;
}

export const ACCEPTED = { status: 200, json: { status: 'accepted', call_id: 'rtc-1', room_name: 'room-1' } };

export async function startFleetDoor(): Promise<FleetIngress> {
  const ingress: FleetIngress = { url: '', answer: ACCEPTED, dialled: [], close: async () => undefined };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const isHealth = request.url === '/health/fleet';
      if (!isHealth) ingress.dialled.push(JSON.parse(body) as Record<string, unknown>);
      const { status, json } = isHealth
        ? {
            status: 200,
            json: { status: 'ok', fleet_available: 4, fleet_total: 4, fleet_busy: 0, accepting: true },
          }
        : ingress.answer;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ingress.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ingress.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return ingress;
}
