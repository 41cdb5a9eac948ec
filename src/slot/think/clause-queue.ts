/** A piece of a reply for the speaker. */
export interface AnswerClause {
  text: string;
  /** Bridges a wait: only wanted while the line is quiet, and no part of what the bot had to say. */
  isAside: boolean;
  /** In place of a voice, at line rate. */
  audio?: Int16Array;
  /** The model has come to the end of an answer, and something of it was kept back until then. */
  isLast?: boolean;
}

/**
 * Between the model, which writes as fast as it can, and the voice, which takes clause by clause. The writing side never
 * waits, so a tool begins the moment it is named and not when the words before it have been spoken; what one reply can
 * hold is bounded by its writer. One reader at a time: a clause is out once the one behind it is asked for, so that
 * whoever could not use it leaves it to the next reader.
 */
export class ClauseQueue {
  private readonly waiting: AnswerClause[] = [];
  private ended: { error: unknown } | 'well' | null = null;
  private wake: (() => void) | null = null;

  push(clause: AnswerClause): void {
    if (this.ended) return;
    this.waiting.push(clause);
    this.wake?.();
  }

  /** What is in it is still read. */
  end(): void {
    this.ended ??= 'well';
    this.wake?.();
  }

  /** What is in it is still read, then reading throws. */
  fail(error: unknown): void {
    this.ended ??= { error };
    this.wake?.();
  }

  /** Throws the signal's reason at once when it fires. */
  async *read(signal: AbortSignal): AsyncGenerator<AnswerClause> {
    const stop = () => this.wake?.();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        const [clause] = this.waiting;
        if (clause) {
          yield clause;
          this.waiting.shift();
          continue;
        }
        if (this.ended === 'well') return;
        if (this.ended) throw this.ended.error;
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.wake = null;
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
