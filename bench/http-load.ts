import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

/** How one server answered under load. Latencies are from the first byte sent to the last byte read. */
export interface ServeFigures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server process per request, in microseconds. */
  cpuMicros: number;
}

export interface HttpLoad {
  port: number;
  /** The next request as it goes over the wire, or null when there is none left. */
  next: () => string | null;
  connections: number;
  /** Without it the load ends when there is no next request. */
  seconds?: number;
}

/** Keep-alive connections that each ask one thing at a time, against a server in the process `child`. */
export async function httpLoad(child: ChildProcess, load: HttpLoad): Promise<ServeFigures> {
  const latencies: number[] = [];
  const begin = performance.now();
  const until = load.seconds === undefined ? Number.POSITIVE_INFINITY : begin + load.seconds * 1_000;
  const cpuBefore = await cpuSeconds(child);
  await Promise.all(
    Array.from({ length: load.connections }, () => keepAsking(load.port, load.next, until, latencies)),
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

/** node:http as a client would be the slowest part of the bench, so the answer is read by hand. */
function keepAsking(
  port: number,
  next: () => string | null,
  until: number,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    let askedAt = 0;
    const ask = () => {
      const now = performance.now();
      const request = now >= until ? null : next();
      if (request === null) {
        socket.destroy();
        resolve();
        return;
      }
      askedAt = now;
      socket.write(request);
    };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, ask);
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      received += data;
      const bodyAt = received.indexOf('\r\n\r\n') + 4;
      const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, Math.max(bodyAt, 0)));
      if (bodyAt < 4 || !length || received.length < bodyAt + Number(length[1])) return;
      if (!received.startsWith('HTTP/1.1 200')) {
        reject(new Error(`the server refused a request of the bench: ${received.slice(0, 300)}`));
        socket.destroy();
        return;
      }
      latencies.push(performance.now() - askedAt);
      received = '';
      ask();
    });
    socket.on('error', reject);
  });
}

/** User and system time of the process so far; fields 14 and 15 of /proc/pid/stat, in ticks of 10 ms. */
async function cpuSeconds(child: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The round in the middle by its rate. */
export function medianRound(rounds: readonly ServeFigures[]): ServeFigures {
  const byRate = [...rounds].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = byRate[Math.floor(byRate.length / 2)];
  if (!middle) throw new Error('the bench made no round');
  return middle;
}
