import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { levelDbfs, VOICE_DBFS } from '../src/cli/voice-tracker.ts';
import { FRAME_SAMPLES } from '../src/contracts/limits.ts';
import { monotonicMs } from '../src/platform/clock.ts';
import { decodeMuLaw, encodeMuLaw } from '../test/stack/mu-law.ts';
import type { DeadlineLoop } from './deadline-loop.ts';
import { quantile } from './spread.ts';

/** A telephone's jitter buffer. */
const JITTER_BUFFER_MS = 60;
const RTP_HEADER_BYTES = 12;
const PCMU = 0;
const RTP_TICKS_PER_MS = 8;
/** A stretch of silence inside the bot's voice up to this long is a hole; a longer one is the end of a reply. */
const MAX_HOLE_FRAMES = 15;
/** How long the caller waits after the bot, and how long the bot may take, before the caller speaks again. */
const PAUSE_MS = 600;
const UNANSWERED_MS = 6_000;

/** What the far ends of room calls noticed while it was recorded. */
export interface RoomLineCounts {
  packets: number;
  lostPackets: number;
  voicedPackets: number;
  /** Frames of silence in the middle of the bot's voice. */
  holeFrames: number;
  replies: number;
}

/**
 * The telephones of many calls on one UDP port: livekit-sip sends each call from a port of its own, which tells them
 * apart. Each hears the bot, measures when its packets came, and says something whenever the bot is quiet.
 */
export class RoomLines {
  readonly lines = new Map<string, RoomLine>();
  private readonly socket: Socket = createSocket('udp4');
  private readonly loop: DeadlineLoop;
  private readonly clips: readonly Uint8Array[][];

  constructor(loop: DeadlineLoop, speech: readonly Int16Array[]) {
    this.loop = loop;
    this.clips = speech.map(encodeClip);
    this.socket.on('message', (packet, from) => this.take(packet, from));
  }

  /** The UDP port that goes into the SDP of every call. */
  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.socket.bind(0, '127.0.0.1', () => resolve(this.socket.address().port));
    });
  }

  record(on: boolean): void {
    for (const line of this.lines.values()) line.record(on);
  }

  close(): void {
    for (const line of this.lines.values()) line.stop();
    this.socket.close();
  }

  private take(packet: Buffer, from: RemoteInfo): void {
    const atMs = monotonicMs();
    const key = `${from.address}:${from.port}`;
    let line = this.lines.get(key);
    if (!line) {
      line = new RoomLine(this.clips, this.lines.size, (bytes) =>
        this.socket.send(bytes, from.port, from.address),
      );
      this.lines.set(key, line);
      line.stop = this.loop.add(atMs, (nowMs) => line?.tick(nowMs));
    }
    line.take(packet, atMs);
  }
}

/** One telephone. */
class RoomLine {
  readonly pacing = new RtpLateness();
  readonly counts: RoomLineCounts = {
    packets: 0,
    lostPackets: 0,
    voicedPackets: 0,
    holeFrames: 0,
    replies: 0,
  };
  firstVoiceAtMs: number | null = null;
  stop: () => void = () => undefined;
  private readonly clips: readonly Uint8Array[][];
  private readonly send: (packet: Buffer) => void;
  private readonly packet = Buffer.alloc(RTP_HEADER_BYTES + FRAME_SAMPLES);
  private recording = false;
  private lastSequence: number | null = null;
  private quietFrames = MAX_HOLE_FRAMES + 1;
  private lastVoiceMs = Number.NEGATIVE_INFINITY;
  private clip: readonly Uint8Array[] | null = null;
  private clipFrame = 0;
  private nextClip: number;
  private askedAtMs: number | null = null;
  private sequence = 0;

  constructor(clips: readonly Uint8Array[][], index: number, send: (packet: Buffer) => void) {
    this.clips = clips;
    this.nextClip = index;
    this.send = send;
    this.packet[0] = 0x80;
    this.packet[1] = PCMU;
    this.packet.writeUInt32BE(0x7000 + index, 8);
  }

  record(on: boolean): void {
    this.pacing.end();
    this.pacing.recording = on;
    this.recording = on;
  }

