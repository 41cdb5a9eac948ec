/** Taps of the filter; odd, so that it delays by a whole number of samples. */
export const HALF_BAND_TAPS = 23;
/** The tap in the middle, which is also the delay in samples at 16 kHz (0.7 ms). */
export const HALF_BAND_MIDDLE = (HALF_BAND_TAPS - 1) / 2;

/**
 * The low-pass between 8 and 16 kHz, both ways: what lies above 4 kHz is weakened by at least 40 dB from 5 kHz on.
 * Every second tap but the middle one is zero.
 */
export const HALF_BAND: Float64Array = halfBand();

function halfBand(): Float64Array {
  const filter = new Float64Array(HALF_BAND_TAPS);
  let sum = 0;
  for (let tap = 0; tap < HALF_BAND_TAPS; tap++) {
    const distance = tap - HALF_BAND_MIDDLE;
    const sinc = distance === 0 ? 0.5 : Math.sin((Math.PI * distance) / 2) / (Math.PI * distance);
    // Hamming: its side lobes lie below 40 dB at this length.
    filter[tap] = sinc * (0.54 + 0.46 * Math.cos((Math.PI * distance) / (HALF_BAND_MIDDLE + 1)));
    sum += filter[tap] as number;
  }
  return filter.map((value) => value / sum);
}
