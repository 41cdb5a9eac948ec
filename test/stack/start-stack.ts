import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { projectPath } from '../../src/platform/project-paths.ts';
import { redisAnswers, serverAnswers, sipAnswers } from './readiness.ts';
import { claimPorts, type StackPorts } from './stack-ports.ts';
import { StackProcess } from './stack-process.ts';
import { openWebhookRelay, registerWebhookTarget } from './webhook-relay.ts';

/** Where a media stack is; plain JSON, so that it passes from process to process. */
export interface StackAddresses {
  /** Of livekit-server's API, `http://127.0.0.1:<port>`. */
  url: string;
  /** For those who join rooms, `ws://127.0.0.1:<port>`. */
  wsUrl: string;
  apiKey: string;
  apiSecret: string;
  /** Of livekit-sip, `127.0.0.1:<port>`, UDP and TCP. */
  sipAddress: string;
  redisAddress: string;
  /** UDP ports of livekit-sip's media. */
  rtpPortRange: { first: number; last: number };
  webhookRelayUrl: string;
  /** Holds redis.log, livekit-server.log and livekit-sip.log. */
  logsFolder: string;
}

export interface Stack extends StackAddresses {
  /** Every webhook of livekit-server goes to this address too, until the returned function is called. */
  sendWebhooksTo(url: string): Promise<() => Promise<void>>;
}

/** A stack that this process started, and whose parts it may therefore kill. */
export interface OwnStack extends Stack {
  /** Of the programs as they run now; another one after each start. */
  readonly pids: { livekitServer: number; livekitSip: number; redis: number };
  killServer(): Promise<void>;
  /**
   * It serves at once. This resolves when no room is given any more to the one that was killed, which is some seconds
   * later; a test that wants to see those seconds does not wait for it.
   */
  startServer(): Promise<void>;
  /** Kills livekit-server and starts it again on the same ports. */
  restartServer(): Promise<void>;
  killSip(): Promise<void>;
  startSip(): Promise<void>;
  /** Tells livekit-sip to finish its calls and go, and says within the time whether it went, which ends its service. */
  retireSip(withinMs: number): Promise<boolean>;
  stop(): Promise<void>;
}

export interface StackOptions {
  /** Lines of livekit-server's configuration that differ, by their top-level key. */
  serverConfig?: Record<string, unknown>;
  /** Lines of livekit-sip's configuration that differ, by their top-level key. */
  sipConfig?: Record<string, unknown>;
  /** Addresses that livekit-server itself sends its webhooks to, with its own retries. */
  webhookUrls?: readonly string[];
}

interface Programs {
  paths: Record<string, string>;
  missing: string[];
  off: boolean;
  required: boolean;
  env: Record<string, string>;
}

const API_KEY = 'trunkline-test';
const API_SECRET = 'a-secret-of-the-test-stack-and-of-nothing-else';
const LOOPBACK = '127.0.0.1';
/** In Redis a killed livekit-server counts as one that takes rooms until it has said nothing for 5 s. */
const GHOST_MS = 6_000;

/** Why there can be no stack here, in one sentence; '' when there can be one. */
export async function stackTrouble(): Promise<string> {
  const { missing, off } = await findPrograms();
  if (off) return 'STACK=off is set';
  if (missing.length === 0) return '';
  return `the media stack is not complete, there is no ${missing.join(', no ')}; run "node setup.mjs stack"`;
}

/**
 * Starts Redis, livekit-server and livekit-sip on ports of their own and resolves when each of them serves. They end
 * with {@link OwnStack.stop} or with this process, however it ends. `STACK_LOGS=<folder>` keeps the logs.
 */
