import { createSocket, type Socket } from 'node:dgram';
import { encodeMuLaw, MU_LAW_SILENCE } from './mu-law.ts';
import { splitAddress } from './readiness.ts';
import { PCMU, readRtp, TELEPHONE_EVENT, writeKey, writeRtp } from './rtp-packets.ts';
import { RtpRecording } from './rtp-recording.ts';
import type { Test } from './use-stack.ts';

const FRAME_SAMPLES = 160;
const FRAME_MS = 20;
const KEY_FRAMES = 5;
const KEY_GAP_FRAMES = 3;
/** The end of a key is sent three times, as RFC 4733 (2.5.1.4) asks, so that losing one does no harm. */
const KEY_ENDS = 3;
/** Behind by more than this, the machine stood still, and what was missed is not sent at once. */
const MAX_BEHIND_FRAMES = 50;
const LOOK_AGAIN_MS = 20;

/** A telephone's end of the media: PCMU on a UDP port of 127.0.0.1, a packet every 20 ms by the clock. */
export interface RtpEndpoint {
  /** Goes into an SDP, with payload type 0 for PCMU and 101 for telephone events. */
  port: number;
  /** From now on packets go to this `host:port`: silence, unless something is played. */
  sendTo(address: string): void;
  /** Plays 8 kHz audio behind what is playing already; resolves when its last sample has left. */
  play(speech: Int16Array): Promise<void>;
  /** Sends keys as telephone events, 100 ms each and 60 ms apart. */
  sendDigits(digits: string): Promise<void>;
  /** What came so far, 8 kHz, in its place by RTP timestamp; what did not come is silence. Not a copy. */
  heard(): Int16Array;
  /** The keys that came as telephone events. */
  digits(): string;
  /** `firstAtMs` is a time of `performance.now()`. */
  counts(): { received: number; lost: number; sent: number; firstAtMs: number | null };
  /** Waits until the condition holds. Throws when it does not within the time. */
  until(condition: (endpoint: RtpEndpoint) => boolean, timeoutMs?: number): Promise<void>;
  close(): void;
}

interface Playing {
  /** What goes out in the next frame; null when this is over. */
  next(timestamp: number): Frame | null;
  done(): void;
}

interface Frame {
  payloadType: number;
  marker: boolean;
  timestamp: number;
  payload: Uint8Array;
  copies: number;
}

export async function openRtpEndpoint(t: Test): Promise<RtpEndpoint> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, '127.0.0.1', resolve);
  });
  const recording = new RtpRecording();
  socket.on('message', (bytes) => {
    const packet = readRtp(bytes);
    if (packet) recording.take(packet, performance.now());
  });
  const sender = new RtpSender(socket);
  const enqueue = (make: (done: () => void) => Playing) =>
    new Promise<void>((resolve) => sender.add(make(resolve)));
  const endpoint: RtpEndpoint = {
    port: socket.address().port,
    sendTo: (address) => sender.start(address),
    play: (speech) => enqueue((done) => speechFrames(speech, done)),
    async sendDigits(digits) {
      for (const key of digits) await enqueue((done) => keyFrames(key, done));
    },
    heard: () => recording.heard(),
    digits: () => recording.digits,
    counts: () => ({ ...recording.counts(), sent: sender.sent }),
    async until(condition, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      while (!condition(endpoint)) {
        if (performance.now() > deadline) {
          const counts = JSON.stringify(endpoint.counts());
          throw new Error(
            `the telephone did not hear it within ${timeoutMs} ms: ${counts}, keys "${recording.digits}"`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      }
    },
    close: () => sender.close(),
  };
  t.teardown(() => endpoint.close());
  return endpoint;
}

/** Keeps the pace of 20 ms by absolute deadlines; what is late because the machine was busy goes out at once. */
class RtpSender {
  sent = 0;
  private readonly socket: Socket;
  private readonly queue: Playing[] = [];
  private target: { host: string; port: number } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private nextAtMs = 0;
  private sequence = 1;
  private timestamp = 8_000;
  private readonly ssrc = (process.pid << 16) ^ Math.floor(performance.now() * 1000);

  constructor(socket: Socket) {
    this.socket = socket;
  }

  start(address: string): void {
    this.target = splitAddress(address);
    if (this.timer || this.closed) return;
    this.nextAtMs = performance.now();
    this.tick();
  }

  add(playing: Playing): void {
    if (this.closed) playing.done();
    else this.queue.push(playing);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
    for (const playing of this.queue.splice(0)) playing.done();
  }

  private tick(): void {
    const now = performance.now();
    if (now - this.nextAtMs > MAX_BEHIND_FRAMES * FRAME_MS) this.nextAtMs = now;
    while (this.nextAtMs <= now) {
      this.sendFrame();
      this.nextAtMs += FRAME_MS;
    }
    this.timer = setTimeout(() => this.tick(), Math.max(1, this.nextAtMs - performance.now()));
  }

  private sendFrame(): void {
    let frame: Frame | null = null;
    while (!frame && this.queue[0]) {
      frame = this.queue[0].next(this.timestamp);
      if (!frame) this.queue.shift()?.done();
    }
    frame ??= speechFrame(SILENCE, this.timestamp);
    for (let copy = 0; copy < frame.copies; copy++) {
      const bytes = writeRtp({ ...frame, sequence: this.sequence++, ssrc: this.ssrc });
      this.sent += 1;
      this.socket.send(bytes, this.target?.port ?? 9, this.target?.host ?? '127.0.0.1');
    }
    this.timestamp += FRAME_SAMPLES;
  }
}

const SILENCE = new Uint8Array(FRAME_SAMPLES).fill(MU_LAW_SILENCE);

function speechFrame(payload: Uint8Array, timestamp: number): Frame {
  return { payloadType: PCMU, marker: false, timestamp, payload, copies: 1 };
}

function speechFrames(speech: Int16Array, done: () => void): Playing {
  const bytes = new Uint8Array(Math.ceil(speech.length / FRAME_SAMPLES) * FRAME_SAMPLES).fill(MU_LAW_SILENCE);
  encodeMuLaw(speech, bytes);
  let at = 0;
  return {
    done,
    next(timestamp) {
      if (at >= bytes.length) return null;
      at += FRAME_SAMPLES;
      return speechFrame(bytes.subarray(at - FRAME_SAMPLES, at), timestamp);
    },
  };
}

/** One key: all its packets carry the time of its beginning (RFC 4733, 2.5.1.2), and then there is a pause. */
function keyFrames(key: string, done: () => void): Playing {
  let sent = 0;
  let beginning = 0;
  return {
    done,
    next(timestamp) {
      if (sent === 0) beginning = timestamp;
      sent += 1;
      if (sent > KEY_FRAMES + KEY_GAP_FRAMES) return null;
      if (sent > KEY_FRAMES) return speechFrame(SILENCE, timestamp);
      const isEnd = sent === KEY_FRAMES;
      return {
        payloadType: TELEPHONE_EVENT,
        marker: sent === 1,
        timestamp: beginning,
        payload: writeKey(key, sent * FRAME_SAMPLES, isEnd),
        copies: isEnd ? KEY_ENDS : 1,
      };
    },
  };
}
