/** What a known tone became: its gain, its delay, and everything in the output that is not the tone. */
export interface ToneMeasure {
  gainDb: number;
  /** Phase delay in output samples; meaningful while the tone itself is not suppressed. */
  delaySamples: number;
  /** All that is not the tone (images, noise), relative to the tone that went in. */
  residualDb: number;
  /** The whole output, relative to the tone that went in. */
  totalDb: number;
}

/** A sine of `amplitude` steps, rounded to 16 bits. */
export function tone(
  frequencyHz: number,
  rateHz: number,
  lengthSamples: number,
  amplitude: number,
): Int16Array {
  return Int16Array.from({ length: lengthSamples }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * frequencyHz * n) / rateHz)),
  );
}

/**
 * Fits a sine of the given frequency to the middle of a settled output by least squares, and states what is left.
 * `amplitude` is that of the tone before conversion; `expectedDelaySamples` picks the period for the delay.
 */
export function measureTone(
  output: Int16Array,
  frequencyHz: number,
  rateHz: number,
  amplitude: number,
  expectedDelaySamples: number,
): ToneMeasure {
  const settle = 2 * expectedDelaySamples + 8;
  const omega = (2 * Math.PI * frequencyHz) / rateHz;
  const sums = { ss: 0, cc: 0, sc: 0, sy: 0, cy: 0, yy: 0, count: 0 };
  for (let n = settle; n < output.length; n++) {
    const sine = Math.sin(omega * n);
    const cosine = Math.cos(omega * n);
    const y = output[n] ?? 0;
    sums.ss += sine * sine;
    sums.cc += cosine * cosine;
    sums.sc += sine * cosine;
    sums.sy += sine * y;
    sums.cy += cosine * y;
    sums.yy += y * y;
    sums.count += 1;
  }
  const determinant = sums.ss * sums.cc - sums.sc * sums.sc;
  const a = (sums.sy * sums.cc - sums.cy * sums.sc) / determinant;
  const b = (sums.cy * sums.ss - sums.sy * sums.sc) / determinant;
  const residual = Math.max(0, sums.yy - a * sums.sy - b * sums.cy);
  const inputPower = (amplitude * amplitude) / 2;
  const phase = Math.atan2(b, a);
  const turns = Math.round((omega * expectedDelaySamples + phase) / (2 * Math.PI));
  return {
    gainDb: 20 * Math.log10(Math.hypot(a, b) / amplitude),
    delaySamples: (2 * Math.PI * turns - phase) / omega,
    residualDb: decibels(residual / sums.count / inputPower),
    totalDb: decibels(sums.yy / sums.count / inputPower),
  };
}

/** Ten times the logarithm of a power ratio, with a floor for nothing at all. */
export function decibels(powerRatio: number): number {
  return 10 * Math.log10(Math.max(powerRatio, 1e-20));
}

/** Joins what a resampler gives for a whole input, chunk by chunk, and its tail. */
export function convertAll(
  resampler: { process(input: Int16Array): Int16Array; flush(): Int16Array },
  input: Int16Array,
  chunkSamples: number,
): Int16Array {
  const parts: number[] = [];
  for (let at = 0; at < input.length; at += chunkSamples) {
    for (const sample of resampler.process(input.subarray(at, at + chunkSamples))) parts.push(sample);
  }
  for (const sample of resampler.flush()) parts.push(sample);
  return Int16Array.from(parts);
}
