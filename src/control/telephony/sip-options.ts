import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describeError } from '../../platform/app-error.ts';
import type { SipTransport } from './trunk.ts';

/** What a SIP peer has said to `OPTIONS` (RFC 3261 section 11). */
export type OptionsOutcome =
  /** It is there: any final answer shows that, also one that says no. */
  | { outcome: 'answers'; status: number; reason: string; ms: number }
  | { outcome: 'silent'; ms: number }
  /** No connection, no such name, or what came back is no SIP. */
  | { outcome: 'failed'; detail: string; ms: number };

/** RFC 3261 section 17.1.2.2: T1, then twice as long each time; here only up to the bound below. */
const FIRST_REPEAT_MS = 500;
const ANSWER_MS = 4_000;
const MAX_ANSWER_BYTES = 65_536;
const SIP_PORT = 5_060;
const SIPS_PORT = 5_061;

/** Asks a SIP peer for its abilities, which costs it nothing, to see whether it can be reached. Never rejects. */
export async function sendOptions(address: string, transport: SipTransport): Promise<OptionsOutcome> {
  const { host, port } = readAddress(address, transport);
  const startedMs = performance.now();
  const ms = () => Math.round(performance.now() - startedMs);
  const ask = transport === 'tcp' || transport === 'tls' ? askStream : askUdp;
  try {
    const answer = await ask(host, port, transport);
    if (answer === null) return { outcome: 'silent', ms: ms() };
    const [, status, reason = ''] = /^SIP\/2\.0 (\d{3})(?: ([^\r\n]*))?/.exec(answer) ?? [];
    if (status === undefined) {
      return { outcome: 'failed', detail: 'something answers there, but not in SIP', ms: ms() };
    }
    return { outcome: 'answers', status: Number(status), reason: reason.slice(0, 200), ms: ms() };
  } catch (error) {
    return { outcome: 'failed', detail: describeError(error), ms: ms() };
  }
}

function readAddress(address: string, transport: SipTransport): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(address);
  return {
    host: match?.[1] ?? match?.[2] ?? address,
    port: Number(match?.[3] ?? (transport === 'tls' ? SIPS_PORT : SIP_PORT)),
  };
}

/** Null where nothing comes; rejects where the system says that nobody is there. */
async function askUdp(host: string, port: number): Promise<string | null> {
  const peer = await lookup(host);
  return new Promise((resolve, reject) => {
    const socket = createSocket(peer.family === 6 ? 'udp6' : 'udp4');
    const timers: NodeJS.Timeout[] = [];
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
      socket.close();
      settle();
    };
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('message', (data) => {
      const text = data.toString('utf8');
      // A provisional answer is followed by another one.
      if (!/^SIP\/2\.0 1/.test(text)) end(() => resolve(text));
    });
    socket.connect(port, peer.address, () => {
      if (isOver) return;
      const request = optionsRequest(host, port, 'UDP', socket.address());
      const send = () => socket.send(request);
      send();
      for (let waitMs = FIRST_REPEAT_MS; waitMs < ANSWER_MS; waitMs = waitMs * 2 + FIRST_REPEAT_MS) {
        timers.push(setTimeout(send, waitMs));
      }
      timers.push(setTimeout(() => end(() => resolve(null)), ANSWER_MS));
    });
  });
}

function askStream(host: string, port: number, transport: SipTransport): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const secure = transport === 'tls';
    const socket: Socket = secure
      ? connectTls({ host, port, servername: /[a-z]/i.test(host) ? host : '' })
      : connectTcp({ host, port });
    let text = '';
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    const timer = setTimeout(() => end(() => resolve(null)), ANSWER_MS);
    socket.once('error', (error) => end(() => reject(error)));
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      const local = { address: socket.localAddress ?? '', port: socket.localPort ?? 0 };
      socket.write(optionsRequest(host, port, secure ? 'TLS' : 'TCP', local));
    });
    socket.on('data', (data) => {
      text += data.toString('utf8');
      if (text.includes('\r\n\r\n') || text.length > MAX_ANSWER_BYTES) end(() => resolve(text));
    });
    socket.once('close', () => end(() => resolve(text === '' ? null : text)));
  });
}

function optionsRequest(
  host: string,
  port: number,
  via: 'UDP' | 'TCP' | 'TLS',
  local: { address: string; port: number },
): string {
  const bracketed = (name: string) => (name.includes(':') ? `[${name}]` : name);
  const target = `sip:${bracketed(host)}:${port}${via === 'UDP' ? '' : `;transport=${via.toLowerCase()}`}`;
  const here = `${bracketed(local.address)}:${local.port}`;
  const token = randomBytes(8).toString('hex');
  return [
    `OPTIONS ${target} SIP/2.0`,
    `Via: SIP/2.0/${via} ${here};branch=z9hG4bK${token};rport`,
    'Max-Forwards: 70',
    `From: <sip:trunkline@${here}>;tag=${token.slice(0, 8)}`,
    `To: <${target}>`,
    `Call-ID: ${token}@trunkline`,
    'CSeq: 1 OPTIONS',
    `Contact: <sip:trunkline@${here}>`,
    'Accept: application/sdp',
    'Content-Length: 0',
    '\r\n',
  ].join('\r\n');
}
