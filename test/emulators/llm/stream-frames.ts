/** One event of an answer stream, ready for the wire. */
export interface StreamFrame {
  data: string;
  event?: string;
  /**
   * `content` carries text, a tool call or a part of one; `end` is what `duplicate_final` repeats and `no_end` drops;
   * `done` is a mark that nothing follows; the data of a `comment` is its text.
   */
  kind: 'head' | 'content' | 'noise' | 'comment' | 'end' | 'done';
}

export function frame(kind: StreamFrame['kind'], data: unknown, event?: string): StreamFrame {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return event === undefined ? { kind, data: text } : { kind, data: text, event };
}