  take(packet: Buffer, atMs: number): void {
    if (packet.length !== RTP_HEADER_BYTES + FRAME_SAMPLES || ((packet[1] ?? 0) & 0x7f) !== PCMU) return;
    const sequence = packet.readUInt16BE(2);
    const lost = this.lastSequence === null ? 0 : (sequence - this.lastSequence - 1) & 0xffff;
    this.lastSequence = sequence;
    const isVoiced = levelDbfs(decodeMuLaw(packet.subarray(RTP_HEADER_BYTES))) >= VOICE_DBFS;
    if (this.recording) {
      this.counts.packets++;
      // A packet that overtook another looks like a jump of almost the whole range.
      if (lost < 1_000) this.counts.lostPackets += lost;
      if (isVoiced) this.counts.voicedPackets++;
    }
    if (!isVoiced) {
      this.quietFrames++;
      if (this.quietFrames === 1) this.pacing.end();
      return;
    }
    this.lastVoiceMs = atMs;
    this.firstVoiceAtMs ??= atMs;
    if (this.quietFrames > MAX_HOLE_FRAMES) {
      this.askedAtMs = null;
      if (this.recording) this.counts.replies++;
    } else if (this.recording) {
      this.counts.holeFrames += this.quietFrames;
    }
    this.quietFrames = 0;
    this.pacing.take(atMs, packet.readUInt32BE(4));
  }

  /** The caller's frame of these 20 ms. */
  tick(nowMs: number): void {
    const frame = this.nextFrame(nowMs);
    this.packet.writeUInt16BE(this.sequence & 0xffff, 2);
    this.packet.writeUInt32BE((this.sequence * FRAME_SAMPLES) >>> 0, 4);
    this.packet.set(frame, RTP_HEADER_BYTES);
    this.sequence++;
    this.send(Buffer.from(this.packet));
  }

  private nextFrame(nowMs: number): Uint8Array {
    if (this.clip === null && this.maySpeak(nowMs)) {
      this.clip = this.clips[this.nextClip++ % this.clips.length] ?? null;
      this.clipFrame = 0;
    }
    const frame = this.clip?.[this.clipFrame++];
    if (frame) return frame;
    if (this.clip) this.askedAtMs = nowMs;
    this.clip = null;
    return SILENCE;
  }

  private maySpeak(nowMs: number): boolean {
    if (this.firstVoiceAtMs === null || nowMs - this.lastVoiceMs < PAUSE_MS) return false;
    return this.askedAtMs === null || nowMs - this.askedAtMs > UNANSWERED_MS;
  }
}

/**
 * Packets that are fitted to one clock. livekit-sip moves its clock by a frame now and then, which a jitter buffer follows;
 * a longer fit would call everything late that comes after such a step.
 */
const FITTED_PACKETS = 100;
/** A shorter stretch of voice has too few packets for a fit. */
const MIN_FITTED_PACKETS = 20;
/** The share of a stretch that may be earlier than its fitted clock. */
const CLOCK_QUANTILE = 0.05;

/**
 * How far packets of the bot's voice came behind their own time stamps. Where the clock of a stretch of voice lies is
 * fitted to its earliest packets.
 */
class RtpLateness {
  readonly readings: number[] = [];
  lateFrames = 0;
  recording = false;
  private offsets: number[] = [];

  take(atMs: number, timestamp: number): void {
    if (!this.recording) return;
    this.offsets.push(atMs - timestamp / RTP_TICKS_PER_MS);
    if (this.offsets.length === FITTED_PACKETS) this.end();
  }

  /** The stretch is over. */
  end(): void {
    const { offsets } = this;
    this.offsets = [];
    if (offsets.length < MIN_FITTED_PACKETS) return;
    const clock = quantile(Float64Array.from(offsets).sort(), CLOCK_QUANTILE) ?? 0;
    for (const offset of offsets) {
      this.readings.push(offset - clock);
      if (offset - clock > JITTER_BUFFER_MS) this.lateFrames++;
    }
  }
}

const SILENCE = encodeFrame(new Int16Array(FRAME_SAMPLES));

function encodeClip(samples: Int16Array): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    frames.push(encodeFrame(samples.subarray(at, at + FRAME_SAMPLES)));
  }
  return frames;
}

function encodeFrame(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_SAMPLES);
  encodeMuLaw(samples, bytes);
  return bytes;
}
