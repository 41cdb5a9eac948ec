import type { RemoteTrack, RemoteTrackPublication, Room } from '@livekit/rtc-node';
import tap from 'tap';
import { LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { monotonicMs, sleepMs, within } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { MediaServer, socketUrl } from '../../src/platform/media-server.ts';
import { loadRtc, unloadRtc } from '../../src/slot/room/load-rtc.ts';
import type { StackAddresses } from '../stack/start-stack.ts';
import type { Test } from '../stack/use-stack.ts';

const GUEST_RATE_HZ = 16_000;
const FRAME_SAMPLES = GUEST_RATE_HZ / 50;
/** Audio that lies ahead in the guest's own queue. */
const AHEAD_MS = 200;
const ENTER_BOUND_MS = 30_000;
const LEAVE_BOUND_MS = 5_000;

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
  readonly room: Room;
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
  /** What a page does whose connection is dead: leaves, and joins anew under the same name. */
  reload(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * A real participant through the real media server. Subscribes to everybody, or to whoever `hears` names; publishes a
 * microphone if asked to.
 */
export async function joinAsGuest(
  t: Test,
  stack: StackAddresses,
  roomName: string,
  identity: string,
  options: { speaks?: boolean; hidden?: boolean; token?: string; hears?: (identity: string) => boolean } = {},
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
  const { hears } = options;
  const recordings = new Map<string, Heard[]>();
  const keys: string[] = [];
  const messages: RoomGuest['messages'] = [];
  let isHeard = false;
  let isOver = false;
  const record = async (track: RemoteTrack, from: string) => {
    const frames = recordings.get(from) ?? [];
    recordings.set(from, frames);
    const stream = new rtc.AudioStream(track, { sampleRate: LINE_RATE_HZ, numChannels: 1, frameSizeMs: 20 });
    for await (const frame of stream) frames.push({ atMs: monotonicMs(), samples: frame.data });
  };
  const source = new rtc.AudioSource(GUEST_RATE_HZ, 1, 1_000);
  const enter = async () => {
    const entered = new rtc.Room();
    entered.on('trackPublished', (publication, person) => {
      if (hears?.(person?.identity ?? '')) publication.setSubscribed(true);
    });
    entered.on('trackSubscribed', (track, _publication, person) => void record(track, person.identity));
    entered.on('dtmfReceived', (_code, digit) => void keys.push(digit));
    entered.on('localTrackSubscribed', () => {
      isHeard = true;
    });
    entered.on('dataReceived', (bytes, person, _kind, topic) => {
      const text = new TextDecoder().decode(bytes);
      messages.push({ topic: topic ?? '', text, from: person?.identity ?? '' });
    });
    const how = { autoSubscribe: hears === undefined, dynacast: false };
    const connected = entered.connect(socketUrl(stack.url), token, how).then(() => true);
    if (!(await within(connected, ENTER_BOUND_MS, false)))
      throw new Error('the room was not entered in time');
    for (const person of entered.remoteParticipants.values()) {
      if (!hears?.(person.identity)) continue;
      for (const publication of person.trackPublications.values()) {
        (publication as RemoteTrackPublication).setSubscribed(true);
      }
    }
    if (options.speaks !== false) {
      const publish = new rtc.TrackPublishOptions();
      publish.source = rtc.TrackSource.SOURCE_MICROPHONE;
      const track = rtc.LocalAudioTrack.createAudioTrack('microphone', source);
      await entered.localParticipant?.publishTrack(track, publish);
    }
    return entered;
  };
  let room = await enter();
  const leave = async () => {
    if (isOver) return;
    isOver = true;
    await within(room.disconnect(), LEAVE_BOUND_MS, undefined);
    await source.close();
  };
  t.teardown(leave);
  return {
    identity,
    keys,
    messages,
    get room() {
      return room;
    },
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
    reload: async () => {
      // Of a connection that the SDK itself is making anew, nothing may ever be heard again.
      await within(room.disconnect(), LEAVE_BOUND_MS, undefined);
      room = await enter();
    },
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
