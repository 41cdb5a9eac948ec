import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type ProviderClock, realClock } from '../../../src/providers/contract/provider-clock.ts';
import { EmulatorControl, type NextFault } from './control.ts';
import { EmulatedSocket } from './emulated-socket.ts';
import { scaledClock } from './emulator-clock.ts';
import { FrameLog } from './frame-log.ts';
import { type Admission, type Handshake, type Refusal, writeRefusal } from './handshake.ts';
import { flatHeaders, HttpExchange } from './http-exchange.ts';
import { ScriptPlayer } from './script.ts';
import { testAuthority } from './test-authority.ts';
import { Violations } from './violations.ts';

export type { Admission, Handshake, Refusal } from './handshake.ts';

export interface SocketRoute {
  path: string | RegExp;
  /** The vendor's checks before the upgrade; nothing returned means that it is let in. */
  admit?(request: Handshake): Refusal | Admission | undefined;
  session(socket: EmulatedSocket, request: Handshake): void;
}

export interface HttpRoute {
  method: string;
  path: string | RegExp;
  handle(exchange: HttpExchange): void | Promise<void>;
}

export interface EmulatorOptions {
  /** Begins the sentences of violations. */
  vendor: string;
  tls?: boolean;
  /** The clock of every delay and idle rule; the client under test should take the same. */
  clock?: ProviderClock;
  /** Instead of `clock`: so many milliseconds pass in a real one. */
  timeScale?: number;
  /** Keys that must not stand in the log. */
  secrets?: readonly string[];
  http?: readonly HttpRoute[];
  sockets?: readonly SocketRoute[];
}

export interface Emulator {
  httpUrl: string;
  wsUrl: string;
  port: number;
  log: FrameLog;
  violations: Violations;
  control: EmulatorControl;
  clock: ProviderClock;
  /** Open sockets, accepted and refused handshakes, requests, bytes, and what the vendor counts with `count`. */
  counters(): Counters;
  count(name: string, by?: number): void;
  close(): Promise<void>;
}

export interface Counters {
  openSockets: number;
  handshakes: number;
  refused: number;
  requests: number;
  bytesIn: number;
  bytesOut: number;
  [vendorCount: string]: number;
}

