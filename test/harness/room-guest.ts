import type { RemoteTrack, Room } from '@livekit/rtc-node';
import tap from 'tap';
import { LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { monotonicMs, sleepMs } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { MediaServer, socketUrl } from '../../src/platform/media-server.ts';
import { loadRtc, unloadRtc } from '../../src/slot/room/load-rtc.ts';
import type { StackAddresses } from '../stack/start-stack.ts';
import type { Test } from '../stack/use-stack.ts';

const GUEST_RATE_HZ = 16_000;
const FRAME_SAMPLES = GUEST_RATE_HZ / 50;
/** Audio that lies ahead in the guest's own queue. */
const AHEAD_MS = 200;

// The SDK's threads would keep the test's process alive.
tap.teardown(unloadRtc);

export const silentLogger = createLogger({ level: 'silent', role: 'test' });

export interface Heard {
  /** When the frame came, by monotonicMs. */
  atMs: number;
  samples: Int16Array;
}

/** Somebody at the far end of a room: what a browser or a telephone is to the bot. */
export interface RoomGuest {
  identity: string;
  room: Room;
  /** Frames of 20 ms at 8 kHz that came from this identity. */
  frames(from: string): Heard[];
  /** The same in one piece. */
  heard(from: string): Int16Array;
  /** Queues speech at 16 kHz; resolves when all of it has left. Silence otherwise. */
  play(speech: Int16Array): Promise<void>;
  keys: string[];
  messages: { topic: string; text: string; from: string }[];
  /** Whether anybody receives this guest's audio. */
  isHeard(): boolean;
  leave(): Promise<void>;
}

/** A real participant through the real media server. Subscribes to everybody; publishes a microphone if asked to. */
export async function joinAsGuest(
  t: Test,
  stack: StackAddresses,
  roomName: string,
  identity: string,
  options: { speaks?: boolean; hidden?: boolean; token?: string } = {},
): Promise<RoomGuest> {
  const rtc = loadRtc(silentLogger);
  const media = mediaServer(stack);
  const minted = media.token({
    room: roomName,
    identity,
    ttlS: 600,
    canPublish: true,
    canSubscribe: true,
    canPublishData: true,
    ...(options.hidden ? { hidden: true } : {}),
  });
  const token = options.token ?? (await minted);
  const room = new rtc.Room();
  const recordings = new Map<string, Heard[]>();
  const guest = { keys: [] as string[], messages: [] as RoomGuest['messages'] };
  let isHeard = false;
  let isOver = false;
  const record = async (track: RemoteTrack, from: string) => {
    const frames = recordings.get(from) ?? [];
    recordings.set(from, frames);
    const stream = new rtc.AudioStream(track, { sampleRate: LINE_RATE_HZ, numChannels: 1, frameSizeMs: 20 });
    for await (const frame of stream) frames.push({ atMs: monotonicMs(), samples: frame.data });
  };
  room.on('trackSubscribed', (track, _publication, person) => void record(track, person.identity));
  room.on('dtmfReceived', (_code, digit) => void guest.keys.push(digit));
  room.on('localTrackSubscribed', () => {
    isHeard = true;
  });
  room.on('dataReceived', (bytes, person, _kind, topic) => {
    const text = new TextDecoder().decode(bytes);
    guest.messages.push({ topic: topic ?? '', text, from: person?.identity ?? '' });
  });
  await room.connect(socketUrl(stack.url), token, { autoSubscribe: true, dynacast: false });
  const source = new rtc.AudioSource(GUEST_RATE_HZ, 1, 1_000);
  const track = rtc.LocalAudioTrack.createAudioTrack('microphone', source);
  if (options.speaks !== false) {
    const publish = new rtc.TrackPublishOptions();
    publish.source = rtc.TrackSource.SOURCE_MICROPHONE;
    await room.localParticipant?.publishTrack(track, publish);
  }
  const leave = async () => {
    if (isOver) return;
    isOver = true;
    await room.disconnect();
    await track.close();
  };
  t.teardown(leave);
  return {
    ...guest,
    identity,
    room,
    frames: (from) => recordings.get(from) ?? [],
    heard: (from) => joined((recordings.get(from) ?? []).map(({ samples }) => samples)),
    play: async (speech) => {
      for (let at = 0; at < speech.length && !isOver; at += FRAME_SAMPLES) {
        const frame = new rtc.AudioFrame(new Int16Array(FRAME_SAMPLES), GUEST_RATE_HZ, 1, FRAME_SAMPLES);
        frame.data.set(speech.subarray(at, at + FRAME_SAMPLES));
        await source.captureFrame(frame);
        if (source.queuedDuration > AHEAD_MS) await sleepMs(AHEAD_MS / 2);
      }
      await source.waitForPlayout();
    },
    isHeard: () => isHeard,
    leave,
  };
}

export function mediaServer(stack: StackAddresses): MediaServer {
  return new MediaServer({ url: stack.url, apiKey: stack.apiKey, apiSecret: stack.apiSecret });
}

export function joined(pieces: Int16Array[]): Int16Array {
  const whole = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
