/** Marks that wait; a reply has one for each clause, so that more is a defect and the oldest are answered at once. */
const MAX_MARKS = 500;

/**
 * Answers marks when the audio before them has left the queue. A room has nobody at the far end who could echo them, but
 * its queue is ours and empties in real time.
 */
export class PlayoutMarks {
  private readonly now: () => number;
  private readonly answer: (name: string) => void;
  private readonly marks: { name: string; dueMs: number }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(now: () => number, answer: (name: string) => void) {
    this.now = now;
    this.answer = answer;
  }

  /** A mark behind `queuedMs` of audio. Never answered within the call. */
  add(name: string, queuedMs: number): void {
    this.marks.push({ name, dueMs: this.now() + queuedMs });
    const overdue = this.marks.length > MAX_MARKS ? this.marks.shift() : undefined;
    if (overdue) queueMicrotask(() => this.answer(overdue.name));
    this.schedule();
  }

  /** The audio before the marks was dropped: nobody will hear it. */
  clear(): void {
    this.marks.length = 0;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    clearTimeout(this.timer);
    const head = this.marks[0];
    if (!head) return;
    this.timer = setTimeout(() => this.answerDue(), Math.max(0, head.dueMs - this.now()));
  }

  private answerDue(): void {
    // Timers fire up to a millisecond early.
    const nowMs = this.now() + 1;
    for (let head = this.marks[0]; head && head.dueMs <= nowMs; head = this.marks[0]) {
      this.marks.shift();
      this.answer(head.name);
    }
    this.schedule();
  }
}
