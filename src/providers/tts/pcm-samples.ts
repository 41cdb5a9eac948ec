/** Bytes of LINEAR16, little endian, to samples; a sample that is cut in two between pieces is put together again. */
export class PcmSamples {
  private oddByte: number | null = null;

  /** The samples that this piece completes: a new array each time, maybe empty. */
  push(piece: Uint8Array): Int16Array {
    const carried = this.oddByte;
    const lead = carried === null ? 0 : 1;
    const samples = new Int16Array((piece.length + lead) >> 1);
    const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
    let at = 0;
    if (carried !== null && samples.length > 0) samples[at++] = (view.getInt8(0) << 8) | carried;
    for (; at < samples.length; at++) samples[at] = view.getInt16(2 * at - lead, true);
    if (piece.length > 0) {
      this.oddByte = (piece.length + lead) % 2 === 1 ? (piece[piece.length - 1] ?? null) : null;
    }
    return samples;
  }
}