/** A frame of the client over this is refused with 1009. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/** Starts a vendor on an ephemeral port of the loopback, in the test's own process. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const clock = options.clock ?? (options.timeScale ? scaledClock(options.timeScale) : realClock);
  const log = new FrameLog(clock, options.secrets ?? []);
  const violations = new Violations();
  const control = new EmulatorControl();
  const counts: Counters = {
    openSockets: 0,
    handshakes: 0,
    refused: 0,
    requests: 0,
    bytesIn: 0,
    bytesOut: 0,
  };
  const onBytes = (direction: 'in' | 'out', bytes: number) => {
    counts[direction === 'in' ? 'bytesIn' : 'bytesOut'] += bytes;
  };

  const authority = options.tls ? testAuthority() : null;
  const server = authority ? createTlsServer({ key: authority.key, cert: authority.cert }) : createServer();
  const upgrades = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    // The admission decides; without one, none is chosen, as with vendors that know no subprotocol.
    handleProtocols: (_, request) => (request as WithAdmission).admission?.subprotocol ?? false,
  });
  upgrades.on('headers', (lines, request) => {
    const { admission } = request as WithAdmission;
    for (const [name, value] of Object.entries(admission?.headers ?? {})) lines.push(`${name}: ${value}`);
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(request, response).catch((error: unknown) => {
      // A fault of the emulator itself must fail the test and not look like a vendor's.
      violations.add(`the ${options.vendor} emulator failed: ${String(error)}`);
      response.destroy();
    });
  });
  server.on('upgrade', (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    raw.on('error', () => undefined);
    upgrade(request as WithAdmission, raw, head).catch((error: unknown) => {
      violations.add(`the ${options.vendor} emulator failed: ${String(error)}`);
      raw.destroy();
    });
  });

  async function answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = counts.requests;
    counts.requests += 1;
    const url = new URL(request.url ?? '/', 'http://emulator');
    const fault = control.takeFault('request');
    const orderedShape = fault && 'stream' in fault ? fault.stream : undefined;
    const exchange = new HttpExchange({
      connection,
      request,
      response,
      url,
      log,
      clock,
      orderedShape,
      onBytes,
    });
    const json = await exchange.json();
    log.add({
      connection,
      direction: 'in',
      kind: 'request',
      method: exchange.method,
      path: exchange.path,
      query: [...exchange.query],
      headers: exchange.headers,
      bytes: (await exchange.body()).length,
      ...(json === undefined ? {} : { json }),
    });
    if (fault && 'status' in fault) return exchange.reply(fault.status, fault.body, fault.headers);
    if (fault && (await broken(fault, request.socket))) return;
    const route = options.http?.find(
      (candidate) => candidate.method === exchange.method && fits(candidate.path, exchange.path),
    );
    if (!route) {
      violations.add(`${options.vendor}: ${exchange.method} ${exchange.path} does not exist`);
      return exchange.reply(404, { error: { message: 'not found' } });
    }
    await route.handle(exchange);
  }

  async function upgrade(request: WithAdmission, raw: Duplex, head: Buffer): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://emulator');
    const handshake: Handshake = {
      path: url.pathname,
      query: url.searchParams,
      headers: flatHeaders(request),
      subprotocols: (request.headers['sec-websocket-protocol'] ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    };
    log.add({
      connection: counts.handshakes,
      direction: 'in',
      kind: 'handshake',
      method: request.method ?? 'GET',
      path: handshake.path,
      query: [...handshake.query],
      headers: handshake.headers,
    });
    const fault = control.takeFault('request');
    if (fault && 'status' in fault) return refuse(raw, fault);
    if (fault && (await broken(fault, raw))) return;
    if (raw.destroyed) return;
    const route = options.sockets?.find((candidate) => fits(candidate.path, handshake.path));
    if (!route) {
      violations.add(`${options.vendor}: no socket at ${handshake.path}`);
      return refuse(raw, { status: 404, body: { error: 'not found' } });
    }
    const verdict = route.admit?.(handshake);
    if (verdict && 'status' in verdict) return refuse(raw, verdict);
    if (verdict) request.admission = verdict;
    upgrades.handleUpgrade(request, raw, head, (socket) => {
      const emulated = new EmulatedSocket({ index: counts.handshakes, socket, raw, log, clock, onBytes });
      counts.handshakes += 1;
      counts.openSockets += 1;
      emulated.onClose(() => {
        counts.openSockets -= 1;
      });
      log.add({ connection: emulated.index, direction: 'out', kind: 'accepted', status: 101 });
      const script = control.takeScript();
      if (script) emulated.scripted = true;
      // First the vendor's own checks, then the script: a frame that is refused is not one that a step waits for.
      route.session(emulated, handshake);
      if (script) {
        const player = new ScriptPlayer(emulated, clock, violations);
        player.play(script).catch((error: unknown) => violations.add(`script: ${String(error)}`));
      }
      control.accepted(emulated);
    });
  }

  /** Does what a fault without an answer orders; false where the request goes on afterwards. */
  async function broken(fault: NextFault, raw: Duplex): Promise<boolean> {
    if ('slowMs' in fault) {
      await clock.sleep(fault.slowMs);
      return false;
    }
    if ('never' in fault) return true;
    if (!('reset' in fault)) return false;
    log.add({ connection: -1, direction: 'out', kind: 'fault', fault: 'reset' });
    if (options.tls) raw.destroy();
    else (raw as Socket).resetAndDestroy();
    return true;
  }

  function refuse(raw: Duplex, refusal: Refusal): void {
    counts.refused += 1;
    log.add({
      connection: -1,
      direction: 'out',
      kind: 'refused',
      status: refusal.status,
      json: refusal.body,
    });
    writeRefusal(raw, refusal);
  }

  // A plain listener stands before the HTTP server, so that a connection can be spoilt before TLS begins.
  const open = new Set<Socket>();
  const front = createTcpServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    if (control.takeFault('connection')) {
      log.add({ connection: -1, direction: 'out', kind: 'fault', fault: 'tls failure' });
      socket.end('This is not TLS.\r\n');
      return;
    }
    server.emit('connection', socket);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = front.address() as AddressInfo;
  const host = '127.0.0.1';

  return {
    httpUrl: `${options.tls ? 'https' : 'http'}://${host}:${port}`,
    wsUrl: `${options.tls ? 'wss' : 'ws'}://${host}:${port}`,
    port,
    log,
    violations,
    control,
    clock,
    counters: () => ({ ...counts }),
    count(name, by = 1) {
      counts[name] = (counts[name] ?? 0) + by;
    },
    async close() {
      for (const socket of control.sockets) socket.destroy();
      for (const socket of open) socket.destroy();
      server.close();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

interface WithAdmission extends IncomingMessage {
  admission?: Admission;
}

function fits(pattern: string | RegExp, path: string): boolean {
  return typeof pattern === 'string' ? pattern === path : pattern.test(path);
}
