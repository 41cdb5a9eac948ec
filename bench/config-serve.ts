import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { httpLoad, medianRound, type ServeFigures } from './http-load.ts';

/** The control plane under load on loopback, beside the bare libraries in the same process and run. */
export interface ConfigServeFigures {
  /** The same small answer from each. */
  frameworks: Record<'node' | 'fastify' | 'uws' | 'wrapper' | 'table', ServeFigures>;
  /** What no config can do without: a call record on disk and a document of its size. */
  floor: ServeFigures;
  /** Secret checked, 8 kB prompt with 30 variables rendered, call record on disk. */
  config: ServeFigures;
  /** Secret checked, one call record read and sent. */
  read: ServeFigures;
  /** Results of a call taken in and on disk. */
  results: ServeFigures;
  /** Syncs of one appended page on the same disk: what one commit per result could do at most. */
  bareSyncsPerSecond: number;
  /** Requests per second of processor time, ours to Fastify's. */
  wrapperToFastify: number;
  tableToFastify: number;
  /** Part of the config route's processor time that is neither HTTP nor the durable write. */
  ownShare: number;
  connections: number;
}

export interface ConfigServeOptions {
  /** Load per side and round. */
  seconds: number;
  rounds: number;
  connections: number;
  resultsPerRound: number;
}

type Ports = Record<keyof ConfigServeFigures['frameworks'] | 'control' | 'floor', number>;

/** In turns, so that what disturbs the machine disturbs all; a first round warms up and does not count. */
export async function benchConfigServe(options: ConfigServeOptions): Promise<ConfigServeFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const calls = options.resultsPerRound * (options.rounds + 1);
  const { child, ports } = await startServer(folder, calls);
  try {
    const names = ['node', 'fastify', 'uws', 'wrapper', 'table'] as const;
    const asking = (port: number, path: string) => {
      const request = get(path);
      return { port, next: () => request, seconds: options.seconds, connections: options.connections };
    };
    let session = 0;
    const sides = {
      ...Object.fromEntries(names.map((name) => [name, () => asking(ports[name], '/hello')])),
      floor: () => asking(ports.floor, '/floor'),
      config: () => asking(ports.control, CONFIG_PATH),
      read: () => asking(ports.control, '/api/v1/call-records/bench-0'),
      results: () => {
        const last = session + options.resultsPerRound;
        const next = () => (session < last ? postResults(`bench-${session++}`) : null);
        return { port: ports.control, next, connections: options.connections };
      },
    };
    const rounds = new Map<string, ServeFigures[]>();
    for (let round = 0; round <= options.rounds; round++) {
      for (const [name, load] of Object.entries(sides)) {
        const figures = await httpLoad(child, load());
        if (round > 0) rounds.set(name, [...(rounds.get(name) ?? []), figures]);
      }
    }
    const of = (name: string) => medianRound(rounds.get(name) ?? []);
    const frameworks = Object.fromEntries(
      names.map((name) => [name, of(name)]),
    ) as ConfigServeFigures['frameworks'];
    const [config, floor] = [of('config'), of('floor')];
    return {
      frameworks,
      floor,
      config,
      read: of('read'),
      results: of('results'),
      bareSyncsPerSecond: bareSyncs(folder),
      wrapperToFastify: frameworks.fastify.cpuMicros / frameworks.wrapper.cpuMicros,
      tableToFastify: frameworks.fastify.cpuMicros / frameworks.table.cpuMicros,
      ownShare: 1 - floor.cpuMicros / config.cpuMicros,
      connections: options.connections,
    };
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
}

const EVENT = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field_${i}`, `value ${i}`]));
const CONFIG_PATH = `/api/v1/config/bench?caller_id=%2B911234567890&stream_id=s&connected_event=${encodeURIComponent(JSON.stringify(EVENT))}`;

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Core-Secret: bench-secret\r\n\r\n`;
}

/** A call of ten turns, about 3 kB. */
function postResults(sessionId: string): string {
  const body = JSON.stringify({
    session_id: sessionId,
    stream_id: 's',
    caller_id: '+911234567890',
    from_number: null,
    call_duration_seconds: 42.5,
    call_direction: 'inbound',
    disconnected_by: 'customer',
    transcript: Array.from({ length: 20 }, (_, i) => ({
      speaker: i % 2 === 0 ? 'bot' : 'customer',
      text: 'A sentence of the usual length, as people say it on the telephone every day.',
      timestamp: i * 2,
    })),
    recording_url: null,
    recording_key: null,
    post_call_analysis: {},
    usage_metrics: [],
    events: [{ event: 'call_started', ts: 0 }],
    was_transferred: false,
    transfer_destination: null,
    transfer_target: null,
    transfer_reason: null,
    transfer_method: null,
    transfer_at: null,
    transfer_failed_reason: null,
  });
  return `POST /api/v1/call-results HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const SYNCED_BYTES = 4_096;
const SYNC_MS = 1_000;

function bareSyncs(folder: string): number {
  const file = openSync(join(folder, 'syncs'), 'w');
  const page = Buffer.alloc(SYNCED_BYTES, 1);
  const begin = performance.now();
  let syncs = 0;
  while (performance.now() - begin < SYNC_MS) {
    writeSync(file, page);
    fdatasyncSync(file);
    syncs++;
  }
  closeSync(file);
  return (syncs * 1_000) / (performance.now() - begin);
}

function startServer(folder: string, calls: number): Promise<{ child: ChildProcess; ports: Ports }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`./config-serve-server.${extension}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entry, folder, String(calls)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.once('data', (data) => resolve({ child, ports: JSON.parse(String(data)) as Ports }));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the bench server ended at its start with code ${code}`)));
  });
}

export function describeConfigServe(figures: ConfigServeFigures): string {
  const { frameworks, config, floor, results } = figures;
  const line = (name: string, side: ServeFigures) =>
    `${name.padEnd(36)} ${Math.round(side.requestsPerSecond).toString().padStart(7)} req/s   p50 ${side.p50Ms.toFixed(2)} ms   p99 ${side.p99Ms.toFixed(2)} ms   ${side.cpuMicros.toFixed(0)} us CPU`;
  return [
    `control plane: ${figures.connections} connections, Node ${process.version}, ${availableParallelism()} cores, client on the same machine`,
    line('small answer: node:http', frameworks.node),
    line('small answer: Fastify', frameworks.fastify),
    line('small answer: bare uWS', frameworks.uws),
    line('small answer: our wrapper', frameworks.wrapper),
    line('small answer: route table, secret', frameworks.table),
    line('record: secret and one store read', figures.read),
    line('floor of a config: HTTP, one put', floor),
    line('config: 8 kB prompt, 30 variables', config),
    line('results: 3 kB, on disk', results),
    `requests per CPU second to Fastify: wrapper ${figures.wrapperToFastify.toFixed(2)}, route table ${figures.tableToFastify.toFixed(2)} (goal 1.5)`,
    `config: ${(figures.ownShare * 100).toFixed(0)} % of its CPU is ours, the rest is HTTP and the durable write`,
    `results: ${Math.round(results.requestsPerSecond)}/s (goal 1000) where the disk takes ${Math.round(figures.bareSyncsPerSecond)} syncs/s`,
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(
    describeConfigServe(
      await benchConfigServe({ seconds: 3, rounds: 3, connections: 32, resultsPerRound: 6_000 }),
    ),
  );
}
