import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { FleetHealth } from '../../src/contracts/fleet.ts';
import { type Main, type MainOptions, startMain } from '../../src/main/main.ts';
import { ResultsOutbox } from '../../src/main/outbox/results-outbox.ts';
import { httpCall } from '../../src/platform/http-client.ts';
import type { KeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger, type Logger } from '../../src/platform/logger.ts';
import { projectRoot } from '../../src/platform/project-paths.ts';
import { readSettings, type Settings } from '../../src/platform/settings.ts';
import { until } from './wait.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../main/fixtures/${name}.${EXTENSION}`, import.meta.url));
}

export function quietLogger(): Logger {
  return createLogger({ level: process.env.TEST_LOG ?? 'silent', role: 'test' });
}

/** The results outbox of a store, which delivers nothing. */
export function idleOutbox(store: KeyValueStore): ResultsOutbox {
  return new ResultsOutbox({ store, coreSecret: '', ownOrigins: [], logger: quietLogger() });
}

/** Settings of a worker on ephemeral ports; `env` goes on top. */
export function workerSettings(dataDir: string, env: Record<string, string> = {}): Settings {
  return readSettings(
    {
      ROLE: 'worker',
      SLOTS: '2',
      DATA_DIR: dataDir,
      FLEET_LISTEN: '127.0.0.1:0',
      CONFIG_URL: 'http://127.0.0.1:1/config',
      LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
      ...env,
    },
    dataDir,
    projectRoot,
  );
}

/** A main on the stand-in slots, with every slot ready. */
export async function startWorker(
  dataDir: string,
  env: Record<string, string> = {},
  bounds: NonNullable<MainOptions['bounds']> = {},
): Promise<Main> {
  const settings = workerSettings(dataDir, env);
  const main = await startMain(settings, {
    logger: quietLogger(),
    slotEntry: fixture('stand-in-slot'),
    bounds,
  });
  await until(() => {
    const health = main.health();
    return health !== null && health.fleet_available + health.fleet_busy >= settings.slots;
  });
  return main;
}

/** A caller on a raw socket: what it wrote is exact, what it got is there as bytes. */
export interface RawCaller {
  socket: Socket;
  received(): string;
  closed(): boolean;
}

export function upgradeRequest(path: string, headers: Record<string, string> = {}): string {
  const all: Record<string, string> = {
    host: 'ingress',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

export function rawCaller(port: number, request: string): RawCaller {
  let text = '';
  let closed = false;
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
  });
  return { socket, received: () => text, closed: () => closed };
}

/** Calls a bot and waits until its slot has answered the handshake. */
export async function call(port: number, path: string): Promise<RawCaller & { pid: number; callId: string }> {
  const caller = rawCaller(port, upgradeRequest(path));
  await until(() => /call \S+ secret/.test(caller.received()) || caller.closed());
  const [, pid = '', callId = ''] = /pid (\d+) call (\S+) secret/.exec(caller.received()) ?? [];
  if (callId === '') throw new Error(`no slot answered: ${caller.received()}`);
  return { ...caller, pid: Number(pid), callId };
}

export async function fleetHealth(port: number, headers: Record<string, string> = {}): Promise<FleetHealth> {
  const answer = await httpCall(`http://127.0.0.1:${port}/health/fleet`, {
    headers,
    timeoutMs: 5_000,
    maxBytes: 1_000_000,
  });
  return JSON.parse(answer.body) as FleetHealth;
}
