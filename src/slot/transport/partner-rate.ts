/** The rates in Hz that a partner line can have (docs/partner-protocol.md). */
export const PARTNER_RATES_HZ = [8000, 16000, 24000] as const;

/** A rate of the line, or null for every other number. */
export function partnerRate(hz: number | null): number | null {
  return PARTNER_RATES_HZ.find((rate) => rate === hz) ?? null;
}

export interface RateVerdict {
  announcedHz: number;
  measuredHz: number;
  /** The rate to go on with: the measured one where it is a rate of the line, else the announced one. */
  rateHz: number;
}

/** Audio that is measured, and how far it may be from the announced rate (docs/partner-protocol.md). */
const WINDOW_MS = 1_000;
const TOLERANCE = 0.05;
/** Windows that missing chunks may spoil before the check is given up. */
const MAX_WINDOWS = 10;

/**
 * A wrong rate is heard as a shifted pitch and by nobody on the carrier's side. Bytes against the carrier's own
 * timestamps show it within the first second.
 */
export class RateCheck {
  private readonly announcedHz: number;
  private isOver = false;
  private windows = 1;
  private startMs: number | null = null;
  private lastMs = 0;
  private lastChunk: number | null = null;
  /** Bytes since the window began, without those of the newest message: its time is not over yet. */
  private bytes = 0;
  private newestBytes = 0;

  constructor(announcedHz: number) {
    this.announcedHz = announcedHz;
  }

  /** Takes a media message; returns the verdict once, and only where the rate is wrong. */
  take(bytes: number, chunk: number | null, timestampMs: number | null): RateVerdict | null {
    if (this.isOver || timestampMs === null) return null;
    const isNext = this.lastChunk === null || chunk === null || chunk === this.lastChunk + 1;
    this.lastChunk = chunk;
    if (this.startMs === null || !isNext || timestampMs < this.lastMs) {
      this.begin(bytes, timestampMs);
      return null;
    }
    this.bytes += this.newestBytes;
    this.newestBytes = bytes;
    this.lastMs = timestampMs;
    const elapsedMs = timestampMs - this.startMs;
    if (elapsedMs < WINDOW_MS) return null;
    this.isOver = true;
    const measuredHz = (this.bytes / 2 / elapsedMs) * 1000;
    if (isNear(measuredHz, this.announcedHz)) return null;
    const rateHz = PARTNER_RATES_HZ.find((rate) => isNear(measuredHz, rate)) ?? this.announcedHz;
    return { announcedHz: this.announcedHz, measuredHz: Math.round(measuredHz), rateHz };
  }

  private begin(bytes: number, timestampMs: number): void {
    if (this.startMs !== null && ++this.windows > MAX_WINDOWS) this.isOver = true;
    this.startMs = timestampMs;
    this.lastMs = timestampMs;
    this.bytes = 0;
    this.newestBytes = bytes;
  }
}

function isNear(measuredHz: number, rateHz: number): boolean {
  return Math.abs(measuredHz - rateHz) <= rateHz * TOLERANCE;
}
