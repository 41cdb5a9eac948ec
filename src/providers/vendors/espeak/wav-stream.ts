/**
 * Takes the header off a WAV file that arrives in pieces, and gives whole samples. A program that streams cannot know
 * the length, so the sizes in the header are not believed: everything behind the `data` chunk's head is audio.
 */
export class WavStream {
  private header: Buffer = Buffer.alloc(0);
  private inAudio = false;
  private oddByte: number | null = null;

  /**
   * The samples that this piece completes; a new array each time, maybe empty. Throws a sentence when the stream is
   * no 16-bit mono WAV of `sampleRate`.
   */
  push(piece: Buffer, sampleRate: number): Int16Array {
    if (this.inAudio) return this.samples(piece);
    this.header = Buffer.concat([this.header, piece]);
    const audioAt = findAudio(this.header, sampleRate);
    if (audioAt === null) return new Int16Array(0);
    const audio = this.header.subarray(audioAt);
    this.inAudio = true;
    this.header = Buffer.alloc(0);
    return this.samples(audio);
  }

  private samples(piece: Buffer): Int16Array {
    const bytes = this.oddByte === null ? piece : Buffer.concat([Buffer.of(this.oddByte), piece]);
    const samples = new Int16Array(bytes.length >> 1);
    for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(2 * i);
    this.oddByte = bytes.length % 2 === 1 ? (bytes[bytes.length - 1] ?? null) : null;
    return samples;
  }
}

/** More than this before the audio is no header that a speech program writes. */
const MAX_HEADER_BYTES = 4_096;

/** Where the audio begins, or null while the header is incomplete. */
function findAudio(bytes: Buffer, sampleRate: number): number | null {
  const magic = bytes.toString('latin1', 0, 12);
  const begins = 'RIFF'.startsWith(magic.slice(0, 4)) && 'WAVE'.startsWith(magic.slice(8, 12));
  if (!begins) throw new Error('the speech program did not write a WAV file');
  if (bytes.length < 12) return null;
  let formatSeen = false;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (id === 'data') {
      if (!formatSeen) throw new Error('the speech program wrote audio before its format');
      return body;
    }
    if (body + size > MAX_HEADER_BYTES) throw new Error('the speech program wrote an overlong WAV header');
    if (id === 'fmt ') {
      if (size < 16) throw new Error('the speech program wrote a format chunk that is cut short');
      if (body + 16 > bytes.length) return null;
      const [encoding, channels, bits] = [0, 2, 14].map((offset) => bytes.readUInt16LE(body + offset));
      const rate = bytes.readUInt32LE(body + 4);
      if (encoding !== 1 || channels !== 1 || bits !== 16 || rate !== sampleRate) {
        throw new Error(
          `the speech program wrote ${channels} channels of ${bits} bits at ${rate} Hz; 1, 16 and ${sampleRate} are expected`,
        );
      }
      formatSeen = true;
    }
    at = body + size + (size & 1);
  }
  if (bytes.length > MAX_HEADER_BYTES) throw new Error('the speech program wrote an overlong WAV header');
  return null;
}
