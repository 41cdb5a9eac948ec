/**
 * White noise of an even distribution that a seed decides: fills the samples at a level in dB of full scale. The same
 * seed gives the same noise, so that a conversation sounds the same each time.
 */
export function seededNoise(seed: number): (samples: Int16Array, dbfs: number) => void {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return (samples, dbfs) => {
    // An even distribution's level lies at its peak over the square root of three.
    const peak = 32_767 * 10 ** (dbfs / 20) * Math.sqrt(3);
    for (let at = 0; at < samples.length; at++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      state >>>= 0;
      const value = (samples[at] as number) + peak * (state / 2_147_483_648 - 1);
      samples[at] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
    }
  };
}
