import { decodeMuLaw } from './mu-law.ts';
import { PCMU, type RtpPacket, readKey, TELEPHONE_EVENT } from './rtp-packets.ts';

/** Audio beyond this is counted and not kept. */
const MAX_SAMPLES = 8_000 * 60 * 15;
/** A timestamp further than this from the last one begins a new stream. */
const MAX_JUMP_SAMPLES = 8_000 * 30;
const FIRST_SAMPLES = 8_000 * 10;

/** Puts the packets of a call in their places: one timeline of 8 kHz from the first packet on. */
export class RtpRecording {
  digits = '';
  private samples = new Int16Array(FIRST_SAMPLES);
  private length = 0;
  private received = 0;
  private lost = 0;
  private firstAtMs: number | null = null;
  private stream: { ssrc: number; base: number; start: number; highest: number } | null = null;
  private keyTimestamp: number | null = null;

  take(packet: RtpPacket, atMs: number): void {
    this.firstAtMs ??= atMs;
    this.count(packet);
    if (packet.payloadType === TELEPHONE_EVENT) {
      // Every packet of one key carries the same time.
      if (packet.timestamp !== this.keyTimestamp) this.digits += readKey(packet.payload) ?? '';
      this.keyTimestamp = packet.timestamp;
      return;
    }
    if (packet.payloadType !== PCMU || !this.stream) return;
    const place = this.stream.start + ((packet.timestamp - this.stream.base) | 0);
    if (place >= 0) this.put(decodeMuLaw(packet.payload), place);
  }

  heard(): Int16Array {
    return this.samples.subarray(0, this.length);
  }

  counts(): { received: number; lost: number; firstAtMs: number | null } {
    return { received: this.received, lost: this.lost, firstAtMs: this.firstAtMs };
  }

  /** Keeps the sum of gaps in the sequence numbers; a packet that comes late fills its gap. */
  private count(packet: RtpPacket): void {
    this.received += 1;
    const { stream } = this;
    const isSame =
      stream !== null &&
      stream.ssrc === packet.ssrc &&
      Math.abs((packet.timestamp - stream.base - (this.length - stream.start)) | 0) < MAX_JUMP_SAMPLES;
    if (!isSame) {
      // Another sender, or one that began its clock anew: its audio stands behind what is there.
      this.stream = {
        ssrc: packet.ssrc,
        base: packet.timestamp,
        start: this.length,
        highest: packet.sequence,
      };
      return;
    }
    const ahead = ((packet.sequence - stream.highest) << 16) >> 16;
    if (ahead > 0) {
      this.lost += ahead - 1;
      stream.highest = packet.sequence;
    } else if (ahead < 0) this.lost -= 1;
  }

  private put(frame: Int16Array, place: number): void {
    const end = place + frame.length;
    if (end > MAX_SAMPLES) return;
    if (end > this.samples.length) {
      const larger = new Int16Array(Math.min(MAX_SAMPLES, Math.max(end, this.samples.length * 2)));
      larger.set(this.samples);
      this.samples = larger;
    }
    this.samples.set(frame, place);
    this.length = Math.max(this.length, end);
  }
}
