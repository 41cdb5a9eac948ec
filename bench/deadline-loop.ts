import { FRAME_MS } from '../src/contracts/limits.ts';
import { monotonicMs } from '../src/platform/clock.ts';

/** Timers fire up to a millisecond early; such a wake counts as on time, as in the product's pacer. */
const EARLY_MS = 1;

interface Task {
  dueMs: number;
  run: (nowMs: number) => void;
}

/**
 * One timer for many lines: each task runs every 20 ms on a grid of its own, by absolute deadlines. The loop measures
 * itself, because an instrument that is late cannot call its subject late.
 */
export class DeadlineLoop {
  /** Milliseconds between a deadline and its work, one per run while `recording`. */
  readonly lateness: number[] = [];
  recording = false;
  private readonly tasks = new Set<Task>();
  private timer: NodeJS.Timeout | undefined;

  /** Runs `run` every 20 ms from `firstDueMs` on; returns what ends that. */
  add(firstDueMs: number, run: (nowMs: number) => void): () => void {
    const task = { dueMs: firstDueMs, run };
    this.tasks.add(task);
    this.schedule();
    return () => this.tasks.delete(task);
  }

  private schedule(): void {
    clearTimeout(this.timer);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const task of this.tasks) nextMs = Math.min(nextMs, task.dueMs);
    if (nextMs < Number.POSITIVE_INFINITY) {
      this.timer = setTimeout(() => this.wake(), Math.max(0, nextMs - monotonicMs()));
    }
  }

  private wake(): void {
    for (const task of this.tasks) {
      let nowMs = monotonicMs();
      // A dialler that overslept sends all that it owes: a telephone line loses nothing.
      while (task.dueMs - EARLY_MS <= nowMs && this.tasks.has(task)) {
        if (this.recording) this.lateness.push(nowMs - task.dueMs);
        task.dueMs += FRAME_MS;
        task.run(nowMs);
        nowMs = monotonicMs();
      }
    }
    this.schedule();
  }
}
