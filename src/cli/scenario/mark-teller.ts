import type { CallerTraits } from './scenario-format.ts';

/** A late far end tells of a mark this much after it was played. */
const LATE_MS = 1_500;

/** Tells the slot about marks as far ends of several kinds do; only the prompt kind is left to the dialler itself. */
export class MarkTeller {
  private readonly habit: CallerTraits['marks'];
  private readonly send: (message: Record<string, unknown>) => void;

  constructor(habit: CallerTraits['marks'], send: (message: Record<string, unknown>) => void) {
    this.habit = habit;
    this.send = send;
  }

  /** Whether the dialler itself must leave marks unanswered. */
  get leavesMarks(): boolean {
    return this.habit === 'late' || this.habit === 'never';
  }

  played(name: string): void {
    const message = { event: 'mark', mark: { name } };
    if (this.habit === 'twice') this.send(message);
    if (this.habit === 'late') setTimeout(() => this.send(message), LATE_MS);
  }
}
