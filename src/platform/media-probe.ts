import { randomUUID } from 'node:crypto';
import { TwirpError } from 'livekit-server-sdk';
import { WebSocket } from 'ws';
import { type MediaServerAccess, PROBE_ROOM_PREFIX } from '../contracts/rooms.ts';
import { describeError } from './app-error.ts';
import { httpCall } from './http-client.ts';
import { httpUrl, MediaServer, socketUrl } from './media-server.ts';

/** What a look at one side of the media server has shown. */
export interface MediaCheck {
  name: 'media server' | 'media key' | 'media clock' | 'media address' | 'media SIP';
  status: 'ok' | 'warn' | 'fail';
  text: string;
  /** What to do about it; with every warn and fail. */
  advice?: string;
}

const ANSWER_MS = 5_000;
const MAX_BYTES = 65_536;
/** Tokens are held to the clock: beyond this the server refuses fresh ones (go-jose leeway is a minute). */
const MAX_SKEW_MS = 30_000;
/** Where the SIP service is sent to see that it works: its own host, where nobody listens (RFC 863, discard). */
const NOBODY = '127.0.0.1:9';

/**
 * Looks at the media server as a call would use it: reachable, key accepted, clocks together, a browser's connection at
 * the public address, its SIP service at work. Leaves no room behind. `publicUrl` is what browsers are given. Never
 * rejects.
 */
export async function checkMediaServer(access: MediaServerAccess, publicUrl: string): Promise<MediaCheck[]> {
  const server = new MediaServer(access);
  const clock = await checkClock(access.url);
  if (clock === null) {
    const text = `${originOf(access.url)} does not answer`;
    const advice = 'start livekit-server, or correct livekit_url; docs/media-server.md has both files';
    return [{ name: 'media server', status: 'fail', text, advice }];
  }
  const key = await checkKey(server);
  if (key.status === 'fail') return [...clock, key];
  return [...clock, key, await checkAddress(server, access.url, publicUrl), await checkSip(server)];
}

/** Null where nothing answers. */
async function checkClock(url: string): Promise<MediaCheck[] | null> {
  let date: string;
  try {
    const answer = await httpCall(`${httpUrl(url)}/`, { timeoutMs: ANSWER_MS, maxBytes: MAX_BYTES });
    date = String(answer.headers.date ?? '');
  } catch {
    return null;
  }
  const skewMs = Math.abs(Date.parse(date) - Date.now());
  if (!(skewMs > MAX_SKEW_MS)) return [];
  const advice =
    'keep both clocks set, for example by systemd-timesyncd or chrony; tokens are held to the time';
  const text = `its clock differs by ${Math.round(skewMs / 1000)} s`;
  return [{ name: 'media clock', status: 'fail', text, advice }];
}

async function checkKey(server: MediaServer): Promise<MediaCheck> {
  const name = 'media key';
  try {
    const rooms = await server.listRooms();
    return { name, status: 'ok', text: `accepted; ${rooms.length} rooms are open` };
  } catch (error) {
    const refused = error instanceof TwirpError && (error.status === 401 || error.status === 403);
    const text = refused
      ? 'the media server refuses the key'
      : `it could not be tried: ${describeError(error)}`;
    const advice =
      'livekit_api_key and livekit_api_secret must be a pair under `keys:` of livekit.yaml, and the clocks together';
    return { name, status: 'fail', text, advice };
  }
}

/** Joins as a browser would; the answer names the version of the server. */
async function checkAddress(server: MediaServer, url: string, publicUrl: string): Promise<MediaCheck> {
  const name = 'media address';
  const room = `${PROBE_ROOM_PREFIX}${randomUUID()}`;
  try {
    const version = await joinOnce(server, room, publicUrl);
    const text = `${originOf(publicUrl)} lets browsers join (version ${version})`;
    const { protocol, hostname } = new URL(socketUrl(publicUrl));
    const isLocal = hostname === '127.0.0.1' || hostname === 'localhost' || hostname === '[::1]';
    if (protocol === 'wss:' || isLocal) {
      const more = isLocal ? '; only from this machine, so no visitor of a website can' : '';
      return { name, status: 'ok', text: `${text}${more}` };
    }
    const advice =
      'put a proxy with a certificate in front of it and set livekit_public_url to its wss:// address';
    return { name, status: 'warn', text: `${text}, but pages on https may not use ws://`, advice };
  } catch (error) {
    const text = `${originOf(publicUrl)} cannot be joined: ${describeError(error)}`;
    const advice =
      socketUrl(publicUrl) === socketUrl(url)
        ? 'look into the log of livekit-server'
        : 'livekit_public_url must lead browsers to livekit-server; a proxy there must pass WebSockets on';
    return { name, status: 'warn', text, advice };
  } finally {
    await server.deleteRoom(room).catch(() => undefined);
  }
}

/** Has the SIP service call a number where nobody is: whoever takes the order is alive. */
async function checkSip(server: MediaServer): Promise<MediaCheck> {
  const name = 'media SIP';
  const room = `${PROBE_ROOM_PREFIX}${randomUUID()}`;
  const advice =
    'start livekit-sip and redis, and give livekit.yaml and sip.yaml the same redis; only calls by telephone need them';
  try {
    await server.createRoom(room, '');
    await server.sip.createSipParticipant(
      '',
      '100',
      room,
      { participantIdentity: `sip-${room}`, ringingTimeout: 1, timeout: ANSWER_MS / 1000, fromNumber: '100' },
      { hostname: NOBODY } as Parameters<typeof server.sip.createSipParticipant>[4],
    );
    return { name, status: 'ok', text: 'livekit-sip takes calls' };
  } catch (error) {
    return { name, status: 'warn', text: `livekit-sip does not answer: ${describeError(error)}`, advice };
  } finally {
    await server.deleteRoom(room).catch(() => undefined);
  }
}

async function joinOnce(server: MediaServer, room: string, url: string): Promise<string> {
  const token = await server.token({
    room,
    identity: `check-${randomUUID().slice(0, 8)}`,
    ttlS: 60,
    canPublish: false,
    canSubscribe: false,
    canPublishData: false,
    hidden: true,
  });
  const socket = new WebSocket(`${socketUrl(url)}/rtc?access_token=${token}&protocol=15&auto_subscribe=0`, {
    handshakeTimeout: ANSWER_MS,
    maxPayload: MAX_BYTES,
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer in time')), ANSWER_MS);
      socket.once('message', (data: Buffer) => {
        clearTimeout(timer);
        resolve(serverVersion(data));
      });
      socket.once('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      socket.once('close', () => {
        clearTimeout(timer);
        reject(new Error('the connection was closed at once'));
      });
    });
  } finally {
    socket.on('error', () => undefined);
    socket.terminate();
  }
}

/** livekit_rtc.proto: `SignalResponse.join` is field 1, `JoinResponse.server_version` in it field 4. */
function serverVersion(message: Buffer): string {
  const join = bytesField(message, 1);
  const version = join && bytesField(join, 4);
  return version ? version.toString('utf8') : 'unknown';
}

/** The first length-delimited field of this number; null where there is none (protobuf.dev, Encoding). */
function bytesField(message: Buffer, wanted: number): Buffer | null {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = varint();
    const kind = key & 7;
    if (kind === 2) {
      const length = varint();
      if (key >>> 3 === wanted) return message.subarray(at, at + length);
      at += length;
    } else if (kind === 0) varint();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    else return null;
  }
  return null;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(socketUrl(url)).origin.replace(/^null$/, url) : url;
}
