import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** What a slot would see: a real WebSocket server whose answers the test writes. */
export interface FarEnd {
  url: string;
  messages: { event: string; [key: string]: unknown }[];
  /** Raw binary frames that the dialler sent. */
  binary: Buffer[];
  socket(): WebSocket;
  close(): Promise<void>;
}

export async function startFarEnd(
  answer: (socket: WebSocket, message: { event: string; [key: string]: unknown }) => void,
): Promise<FarEnd> {
  const http = createServer((_request, response) => {
    response.writeHead(404).end();
  });
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  const messages: FarEnd['messages'] = [];
  const binary: Buffer[] = [];
  let last: WebSocket | undefined;
  server.on('connection', (socket) => {
    last = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) {
        binary.push(data);
        return;
      }
      const message = JSON.parse(data.toString('utf8')) as FarEnd['messages'][number];
      messages.push(message);
      answer(socket, message);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}/ws/demo`,
    messages,
    binary,
    socket() {
      if (!last) throw new Error('nobody has called yet');
      return last;
    },
    async close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      http.close();
      await once(http, 'close');
    },
  };
}

/** A frame of a loud tone, 20 ms at 8 kHz. */
export function toneFrame(frames = 1): Int16Array {
  const samples = new Int16Array(160 * frames);
  for (let i = 0; i < samples.length; i++)
    samples[i] = Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / 8000));
  return samples;
}
