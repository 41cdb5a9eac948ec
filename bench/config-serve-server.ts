import { App, us_socket_local_port } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fastify from 'fastify';
import type { Bot } from '../src/contracts/bot.ts';
import { demoBot } from '../src/control/bots/demo-bot.ts';
import { createBotStore } from '../src/control/bots/lmdb-bot-store.ts';
import type { ActiveCall } from '../src/control/calls/call-record.ts';
import { createCallRecordStore } from '../src/control/calls/lmdb-call-store.ts';
import { startControl } from '../src/control/control.ts';
import { createCoreSecretGuard } from '../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../src/control/http/rate-limit.ts';
import { route } from '../src/control/http/route.ts';
import { serveRoutes } from '../src/control/http/serve-routes.ts';
import { createHttpServer } from '../src/platform/http-server.ts';
import { openKeyValueStore } from '../src/platform/key-value-store.ts';
import { createLogger } from '../src/platform/logger.ts';
import { readSettings } from '../src/platform/settings.ts';

/**
 * The server side of `config-serve`, all in one process: the control plane, and the same small answer from the bare
 * libraries, from the product's wrapper and from its route table. Servers that nobody asks cost the others nothing.
 */
const [, , folder = '', calls = '0'] = process.argv;
/** A long prompt as people write them; the interface sets no limit. */
const PROMPT_BYTES = 8_192;
const VARIABLES = 30;
const HELLO = { status: 'ok', answer: 'the same small document from everybody' };
const nowIso = () => new Date().toISOString();

const recordingsFolder = join(folder, 'recordings');
mkdirSync(recordingsFolder, { recursive: true });
const store = openKeyValueStore(join(folder, 'store'));
await createBotStore(store).put(benchBot());
const records = createCallRecordStore(store);
for (let from = 0; from < Number(calls); from += 1_000) {
  const size = Math.min(1_000, Number(calls) - from);
  await Promise.all(
    Array.from({ length: size }, (_, i) => records.insertActive(benchCall(`bench-${from + i}`))),
  );
}
const control = await startControl({
  settings: readSettings({ CONTROL_LISTEN: '127.0.0.1:0', CORE_SECRET: 'bench-secret' }, folder, folder),
  store,
  logger: createLogger({ level: 'silent', role: 'bench' }),
  recordingsFolder,
});
const config = await fetch(`http://127.0.0.1:${control.port}/api/v1/config/bench`, {
  headers: { 'x-core-secret': 'bench-secret' },
});
const document = await config.text();
process.stdout.write(
  `${JSON.stringify({
    control: control.port,
    node: await nodeHttp(),
    fastify: await fastifyServer(),
    uws: await bareUws(),
    wrapper: await wrapper(),
    table: await table(),
    floor: await floor(),
  })}\n`,
);

function nodeHttp(): Promise<number> {
  const server = createServer((_request, response) => {
    const body = JSON.stringify(HELLO);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function fastifyServer(): Promise<number> {
  const server = fastify();
  server.get('/hello', async () => HELLO);
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

function bareUws(): Promise<number> {
  return new Promise((resolve, reject) => {
    App()
      .get('/hello', (response) => {
        response.writeHeader('content-type', 'application/json').end(JSON.stringify(HELLO));
      })
      .listen('127.0.0.1', 0, (socket) => {
        if (socket === false) reject(new Error('no free port for the bare route'));
        else resolve(us_socket_local_port(socket));
      });
  });
}

async function wrapper(): Promise<number> {
  const server = createHttpServer({
    routes: [
      {
        method: 'GET',
        path: '/hello',
        maxBodyBytes: 0,
        handler: async () => ({ status: 200, json: HELLO }),
      },
    ],
    onError: () => undefined,
  });
  return (await server.listen('127.0.0.1', 0)).port;
}

async function table(): Promise<number> {
  const hello = route({
    method: 'GET',
    path: '/hello',
    operationId: 'hello',
    summary: 'The same small document',
    tag: 'bench',
    auth: { kind: 'core_secret' },
    responses: { 200: { description: 'It' } },
    handler: async () => ({ status: 200, json: HELLO }),
  });
  const nobody = async () => null;
  const routes = serveRoutes([hello], {
    authenticator: { session: nobody, bearer: nobody, apiKey: nobody },
    guard: createCoreSecretGuard(['bench-secret'], 'http://127.0.0.1'),
    baseUrl: () => 'http://127.0.0.1',
    limiter: new RateLimiter(() => performance.now()),
    once: createIdempotencyGuard(createIdempotencyStore(store), Date.now),
  });
  const server = createHttpServer({ routes, onError: () => undefined });
  return (await server.listen('127.0.0.1', 0)).port;
}

/** What a config cannot do without: a call record on disk, and a document of its size over the wire. */
async function floor(): Promise<number> {
  const table = store.table<ActiveCall>('bench-floor');
  const server = createHttpServer({
    routes: [
      {
        method: 'GET',
        path: '/floor',
        maxBodyBytes: 0,
        handler: async () => {
          await table.put(randomUUID(), benchCall('floor'));
          return { status: 200, headers: { 'content-type': 'application/json' }, body: document };
        },
      },
    ],
    onError: () => undefined,
  });
  return (await server.listen('127.0.0.1', 0)).port;
}

function benchBot(): Bot {
  const named = Array.from({ length: VARIABLES }, (_, i) => `Field ${i}: {{call.field_${i}}}.`).join(' ');
  const sentence =
    'Speak in short sentences, ask one thing at a time and never promise what you cannot keep. ';
  const filler = sentence.repeat(Math.ceil((PROMPT_BYTES - named.length) / sentence.length));
  return {
    ...demoBot(nowIso()),
    bot_id: 'bench',
    system_prompt: `${named} ${filler}`.slice(0, PROMPT_BYTES),
  };
}

function benchCall(sessionId: string): ActiveCall {
  return {
    session_id: sessionId,
    bot_id: 'bench',
    bot_name: 'Bench',
    call_type: 'bot',
    stream_id: 's',
    caller_id: '+911234567890',
    from_number: null,
    call_direction: 'inbound',
    timezone: 'Asia/Kolkata',
    created_at: nowIso(),
    connected_event: Object.fromEntries(
      Array.from({ length: VARIABLES }, (_, i) => [`field_${i}`, `value ${i}`]),
    ),
    sip_context: {},
    crm_data: {},
    integration_log: [],
    campaign: null,
    skip_post_push: false,
  };
}
