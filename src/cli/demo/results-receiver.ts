import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RESULTS_PATH } from '../../contracts/http-names.ts';
import { RESULTS_MAX_BYTES } from '../../contracts/limits.ts';

/** One delivery of the results webhook, and what the control plane answered to it. */
export interface DemoDelivery {
  payload: Record<string, unknown>;
  status: number;
}

export interface ResultsReceiver {
  url: string;
  deliveries: DemoDelivery[];
  close(): Promise<void>;
}

/**
 * The demo's own results receiver. The appliance is told that its control plane lives here (`BASE_URL`), so the
 * webhook URL of the call names this server: it keeps what arrives and passes every request on to the real control
 * plane. That shows the payload as an outside system would get it, and the product's own path runs unchanged.
 */
export async function startResultsReceiver(controlUrl: string): Promise<ResultsReceiver> {
  const deliveries: DemoDelivery[] = [];
  const server = createServer((incoming, outgoing) => {
    void passOn(controlUrl, incoming, outgoing, deliveries).catch(() => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    deliveries,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function passOn(
  controlUrl: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  deliveries: DemoDelivery[],
): Promise<void> {
  const body = await readBody(incoming);
  const path = incoming.url ?? '/';
  const headers = { ...incoming.headers };
  // The length is set anew for the body as it was read.
  delete headers['transfer-encoding'];
  const forwarded = request(new URL(path, controlUrl), {
    method: incoming.method ?? 'GET',
    headers: { ...headers, 'content-length': String(body.length) },
  });
  forwarded.end(body);
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
  const answerBody = await readBody(answer);
  if (incoming.method === 'POST' && path.startsWith(RESULTS_PATH)) {
    deliveries.push({
      payload: JSON.parse(body.toString('utf8')) as Record<string, unknown>,
      status: answer.statusCode ?? 0,
    });
  }
  outgoing.writeHead(answer.statusCode ?? 502, {
    'content-type': answer.headers['content-type'] ?? 'application/octet-stream',
    'content-length': answerBody.length,
  });
  outgoing.end(answerBody);
}

async function readBody(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    size += (part as Buffer).length;
    if (size > RESULTS_MAX_BYTES) throw new Error('the body is larger than results may be');
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}
