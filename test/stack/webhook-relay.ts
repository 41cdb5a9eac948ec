import { createServer, type IncomingMessage, request, type Server } from 'node:http';

/**
 * livekit-server is told at its start where webhooks go, and tests come later. So it sends them here, and the relay
 * passes body and headers on, untouched and in order, to every address that is registered at the moment.
 *
 *   POST   /webhooks      from livekit-server; always answered with 200
 *   POST   /targets       {"url": "..."}: answers {"id": "..."}
 *   DELETE /targets/<id>
 *
 * A target that fails loses the event: a test of the server's own retries gives its address to a stack of its own.
 */
export interface WebhookRelay {
  server: Server;
  close(): void;
}

/** A target that answers more slowly than this loses the event. */
const PASS_ON_TIMEOUT_MS = 5_000;
/** Events in wait for one target; beyond it the oldest goes. */
const MAX_WAITING = 1_000;
const MAX_BODY_BYTES = 1_048_576;
const PASSED_ON = ['authorization', 'content-type', 'user-agent'];

interface Event {
  body: Buffer;
  headers: Record<string, string>;
}

interface Target {
  url: string;
  waiting: Event[];
  busy: boolean;
}

export function openWebhookRelay(): WebhookRelay {
  const targets = new Map<string, Target>();
  let nextId = 1;
  const server = createServer((incoming, answer) => {
    void readBody(incoming).then((body) => {
      const path = incoming.url ?? '';
      if (body === null) answer.writeHead(413).end();
      else if (incoming.method === 'POST' && path === '/webhooks') {
        for (const target of targets.values()) enqueue(target, { body, headers: chosenHeaders(incoming) });
        answer.writeHead(200).end();
      } else if (incoming.method === 'POST' && path === '/targets') {
        const id = String(nextId++);
        const { url } = JSON.parse(body.toString('utf8')) as { url: string };
        targets.set(id, { url, waiting: [], busy: false });
        answer.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify({ id }));
      } else if (incoming.method === 'DELETE' && targets.delete(path.replace('/targets/', ''))) {
        answer.writeHead(204).end();
      } else answer.writeHead(404).end();
    });
  });
  server.unref();
  return {
    server,
    close() {
      targets.clear();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Registers an address at a relay of this or another process; resolves with the way to take it back. */
export async function registerWebhookTarget(relayUrl: string, url: string): Promise<() => Promise<void>> {
  const answer = await fetch(`${relayUrl}/targets`, { method: 'POST', body: JSON.stringify({ url }) });
  const { id } = (await answer.json()) as { id: string };
  return async () => {
    // The relay may be gone with its stack by now.
    await fetch(`${relayUrl}/targets/${id}`, { method: 'DELETE' }).catch(() => undefined);
  };
}

function enqueue(target: Target, event: Event): void {
  target.waiting.push(event);
  if (target.waiting.length > MAX_WAITING) target.waiting.shift();
  if (!target.busy) void drain(target);
}

async function drain(target: Target): Promise<void> {
  target.busy = true;
  for (let event = target.waiting.shift(); event; event = target.waiting.shift()) {
    await passOn(target.url, event);
  }
  target.busy = false;
}

/** Sends one event; a failure is the target's and ends here. */
function passOn(url: string, event: Event): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(
      url,
      { method: 'POST', headers: { ...event.headers, 'Content-Length': event.body.length } },
      (answer) => answer.resume().once('close', resolve),
    );
    sent.setTimeout(PASS_ON_TIMEOUT_MS, () => sent.destroy());
    sent.once('error', () => resolve());
    sent.end(event.body);
  });
}

function chosenHeaders(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = incoming.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= MAX_BODY_BYTES) parts.push(part);
    });
    incoming.once('end', () => resolve(bytes <= MAX_BODY_BYTES ? Buffer.concat(parts) : null));
    incoming.once('error', () => resolve(null));
  });
}