export async function startStack(options: StackOptions = {}): Promise<OwnStack> {
  const trouble = await stackTrouble();
  if (trouble) throw new Error(trouble);
  const { paths, env } = await findPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-stack-'));
  const logsFolder = process.env.STACK_LOGS ? join(process.env.STACK_LOGS, `stack-${process.pid}`) : folder;
  mkdirSync(logsFolder, { recursive: true });
  const relay = openWebhookRelay();
  const ports = await claimPorts(relay.server);
  const addresses = addressesOf(ports, logsFolder);
  const program = (name: string, args: readonly string[], isReady: () => Promise<boolean>) =>
    new StackProcess({
      name,
      path: paths[name] ?? name,
      args,
      env,
      logFile: join(logsFolder, `${name.replace('redis-server', 'redis')}.log`),
      isReady,
    });
  const config = (name: string, content: Record<string, unknown>) => {
    // JSON is YAML too.
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, JSON.stringify(content, null, 2));
    return ['--config', file];
  };
  const redis = program('redis-server', redisArguments(ports, folder), () =>
    redisAnswers(addresses.redisAddress),
  );
  const server = program(
    'livekit-server',
    config('livekit-server', { ...serverConfig(addresses, ports, options), ...options.serverConfig }),
    () => serverAnswers(addresses.url),
  );
  const sip = program(
    'livekit-sip',
    config('livekit-sip', { ...sipConfig(addresses, ports), ...options.sipConfig }),
    () => sipAnswers(addresses.sipAddress, addresses.redisAddress),
  );
  const stop = async () => {
    await Promise.all([sip, server, redis].map((part) => part.kill('SIGKILL')));
    relay.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await redis.start();
    await Promise.all([server.start(), sip.start()]);
  } catch (error) {
    await stop();
    throw error;
  }
  let killedAtMs = Number.NEGATIVE_INFINITY;
  const killServer = async () => {
    await server.kill('SIGKILL');
    killedAtMs = performance.now();
  };
  const startServer = async () => {
    await server.start();
    await wait(Math.max(0, killedAtMs + GHOST_MS - performance.now()));
  };
  return {
    ...addresses,
    get pids() {
      return { livekitServer: server.pid, livekitSip: sip.pid, redis: redis.pid };
    },
    sendWebhooksTo: (url) => registerWebhookTarget(addresses.webhookRelayUrl, url),
    killServer,
    startServer,
    async restartServer() {
      await killServer();
      await startServer();
    },
    killSip: () => sip.kill('SIGKILL'),
    startSip: () => sip.start(),
    retireSip: (withinMs) => sip.ask('SIGTERM', withinMs),
    stop,
  };
}

function addressesOf(ports: StackPorts, logsFolder: string): StackAddresses {
  return {
    url: `http://${LOOPBACK}:${ports.server}`,
    wsUrl: `ws://${LOOPBACK}:${ports.server}`,
    apiKey: API_KEY,
    apiSecret: API_SECRET,
    sipAddress: `${LOOPBACK}:${ports.sip}`,
    redisAddress: `${LOOPBACK}:${ports.redis}`,
    rtpPortRange: ports.rtp,
    webhookRelayUrl: `http://${LOOPBACK}:${ports.relay}`,
    logsFolder,
  };
}

function redisArguments(ports: StackPorts, folder: string): string[] {
  return [
    '--port',
    String(ports.redis),
    '--bind',
    LOOPBACK,
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
}

function serverConfig(addresses: StackAddresses, ports: StackPorts, options: StackOptions) {
  return {
    port: ports.server,
    bind_addresses: [LOOPBACK],
    rtc: {
      // One UDP port carries everybody's media. ICE over TCP would listen on every address of the machine.
      udp_port: ports.ice,
      tcp_port: 0,
      use_external_ip: false,
      enable_loopback_candidate: true,
      node_ip: LOOPBACK,
      ips: { includes: [`${LOOPBACK}/32`] },
    },
    redis: { address: addresses.redisAddress },
    keys: { [API_KEY]: API_SECRET },
    webhook: {
      api_key: API_KEY,
      urls: [`${addresses.webhookRelayUrl}/webhooks`, ...(options.webhookUrls ?? [])],
    },
    logging: { level: 'info', json: false },
  };
}

function sipConfig(addresses: StackAddresses, ports: StackPorts) {
  return {
    api_key: API_KEY,
    api_secret: API_SECRET,
    ws_url: addresses.wsUrl,
    redis: { address: addresses.redisAddress },
    sip_port: ports.sip,
    rtp_port: `${ports.rtp.first}-${ports.rtp.last}`,
    listen_ip: LOOPBACK,
    use_external_ip: false,
    // Without it livekit-sip would put the address of a network card into its SDP.
    nat_1_to_1_ip: LOOPBACK,
    // Exactly 1 refuses no call however busy the machine is; the program takes anything above for a mistake and
    // falls back to 0.9.
    max_cpu_utilization: 1,
    logging: { level: 'debug', json: false },
  };
}

async function findPrograms(): Promise<Programs> {
  const { stackPrograms } = (await import(projectPath('setup/stack-programs.mjs'))) as {
    stackPrograms: () => Programs;
  };
  return stackPrograms();
}
