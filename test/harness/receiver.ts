import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { network } from '../../src/platform/guarded-http/network.ts';
import { createGuardedHttp, type GuardedHttp } from '../../src/platform/guarded-http.ts';
import { serveLocally } from './local-server.ts';

/** A receiver on loopback that notes what it was asked. */
export interface Receiver {
  port: number;
  /** What arrived, in order. */
  seen: {
    method: string;
    path: string;
    headers: Record<string, string | string[] | undefined>;
    body: string;
  }[];
  /** How it answers; may be changed at any time. */
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  close: () => Promise<void>;
}

export async function startReceiver(answer: Receiver['answer'] = ok): Promise<Receiver> {
  const receiver: Receiver = { port: 0, seen: [], answer, close: async () => undefined };
  const { port, close } = await serveLocally((request, response, body) => {
    const { method = '', url = '', headers } = request;
    receiver.seen.push({ method, path: url, headers, body });
    receiver.answer(request, response, body);
  });
  return Object.assign(receiver, { port, close });
}

/** A receiver of results on loopback. */
export interface ResultsReceiver {
  url: string;
  got: { body: Record<string, unknown>; headers: IncomingHttpHeaders }[];
  /** How the next posts are answered: a status, or `silent` for never. */
  behave(next: number | 'silent'): void;
  close(): Promise<void>;
}

export async function startResultsReceiver(port = 0): Promise<ResultsReceiver> {
  const got: ResultsReceiver['got'] = [];
  let behaviour: number | 'silent' = 200;
  const server = await serveLocally((request, response, body) => {
    got.push({ body: JSON.parse(body), headers: request.headers });
    if (behaviour === 'silent') return;
    response.writeHead(behaviour, behaviour === 302 ? { location: '/elsewhere' } : {});
    response.end('{"status":"ok"}');
  }, port);
  return {
    url: `${server.url}/results`,
    got,
    behave(next) {
      behaviour = next;
    },
    close: server.close,
  };
}

export function ok(_request: IncomingMessage, response: ServerResponse): void {
  response.end('{"ok":true}');
}

/** Answers every request with this status. */
export function status(code: number, headers: Record<string, string> = {}, body = ''): Receiver['answer'] {
  return (_request, response) => {
    response.writeHead(code, headers);
    response.end(body);
  };
}

/** The address that stands for the test servers, and the network that an admin would list for it. */
export const CRM_ADDRESS = '10.20.30.40';
const LISTED = [network('10.20.0.0/16')];

/**
 * The product's own client, whose names `*.example.test` have an address of a listed private network. Loopback is never
 * called, so the last step, from that address to the server of the test, is the test's own.
 */
export function localHttp(): GuardedHttp {
  return createGuardedHttp({
    allowedNetworks: () => LISTED,
    resolve: async (name) => (name.endsWith('.example.test') ? [CRM_ADDRESS] : []),
    route: (_address, port) => ({ address: '127.0.0.1', port }),
  });
}
