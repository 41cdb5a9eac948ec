/**
 * Readings of a tone bank in a row that may be one tone, and whether they are steady enough for one that a machine
 * makes. The first and the last reading hold the tone only in part, which bends what they say; they are left out.
 */
export class ToneRun {
  readings = 0;
  fromSample = 0;
  isReported = false;
  private sumHz = 0;
  private peakDbfs = 0;
  private last: Reading = { toneHz: 0, levelDbfs: 0, rivalShare: 0 };
  private inner = 0;
  private firstHz = 0;
  private sumOff = 0;
  private sumSquares = 0;
  private sumRival = 0;
  private lowDbfs = 0;
  private highDbfs = 0;

  get hz(): number {
    return this.sumHz / this.readings;
  }

  /** Whether a reading can belong to this run at all. */
  fits(reading: Reading): boolean {
    if (this.readings === 0 || Math.abs(reading.toneHz - this.hz) > MAX_JUMP_HZ) return false;
    return this.readings < 2 || Math.abs(reading.levelDbfs - this.peakDbfs) <= MAX_JUMP_DB;
  }

  /** Whether the inner readings are as steady and as pure as a machine's. */
  isSteady(): boolean {
    const n = this.inner;
    if (n < MIN_INNER) return false;
    const mean = this.sumOff / n;
    const spread = Math.sqrt(Math.max(0, this.sumSquares / n - mean * mean));
    if (spread > MAX_SPREAD_HZ || this.highDbfs - this.lowDbfs > MAX_SWING_DB) return false;
    return this.hz >= VOICED_BELOW_HZ || this.sumRival / n <= MAX_LOW_RIVAL;
  }

  begin(fromSample: number): void {
    this.readings = 0;
    this.fromSample = fromSample;
    this.isReported = false;
    this.sumHz = 0;
    this.peakDbfs = Number.NEGATIVE_INFINITY;
    this.inner = 0;
    this.sumOff = 0;
    this.sumSquares = 0;
    this.sumRival = 0;
  }

  add(reading: Reading): void {
    // What was the last reading until now is an inner one, unless it was the first.
    if (this.readings >= 2) this.settle(this.last);
    this.readings++;
    this.sumHz += reading.toneHz;
    this.peakDbfs = Math.max(this.peakDbfs, reading.levelDbfs);
    this.last.toneHz = reading.toneHz;
    this.last.levelDbfs = reading.levelDbfs;
    this.last.rivalShare = reading.rivalShare;
  }

  private settle({ toneHz, levelDbfs, rivalShare }: Reading): void {
    if (this.inner === 0) {
      this.firstHz = toneHz;
      this.lowDbfs = levelDbfs;
      this.highDbfs = levelDbfs;
    }
    this.inner++;
    // Sums of the distance from one of them: those of the frequencies themselves would lose it in their size.
    const off = toneHz - this.firstHz;
    this.sumOff += off;
    this.sumSquares += off * off;
    this.sumRival += rivalShare;
    this.lowDbfs = Math.min(this.lowDbfs, levelDbfs);
    this.highDbfs = Math.max(this.highDbfs, levelDbfs);
  }
}

/** What a run looks at in a reading of the tone bank. */
interface Reading {
  toneHz: number;
  levelDbfs: number;
  rivalShare: number;
}

const MAX_JUMP_HZ = 7;
const MAX_JUMP_DB = 5;
const MIN_INNER = 3;
/** The pitch of a voice wanders more within 150 ms, and its loudness moves; a tone at 5 dB above noise stays within. */
const MAX_SPREAD_HZ = 1.5;
const MAX_SWING_DB = 3;
/** Below this a vowel can be mostly one partial; a tone of a machine leaves next to nothing beside it. */
const VOICED_BELOW_HZ = 750;
const MAX_LOW_RIVAL = 0.05;
