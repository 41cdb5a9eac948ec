import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { LatenessHistogram, MAX_LATENESS_MS } from './lateness-histogram.ts';

/**
 * When a sample of the line clock was spoken into the line, in monotonic milliseconds. Packets come in bursts and
 * late, so arrival alone does not tell; the fastest packets of the last seconds do: what they needed, every sample
 * needs at least, and what a packet needs beyond that is lateness of the carrier (RT-10).
 *
 * A packet counts as due when its last sample is spoken. On a carrier with packets of 100 ms the samples at its
 * beginning therefore carry up to 100 ms of the carrier's own delay, which is what `arrivedMs` minus `spokenMs` says.
 */
/** Arrivals that are remembered: 40 s of packets of 20 ms. */
const RING_PACKETS = 2_048;
/** The fastest packet is looked for in the last one to two of these, so that clocks that drift apart do no harm. */
const WINDOW_MS = 10_000;
/** A packet this late leaves a hole in any ordinary playout buffer. */
const LATE_PACKET_MS = 60;

export class LineTime {
  private readonly endSamples = new Float64Array(RING_PACKETS);
  private readonly arrivals = new Float64Array(RING_PACKETS);
  private readonly lateness = new LatenessHistogram();
  private stored = 0;
  private samples = 0;
  private filled = 0;
  private currentBaseMs = Number.POSITIVE_INFINITY;
  private formerBaseMs = Number.POSITIVE_INFINITY;
  private windowEndMs = Number.NEGATIVE_INFINITY;
  private lastOffsetMs = Number.NaN;
  private jitterMs = 0;
  private latePackets = 0;

  /** So many samples of the caller came in one packet. */
  received(samples: number, atMs: number): void {
    this.samples += samples;
    this.remember(atMs);
    const offsetMs = atMs - msOf(this.samples);
    this.learnBase(offsetMs, atMs);
    // RFC 3550, 6.4.1: the smoothed change of transit time from one packet to the next.
    if (!Number.isNaN(this.lastOffsetMs))
      this.jitterMs += (Math.abs(offsetMs - this.lastOffsetMs) - this.jitterMs) / 16;
    this.lastOffsetMs = offsetMs;
    const lateMs = offsetMs - this.baseMs;
    this.lateness.add(lateMs);
    if (lateMs > LATE_PACKET_MS) this.latePackets++;
  }

  /** Silence stands in for audio that did not come; it moves the line clock and says nothing about packets. */
  filledIn(samples: number, atMs: number): void {
    this.samples += samples;
    this.filled += samples;
    this.remember(atMs);
    this.lastOffsetMs = Number.NaN;
  }

  /**
   * When everything before this position of the line clock was here; now for what is not here yet, the oldest known
   * arrival for what is long past.
   */
  arrivedMs(sample: number, nowMs: number): number {
    let atMs = nowMs;
    for (let back = 1; back <= Math.min(this.stored, RING_PACKETS); back++) {
      const slot = (this.stored - back) % RING_PACKETS;
      if ((this.endSamples[slot] ?? 0) < sample) break;
      atMs = this.arrivals[slot] ?? nowMs;
    }
    return Math.min(atMs, nowMs);
  }

  /** When this position was spoken, by the fastest packets; never later than its arrival. */
  spokenMs(sample: number, nowMs: number): number {
    const arrivedMs = this.arrivedMs(sample, nowMs);
    if (!Number.isFinite(this.baseMs)) return arrivedMs;
    const spokenMs = this.baseMs + msOf(sample);
    return Math.min(arrivedMs, Math.max(spokenMs, arrivedMs - MAX_LATENESS_MS));
  }

  get figures(): {
    packets: number;
    latePackets: number;
    missingMs: number;
    receivedMs: number;
    latenessP95Ms: number | null;
    jitterMs: number | null;
  } {
    const packets = this.lateness.total;
    return {
      packets,
      latePackets: this.latePackets,
      missingMs: Math.round(msOf(this.filled)),
      receivedMs: Math.round(msOf(this.samples - this.filled)),
      latenessP95Ms: packets === 0 ? null : this.lateness.at(0.95),
      jitterMs: packets < 2 ? null : Math.round(this.jitterMs * 10) / 10,
    };
  }

  /** Packets by how late they came, in order of `JITTER_EDGES_MS`. */
  get latenessCounts(): number[] {
    return this.lateness.counts();
  }

  private get baseMs(): number {
    return Math.min(this.currentBaseMs, this.formerBaseMs);
  }

  private learnBase(offsetMs: number, atMs: number): void {
    if (atMs >= this.windowEndMs) {
      this.formerBaseMs = this.currentBaseMs;
      this.currentBaseMs = offsetMs;
      this.windowEndMs = atMs + WINDOW_MS;
    }
    this.currentBaseMs = Math.min(this.currentBaseMs, offsetMs);
  }

  private remember(atMs: number): void {
    const slot = this.stored % RING_PACKETS;
    this.endSamples[slot] = this.samples;
    this.arrivals[slot] = atMs;
    this.stored++;
  }
}

function msOf(samples: number): number {
  return (samples * 1000) / LINE_RATE_HZ;
}
