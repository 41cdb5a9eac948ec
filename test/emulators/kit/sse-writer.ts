import type { ByteStream } from './byte-stream.ts';

/** Server-sent events over a shaped stream. Every method tells whether the client is still there. */
export class SseWriter {
  readonly stream: ByteStream;
  private readonly lineEnd: string;

  constructor(stream: ByteStream) {
    this.stream = stream;
    this.lineEnd = stream.shape.lineEnd ?? '\n';
  }

  /** One event and one chunk; an object goes as JSON. */
  event(data: unknown, fields: { event?: string; id?: string } = {}): Promise<boolean> {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    const lines = [
      ...(fields.event === undefined ? [] : [`event: ${fields.event}`]),
      ...(fields.id === undefined ? [] : [`id: ${fields.id}`]),
      ...text.split('\n').map((line) => `data: ${line}`),
    ];
    return this.stream.write(lines.map((line) => line + this.lineEnd).join('') + this.lineEnd);
  }

  /** A line that clients ignore, such as a ping. */
  comment(text: string): Promise<boolean> {
    return this.stream.write(`: ${text}${this.lineEnd}${this.lineEnd}`);
  }

  raw(chunk: string | Uint8Array): Promise<boolean> {
    return this.stream.write(chunk);
  }

  end(): Promise<boolean> {
    return this.stream.end();
  }

  cut(): false {
    return this.stream.cut();
  }
}
