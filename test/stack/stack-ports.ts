import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { createServer, Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';

/**
 * Ports of one media stack: a block of neighbours below the range from which the system gives ports to clients, so that
 * nothing takes one of them while a killed server is away. The block belongs to whoever listens on its first port,
 * which is the webhook relay's, and is free again when that process ends, however it ends.
 */
export interface StackPorts {
  relay: number;
  redis: number;
  server: number;
  ice: number;
  sip: number;
  rtp: { first: number; last: number };
}

const FIRST_PEER_PORT = 10_000;
const MAX_ATTEMPTS = 200;
const FIRST_BLOCK = 20_000;
const BLOCK_PORTS = 300;
const BLOCKS = 40;
/** livekit-sip keeps a port for up to 10 minutes after its call, so there are many more than calls at once. */
const RTP_OFFSET = 20;

/** Claims a block by listening with `relay` on its first port. Throws when every block is taken. */
export async function claimPorts(relay: ReturnType<typeof createServer>): Promise<StackPorts> {
  for (let attempt = 0; attempt < BLOCKS; attempt++) {
    // Neighbours in time begin at different places, so that they seldom try for the same block.
    const block = (process.pid + attempt) % BLOCKS;
    const first = FIRST_BLOCK + block * BLOCK_PORTS;
    if (!(await listens(relay, first))) continue;
    const rest = [first + 1, first + 2, first + 3, first + 4];
    if ((await Promise.all(rest.map(isFree))).every(Boolean)) {
      return {
        relay: first,
        redis: first + 1,
        server: first + 2,
        ice: first + 3,
        sip: first + 4,
        rtp: { first: first + RTP_OFFSET, last: first + BLOCK_PORTS - 1 },
      };
    }
    await new Promise((resolve) => relay.close(resolve));
  }
  throw new Error(
    `no ${BLOCK_PORTS} free ports in a row from ${FIRST_BLOCK} on: ${BLOCKS} media stacks are at work here, end some`,
  );
}

/**
 * The first of so many neighbouring ports of 127.0.0.1 that nothing uses now, for programs that must be told their
 * port. They too lie outside the range of the system: there, any connection may take one before the program does.
 */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const first = randomInt(FIRST_PEER_PORT, FIRST_BLOCK - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
  throw new Error(`no ${count} free ports in a row between ${FIRST_PEER_PORT} and ${FIRST_BLOCK}`);
}

function listens(server: Server | ReturnType<typeof createTcpServer>, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const refused = () => resolve(false);
    server.once('error', refused);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', refused);
      resolve(true);
    });
  });
}

async function isFree(port: number): Promise<boolean> {
  const server = createTcpServer();
  if (!(await listens(server, port))) return false;
  await new Promise((resolve) => server.close(resolve));
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}
