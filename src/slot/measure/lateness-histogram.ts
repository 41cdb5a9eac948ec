import { JITTER_EDGES_MS } from '../../contracts/call-measures.ts';

/** Later than this is counted as this late. */
export const MAX_LATENESS_MS = 1_000;
const STEP_MS = 5;

/** How late packets or frames were, in steps of 5 ms: any length of call, the same memory. */
export class LatenessHistogram {
  private readonly steps = new Uint32Array(MAX_LATENESS_MS / STEP_MS + 1);
  total = 0;

  add(lateMs: number): void {
    const step = Math.floor(Math.min(MAX_LATENESS_MS, Math.max(0, lateMs)) / STEP_MS);
    this.steps[step] = (this.steps[step] ?? 0) + 1;
    this.total++;
  }

  /** The lower edge of the step that holds this share of all. */
  at(share: number): number {
    let left = this.total * share;
    for (const [step, count] of this.steps.entries()) {
      left -= count;
      if (left <= 0) return step * STEP_MS;
    }
    return MAX_LATENESS_MS;
  }

  /** How many were later than the edge before and less late than each; the last ones are beyond all edges. */
  counts(): number[] {
    const counts = new Array<number>(JITTER_EDGES_MS.length + 1).fill(0);
    for (const [step, count] of this.steps.entries()) {
      const place = JITTER_EDGES_MS.findIndex((edgeMs) => step * STEP_MS < edgeMs);
      const at = place < 0 ? JITTER_EDGES_MS.length : place;
      counts[at] = (counts[at] ?? 0) + count;
    }
    return counts;
  }
}
