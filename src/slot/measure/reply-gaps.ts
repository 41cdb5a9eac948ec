import {
  type ReplyGapSummary,
  WAIT_STAGES,
  type WaitStage,
  type Waterfall,
} from '../../contracts/call-measures.ts';

/** Gaps kept for the percentiles; a call with more answers is summed up by its first ones, the mean by all. */
const MAX_GAPS = 2_000;

/** All waterfalls of a call in one: how long its caller waited, and for whom. */
export class ReplyGaps {
  private readonly gaps: number[] = [];
  private readonly sums = new Map<WaitStage, number>();
  private answered = 0;
  private unanswered = 0;
  private maxMs = 0;

  add(waterfall: Waterfall): void {
    this.answered++;
    this.maxMs = Math.max(this.maxMs, waterfall.gap_ms);
    if (this.gaps.length < MAX_GAPS) this.gaps.push(waterfall.gap_ms);
    for (const stage of WAIT_STAGES) {
      this.sums.set(stage, (this.sums.get(stage) ?? 0) + waterfall[`${stage}_ms`]);
    }
  }

  /** A turn whose answer nobody heard. */
  missed(): void {
    this.unanswered++;
  }

  summary(): ReplyGapSummary {
    const { answered } = this;
    const sorted = [...this.gaps].sort((a, b) => a - b);
    const mean = (stage: WaitStage) => Math.round(((this.sums.get(stage) ?? 0) / answered) * 10) / 10;
    return {
      answered,
      unanswered: this.unanswered,
      p50_ms: quantile(sorted, 0.5),
      p95_ms: quantile(sorted, 0.95),
      max_ms: answered === 0 ? null : this.maxMs,
      mean_ms:
        answered === 0
          ? null
          : (Object.fromEntries(WAIT_STAGES.map((stage) => [stage, mean(stage)])) as {
              [stage in WaitStage]: number;
            }),
    };
  }
}

/** The smallest value that so much of all is not above. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
