/**
 * Base64 LINEAR16 into samples without an allocation per frame: the text is decoded into one reused buffer and read
 * through a view of it. The view is valid until the next call.
 */
export class AudioPayload {
  private readonly bytes: Buffer;
  private readonly samples: Int16Array;

  constructor(maxBytes: number) {
    // A memory of its own, never the shared pool: the Int16 view needs offset 0 (RT-91).
    const memory = new ArrayBuffer(maxBytes & ~1);
    this.bytes = Buffer.from(memory);
    this.samples = new Int16Array(memory);
  }

  /** Samples of a base64 payload; null when it is not clean base64, empty, too long, or half a sample is left over. */
  fromBase64(payload: string): Int16Array | null {
    const length = payload.length;
    if (length === 0 || length % 4 !== 0) return null;
    const padding = payload.endsWith('==') ? 2 : payload.endsWith('=') ? 1 : 0;
    const expected = (length / 4) * 3 - padding;
    if (expected > this.bytes.length || expected % 2 !== 0) return null;
    // Node's decoder skips what is not base64, so dirt shows as missing bytes.
    const written = this.bytes.write(payload, 'base64');
    if (written !== expected) return null;
    return this.samples.subarray(0, written >> 1);
  }

  /** Samples of a binary frame; null when half a sample is left over, nothing came, or too much. */
  fromBinary(data: Buffer): Int16Array | null {
    if (data.length === 0 || data.length % 2 !== 0 || data.length > this.bytes.length) return null;
    data.copy(this.bytes);
    return this.samples.subarray(0, data.length >> 1);
  }
}
