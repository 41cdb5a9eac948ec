/** G.711 mu-law, as ITU-T G.711 defines it: 14-bit samples in eight segments, all bits inverted on the line. */
const BIAS = 0x84;
const CLIP = 32_635;

/** The byte that stands for silence. */
export const MU_LAW_SILENCE = 0xff;

/** Writes one byte for each sample, from `at` on. */
export function encodeMuLaw(samples: Int16Array, out: Uint8Array, at = 0): void {
  for (let index = 0; index < samples.length; index++) out[at + index] = encoded(samples[index] ?? 0);
}

export function decodeMuLaw(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let index = 0; index < bytes.length; index++) samples[index] = DECODED[bytes[index] ?? 0] ?? 0;
  return samples;
}

function encoded(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS;
  // The position of the highest bit, 7 to 14, names the segment.
  const segment = 31 - Math.clz32(magnitude) - 7;
  const step = (magnitude >> (segment + 3)) & 0x0f;
  return ~(sign | (segment << 4) | step) & 0xff;
}

const DECODED = Int16Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte & 0xff;
  const magnitude = ((((code & 0x0f) << 3) + BIAS) << ((code >> 4) & 7)) - BIAS;
  return code & 0x80 ? -magnitude : magnitude;
});
