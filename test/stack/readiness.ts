import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

/** One question waits this long for its answer; whoever asks asks again. */
const ANSWER_TIMEOUT_MS = 1_000;
/** A datagram to a port that is not open yet is lost without a word, so it is soon sent again. */
const OPTIONS_TIMEOUT_MS = 200;

/** True when Redis answers PING. */
export async function redisAnswers(address: string): Promise<boolean> {
  return (await askRedis(address, 'PING')).startsWith('+PONG');
}

/** True when livekit-server says of itself that it can take rooms. */
export async function serverAnswers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return answer.ok && (await answer.text()) === 'OK';
  } catch {
    return false;
  }
}

/**
 * True when livekit-sip answers OPTIONS and has subscribed to the topic over which livekit-server asks it for calls:
 * it listens for SIP a moment before that, and a call placed in between would find nobody.
 */
export async function sipAnswers(address: string, redisAddress: string): Promise<boolean> {
  if (!(await answersOptions(address))) return false;
  const topics = await askRedis(redisAddress, 'PUBSUB CHANNELS *CreateSIPParticipant*');
  return /^\*[1-9]/.test(topics);
}

/** The first piece of Redis' answer to an inline command, or '' when there is none. */
function askRedis(address: string, command: string): Promise<string> {
  return new Promise((resolve) => {
    const { host, port } = splitAddress(address);
    const socket = connect({ host, port }, () => socket.write(`${command}\r\n`));
    const end = (answer: string) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => end(''));
    socket.once('error', () => end(''));
    socket.once('data', (data) => end(data.toString('latin1')));
  });
}

function answersOptions(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const { host, port } = splitAddress(address);
    const socket = createSocket('udp4');
    const end = (answered: boolean) => {
      clearTimeout(timer);
      socket.close();
      resolve(answered);
    };
    const timer = setTimeout(() => end(false), OPTIONS_TIMEOUT_MS);
    socket.once('error', () => end(false));
    socket.once('message', (data) => end(data.toString('latin1').startsWith('SIP/2.0 ')));
    socket.bind(0, '127.0.0.1', () => {
      const own = `127.0.0.1:${socket.address().port}`;
      const tag = `${process.pid}-${socket.address().port}-${Date.now()}`;
      const lines = [
        `OPTIONS sip:${address} SIP/2.0`,
        `Via: SIP/2.0/UDP ${own};branch=z9hG4bK-${tag}`,
        `From: <sip:ready@${own}>;tag=${tag}`,
        `To: <sip:${address}>`,
        `Call-ID: ready-${tag}`,
        'CSeq: 1 OPTIONS',
        'Max-Forwards: 70',
        'Content-Length: 0',
      ];
      socket.send(`${lines.join('\r\n')}\r\n\r\n`, port, host);
    });
  });
}

/** 'host:port' in its parts. */
export function splitAddress(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}
