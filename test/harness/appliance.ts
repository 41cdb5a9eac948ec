import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FleetHealth } from '../../src/contracts/fleet.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { tempFolder } from './temp-folder.ts';
import { PATIENCE_MS, until } from './wait.ts';

/**
 * The real appliance in a process of its own, on a data folder and ports of its own, so that tests can kill it as
 * systemd or a crash would. Its log goes to a file that slots inherit, as they inherit main's descriptor in production.
 */
export class Appliance {
  readonly dataDir: string;
  readonly controlPort: number;
  readonly fleetPort: number;
  private readonly env: Record<string, string>;
  private child: ChildProcess | undefined;

  private constructor(ports: [number, number], env: Record<string, string>) {
    this.dataDir = tempFolder();
    [this.controlPort, this.fleetPort] = ports;
    this.env = env;
  }

  /** Starts it and waits until every slot is ready. `env` adds to or replaces the settings. */
  static async start(env: Record<string, string> = {}): Promise<Appliance> {
    const appliance = new Appliance([await freePort(), await freePort()], env);
    await appliance.launch();
    return appliance;
  }

  /** Starts main again on the same folder and ports. */
  async launch(options: { waitForSlots?: boolean } = {}): Promise<void> {
    const log = openSync(this.logPath, 'a');
    this.child = spawn(process.execPath, [projectPath('dist/src/cli/trunkline.js'), 'start'], {
      cwd: this.dataDir,
      detached: true,
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        SLOTS: '2',
        ...this.env,
        DATA_DIR: this.dataDir,
        CONTROL_LISTEN: `127.0.0.1:${this.controlPort}`,
        FLEET_LISTEN: `127.0.0.1:${this.fleetPort}`,
      },
    });
    closeSync(log);
    const child = this.child;
    await this.until(
      (health) =>
        options.waitForSlots === false ||
        (health.workers ?? []).every((worker) => worker.state !== 'starting'),
      PATIENCE_MS,
      () => child.exitCode !== null,
    );
  }

  get logPath(): string {
    return join(this.dataDir, 'trunkline.log');
  }

  get log(): string {
    return readFileSync(this.logPath, 'utf8');
  }

  get mainPid(): number {
    return this.child?.pid ?? -1;
  }

  get callUrl(): string {
    return `ws://127.0.0.1:${this.fleetPort}/ws/`;
  }

  get spooled(): string[] {
    return readdirSync(join(this.dataDir, 'spool'));
  }

  async health(): Promise<FleetHealth | null> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.fleetPort}/health/fleet`);
      return (await answer.json()) as FleetHealth;
    } catch {
      return null;
    }
  }

  /** Waits until the fleet health satisfies a condition. Throws with the log's end when it never does. */
  async until(
    condition: (health: FleetHealth) => boolean,
    patienceMs = PATIENCE_MS,
    failed: () => boolean = () => false,
  ): Promise<FleetHealth> {
    let last: FleetHealth | null = null;
    const look = async () => {
      last = await this.health();
      if (failed()) throw new Error('main has ended');
      return last !== null && condition(last) && last;
    };
    return until(look, 'the fleet health', patienceMs).catch((error: Error) => {
      const end = this.log.slice(-3000);
      throw new Error(`the appliance did not get there: ${error.message}\n${JSON.stringify(last)}\n${end}`);
    });
  }

  /** A signal for main alone, as a crash or KillMode=process would bring it. */
  signalMain(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve(null);
    const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill(signal);
    return gone;
  }

  /** Ends everything that was ever started on this folder and removes it. */
  async destroy(): Promise<void> {
    const health = await this.health();
    await this.signalMain('SIGKILL');
    for (const worker of health?.workers ?? []) kill(worker.pid);
    for (const folder of this.spooled) {
      try {
        const owner = JSON.parse(readFileSync(join(this.dataDir, 'spool', folder, 'owner.json'), 'utf8'));
        kill(owner.pid);
      } catch {
        // Already taken in.
      }
    }
    await wait(100);
  }
}

function kill(pid: number | null): void {
  try {
    if (pid) process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

/** A port that nothing listens on now; it must be known ahead, because a restarted main takes the same one. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
