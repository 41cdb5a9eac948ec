import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { FleetHealth } from '../../contracts/fleet.ts';
import { FLEET_HEALTH_PATH } from '../../contracts/http-names.ts';
import { monotonicMs, sleepMs, within } from '../../platform/clock.ts';
import { httpCall } from '../../platform/http-client.ts';

/** From the start of the process to the first slot that takes calls: models load, speech engines warm up. */
const READY_TIMEOUT_MS = 90_000;
/** A drained appliance without calls leaves within seconds; then it is killed. */
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 200;
const HEALTH_MAX_BYTES = 1_048_576;
const SHOWN_LOG_LINES = 20;

/** What the child may know of this shell: never its secrets and settings, so that every demo is the same. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'MODEL_DIR', 'MODELS', 'TURN_MODEL'];

export interface Appliance {
  controlUrl: string;
  fleetUrl: string;
  dataDir: string;
  logFile: string;
  models: FleetHealth['models'];
  stop(): Promise<void>;
}

/**
 * Starts `trunkline start` as a child on free ports with its log in a file, and resolves once a slot takes calls.
 * `baseUrl` is what the appliance believes its control plane to be called (see results-receiver.ts).
 */
export async function startAppliance(options: {
  folder: string;
  controlPort: number;
  baseUrl: string;
  slots: number;
  /** The command line's entry; that of this process unless another program is at work. */
  program?: string;
  /** Settings beside those of every demo. */
  env?: Record<string, string>;
  stop: AbortSignal;
}): Promise<Appliance> {
  const dataDir = join(options.folder, 'data');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const fleetPort = await freePort();
  const logFile = join(options.folder, 'appliance.log');
  const log = openSync(logFile, 'w', 0o600);
  const child = spawn(
    process.execPath,
    [...process.execArgv, options.program ?? (process.argv[1] as string), 'start'],
    {
      env: {
        ...Object.fromEntries(
          PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
        ),
        DATA_DIR: dataDir,
        CONTROL_LISTEN: `127.0.0.1:${options.controlPort}`,
        FLEET_LISTEN: `127.0.0.1:${fleetPort}`,
        BASE_URL: options.baseUrl,
        SLOTS: String(options.slots),
        ...options.env,
      },
      stdio: ['ignore', log, log],
      // Ctrl-C goes to the demo alone, which then ends the call and the appliance in order.
      detached: true,
    },
  );
  closeSync(log);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
    );
  });
  const fleetUrl = `http://127.0.0.1:${fleetPort}`;
  const stop = () => stopChild(child, ended);
  try {
    const models = await untilReady(fleetUrl, ended, logFile, options.stop);
    return {
      controlUrl: `http://127.0.0.1:${options.controlPort}`,
      fleetUrl,
      dataDir,
      logFile,
      models,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function untilReady(
  fleetUrl: string,
  ended: Promise<string>,
  logFile: string,
  signal: AbortSignal,
): Promise<FleetHealth['models']> {
  const deadlineMs = monotonicMs() + READY_TIMEOUT_MS;
  for (;;) {
    const outcome = await Promise.race([ended, sleepMs(POLL_MS, signal).then(() => null)]);
    if (outcome) throw new Error(`the appliance ${outcome}; its last lines were:\n${lastLines(logFile)}`);
    const health = await readHealth(fleetUrl);
    if (health && health.fleet_available > 0) return health.models;
    if (monotonicMs() > deadlineMs) {
      throw new Error(
        `no slot was ready within ${READY_TIMEOUT_MS / 1000} s; its last lines were:\n${lastLines(logFile)}`,
      );
    }
  }
}

async function readHealth(fleetUrl: string): Promise<FleetHealth | null> {
  try {
    const answer = await httpCall(`${fleetUrl}${FLEET_HEALTH_PATH}`, {
      timeoutMs: 2_000,
      maxBytes: HEALTH_MAX_BYTES,
    });
    return answer.status === 200 ? (JSON.parse(answer.body) as FleetHealth) : null;
  } catch {
    // Nobody listens yet.
    return null;
  }
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill('SIGTERM');
  if (await within(ended, STOP_TIMEOUT_MS, null)) return;
  // The whole group, slots included: nothing of a demo may stay behind.
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
  await ended;
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-SHOWN_LOG_LINES).join('\n');
}
