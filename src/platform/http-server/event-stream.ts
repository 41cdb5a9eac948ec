import type { HttpReply } from './http-types.ts';

export interface ServerEvent {
  id?: string;
  /** One word of the stream's own vocabulary, `call.ended`. */
  event: string;
  /** Sent as JSON. */
  data: unknown;
}

/** Proxies and browsers give up a connection on which nothing moves; a comment keeps it (D-30). */
const COMMENT_EVERY_MS = 15_000;
/** What a client waits before it connects again. */
const RETRY_MS = 3_000;
/** A reader that leaves so much unread is told why and let go; it resumes with `Last-Event-ID`. */
const MAX_UNREAD_CHARS = 1_048_576;

/** A reply that stays open and carries server-sent events (WHATWG HTML, section 9.2). */
export class EventStream {
  private unread: string[] = [`retry: ${RETRY_MS}\n\n`];
  private unreadChars = 0;
  private closed = false;
  private wake: (() => void) | null = null;
  private readonly onEnd: () => void;

  /** `onEnd` runs once, when the reader has left or the stream was closed. */
  constructor(onEnd: () => void) {
    this.onEnd = onEnd;
  }

  get reply(): HttpReply {
    return {
      status: 200,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
      stream: this.pieces(),
    };
  }

  /** Whether the event was taken; false once the stream is closed. */
  send(event: ServerEvent): boolean {
    if (this.closed) return false;
    const text = format(event);
    if (this.unreadChars + text.length > MAX_UNREAD_CHARS) {
      this.unread = [];
      this.close({ event: 'bye', data: { reason: 'slow_consumer' } });
      return false;
    }
    this.push(text);
    return true;
  }

  /** Ends the stream after what is unread and, where given, a last event. Idempotent. */
  close(last?: ServerEvent): void {
    if (this.closed) return;
    if (last) this.unread.push(format(last));
    this.closed = true;
    this.wake?.();
  }

  private push(text: string): void {
    this.unread.push(text);
    this.unreadChars += text.length;
    this.wake?.();
  }

  private async *pieces(): AsyncGenerator<string> {
    const comments = setInterval(() => {
      if (this.unread.length === 0) this.push(':\n\n');
    }, COMMENT_EVERY_MS);
    comments.unref();
    try {
      while (true) {
        const pieces = this.unread.splice(0);
        this.unreadChars = 0;
        if (pieces.length > 0) yield pieces.join('');
        else if (this.closed) return;
        else {
          await new Promise<void>((resolve) => {
            this.wake = resolve;
          });
        }
      }
    } finally {
      clearInterval(comments);
      this.closed = true;
      this.onEnd();
    }
  }
}

/** JSON has no line breaks of its own, so one `data` line is enough. */
function format({ id, event, data }: ServerEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    `event: ${event}`,
    `data: ${JSON.stringify(data)}`,
  ];
  return `${lines.join('\n')}\n\n`;
}
