import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** One side of the comparison. Latencies are from the first byte sent to the last byte read. */
export interface ServeFigures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server process per request, in microseconds. */
  cpuMicros: number;
}

export interface ConfigServeFigures {
  /** A bare uWS route that answers a document of the same size. */
  bare: ServeFigures;
  /** Secret checked, bot read, prompt rendered, call record flushed to disk. */
  config: ServeFigures;
  /** Secret checked, one call record read and sent. */
  read: ServeFigures;
  configToBare: number;
  readToBare: number;
  connections: number;
}

/**
 * Loads the config route, a store-reading route and a bare uWS route in turns, within one server process and one run, so
 * that the ratios mean something on any machine. `seconds` is the load per side and round.
 */
export async function benchConfigServe(options: {
  seconds: number;
  rounds: number;
  connections: number;
}): Promise<ConfigServeFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const { child, ports } = await startServer(folder);
  try {
    const side = (port: number, path: string) => ({
      port,
      head: `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Core-Secret: bench-secret\r\n\r\n`,
      runs: [] as ServeFigures[],
    });
    const bare = side(ports.bare, '/bare');
    const config = side(
      ports.control,
      '/api/v1/config/demo?caller_id=%2B911234567890&stream_id=s&connected_event=%7B%22name%22%3A%22Asha%22%7D',
    );
    const read = side(ports.control, '/api/v1/call-records/bench');
    for (let round = 0; round <= options.rounds; round++) {
      for (const one of [bare, config, read]) {
        const figures = await load(child, one.port, one.head, options);
        // The first round only warms up.
        if (round > 0) one.runs.push(figures);
      }
    }
    const [b, c, r] = [median(bare.runs), median(config.runs), median(read.runs)];
    return {
      bare: b,
      config: c,
      read: r,
      configToBare: c.requestsPerSecond / b.requestsPerSecond,
      readToBare: r.requestsPerSecond / b.requestsPerSecond,
      connections: options.connections,
    };
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function load(
  child: ChildProcess,
  port: number,
  head: string,
  options: { seconds: number; connections: number },
): Promise<ServeFigures> {
  const latencies: number[] = [];
  const begin = performance.now();
  const until = begin + options.seconds * 1_000;
  const cpuBefore = await cpuSeconds(child);
  await Promise.all(
    Array.from({ length: options.connections }, () => keepAsking(port, head, until, latencies)),
  );
  const seconds = (performance.now() - begin) / 1_000;
  const cpu = (await cpuSeconds(child)) - cpuBefore;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => latencies[Math.floor(q * (latencies.length - 1))] ?? Number.NaN;
  return {
    requestsPerSecond: latencies.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    cpuMicros: (cpu * 1e6) / latencies.length,
  };
}

/** One keep-alive connection, one request at a time. node:http as a client would be the slowest part of the bench. */
function keepAsking(port: number, head: string, until: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    let askedAt = performance.now();
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(head));
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      received += data;
      const bodyAt = received.indexOf('\r\n\r\n') + 4;
      const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, Math.max(bodyAt, 0)));
      if (bodyAt < 4 || !length || received.length < bodyAt + Number(length[1])) return;
      const now = performance.now();
      latencies.push(now - askedAt);
      received = '';
      if (now >= until) {
        socket.destroy();
        resolve();
        return;
      }
      askedAt = now;
      socket.write(head);
    });
    socket.on('error', reject);
  });
}

function startServer(
  folder: string,
): Promise<{ child: ChildProcess; ports: { control: number; bare: number } }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`./config-serve-server.${extension}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entry, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', (data) => resolve({ child, ports: JSON.parse(String(data)) }));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the bench server ended at its start with code ${code}`)));
  });
}

/** User and system time of the process so far; fields 14 and 15 of /proc/pid/stat, in ticks of 10 ms. */
async function cpuSeconds(child: ChildProcess): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function median(runs: readonly ServeFigures[]): ServeFigures {
  const byRate = [...runs].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = byRate[Math.floor(byRate.length / 2)];
  if (!middle) throw new Error('the bench made no round');
  return middle;
}

export function describeConfigServe(figures: ConfigServeFigures): string {
  const line = (name: string, side: ServeFigures) =>
    `${name.padEnd(34)} ${Math.round(side.requestsPerSecond).toString().padStart(7)} req/s   p50 ${side.p50Ms.toFixed(2)} ms   p99 ${side.p99Ms.toFixed(2)} ms   ${side.cpuMicros.toFixed(0)} us CPU`;
  return [
    `config-serve: ${figures.connections} connections, Node ${process.version}, ${availableParallelism()} cores, client on the same machine`,
    line('bare uWS route', figures.bare),
    line('record: secret and one store read', figures.read),
    line('config, call record durable', figures.config),
    `config / bare = ${figures.configToBare.toFixed(2)}, read / bare = ${figures.readToBare.toFixed(2)}`,
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(describeConfigServe(await benchConfigServe({ seconds: 3, rounds: 3, connections: 32 })));
}
