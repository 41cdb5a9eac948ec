/** Where known audio was found in a recording, and how much of it. */
export interface FoundAudio {
  /** From the beginning of the recording to the beginning of the known audio. */
  lagMs: number;
  /** Normalised, 0 to 1, over the whole of the known audio in its place. */
  correlation: number;
  /** Of the recording in that place and of the known audio itself, 300 to 3200 Hz; -120 for digital silence. */
  levelDbfs: number;
  knownLevelDbfs: number;
  /** Pieces of half a second that hold sound, and those of them that were found where they belong. */
  blocks: number;
  blocksFound: number;
  share: number;
}

export interface FindOptions {
  rate?: number;
  /** A block counts as found from this correlation on. */
  minCorrelation?: number;
}

const BLOCK_MS = 500;
/** Clocks drift, and a jitter buffer on a busy machine stretches speech: a block is looked for so far around its place. */
const WANDER_MS = 400;
/** A block more quiet than this under the loudest one says nothing. */
const QUIET_DB = 30;

/**
 * Finds known audio in a recording of the far end. Codecs change samples and keep shapes, so a normalised
 * cross-correlation finds the place; the blocks say how much of the audio really is there.
 */
export function findAudio(
  knownAudio: Int16Array,
  recordedAudio: Int16Array,
  options: FindOptions = {},
): FoundAudio {
  const rate = options.rate ?? 8_000;
  const [known, recording] = [knownAudio, recordedAudio].map((audio) => telephoneBand(audio, rate)) as [
    Int16Array,
    Int16Array,
  ];
  const minCorrelation = options.minCorrelation ?? 0.5;
  const place = bestLag(known, recording);
  const blockSamples = (BLOCK_MS * rate) / 1000;
  const wander = (WANDER_MS * rate) / 1000;
  const voiced = loudBlocks(known, blockSamples);
  let blocksFound = 0;
  for (const at of voiced) {
    const block = known.subarray(at, at + blockSamples);
    const from = Math.max(0, place.lag + at - wander);
    const around = recording.subarray(from, Math.max(from, place.lag + at + blockSamples + wander));
    if (bestLag(block, around).correlation >= minCorrelation) blocksFound += 1;
  }
  const there = recording.subarray(Math.max(0, place.lag), Math.max(0, place.lag + known.length));
  return {
    lagMs: (place.lag * 1000) / rate,
    correlation: place.correlation,
    levelDbfs: levelDbfs(there),
    knownLevelDbfs: levelDbfs(known),
    blocks: voiced.length,
    blocksFound,
    share: voiced.length > 0 ? blocksFound / voiced.length : 0,
  };
}

/** Level of the mean power, full scale being a square wave; -120 for digital silence and for nothing. */
export function levelDbfs(samples: Int16Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  const mean = samples.length > 0 ? energy / samples.length : 0;
  return mean > 0 ? Math.max(-120, 10 * Math.log10(mean / 32_768 ** 2)) : -120;
}

/** One line for a test's output: what was heard and how well. */
export function describeFound(found: FoundAudio): string {
  const level = `${found.levelDbfs.toFixed(1)} dBFS of ${found.knownLevelDbfs.toFixed(1)} dBFS`;
  const share = `${found.blocksFound} of ${found.blocks} blocks`;
  return `at ${found.lagMs.toFixed(0)} ms, correlation ${found.correlation.toFixed(2)}, ${level}, ${share}`;
}

/**
 * What a telephone line certainly carries. Below it codecs take rumble away, and above it each resampler on the way
 * cuts off somewhere else; there, whole blocks of a recording may be missing without anyone hearing it.
 */
function telephoneBand(samples: Int16Array, rate: number): Int16Array {
  const below = lowPass(LOWEST_HZ / rate);
  const taps = lowPass(HIGHEST_HZ / rate).map((tap, index) => tap - (below[index] ?? 0));
  const half = (TAPS - 1) / 2;
  const filtered = new Int16Array(samples.length);
  for (let index = 0; index < samples.length; index++) {
    let sum = 0;
    const first = Math.max(0, half - index);
    const last = Math.min(TAPS, samples.length + half - index);
    for (let tap = first; tap < last; tap++) sum += (taps[tap] ?? 0) * (samples[index + tap - half] ?? 0);
    filtered[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return filtered;
}

const LOWEST_HZ = 300;
const HIGHEST_HZ = 3_200;
const TAPS = 127;

/** A windowed sinc (Hamming) of unit gain; `cutoff` in cycles for each sample. */
function lowPass(cutoff: number): Float64Array {
  const taps = Float64Array.from({ length: TAPS }, (_, tap) => {
    const at = tap - (TAPS - 1) / 2;
    const sinc = at === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * at) / (Math.PI * at);
    return sinc * (0.54 - 0.46 * Math.cos((2 * Math.PI * tap) / (TAPS - 1)));
  });
  const gain = taps.reduce((sum, tap) => sum + tap, 0);
  return taps.map((tap) => tap / gain);
}

/** Beginnings of the blocks that hold sound. */
function loudBlocks(known: Int16Array, blockSamples: number): number[] {
  const levels: { at: number; level: number }[] = [];
  for (let at = 0; at + blockSamples <= known.length; at += blockSamples) {
    levels.push({ at, level: levelDbfs(known.subarray(at, at + blockSamples)) });
  }
  const loudest = Math.max(-120, ...levels.map(({ level }) => level));
  return levels.filter(({ level }) => level > -90 && level >= loudest - QUIET_DB).map(({ at }) => at);
}

/** The shift at which the piece fits the recording best; pieces may begin before it and end behind it. */
function bestLag(piece: Int16Array, recording: Int16Array): { lag: number; correlation: number } {
  if (piece.length === 0 || recording.length === 0) return { lag: 0, correlation: 0 };
  const size = 2 ** Math.ceil(Math.log2(piece.length + recording.length));
  const products = crossCorrelation(piece, recording, size);
  const pieceEnergy = energyOf(piece);
  const sums = energySums(recording);
  // A place where half of the piece hangs over the edge of the recording is no place.
  const overhang = Math.floor(Math.min(piece.length, recording.length) / 2);
  let best = { lag: 0, correlation: 0 };
  for (let lag = -overhang; lag <= recording.length - overhang; lag++) {
    const from = Math.max(0, lag);
    const to = Math.min(recording.length, lag + piece.length);
    if (to - from < overhang) continue;
    const energy = (sums[to] ?? 0) - (sums[from] ?? 0);
    const scale = Math.sqrt(energy * pieceEnergy);
    if (scale < 1) continue;
    const correlation = (products[(lag + size) % size] ?? 0) / scale;
    if (correlation > best.correlation) best = { lag, correlation };
  }
  return best;
}

/** Sum over n of piece[n] * recording[n + lag], for every lag modulo `size` (a power of two), by way of the FFT. */
function crossCorrelation(piece: Int16Array, recording: Int16Array, size: number): Float64Array {
  // Both real signals go through one transform: the piece as real part, the recording as imaginary part.
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  re.set(piece);
  im.set(recording);
  transform(re, im);
  const productRe = new Float64Array(size);
  const productIm = new Float64Array(size);
  for (let k = 0; k < size; k++) {
    const mirror = (size - k) % size;
    const [a, b] = [re[k] ?? 0, im[k] ?? 0];
    const [c, d] = [re[mirror] ?? 0, im[mirror] ?? 0];
    const [pieceRe, pieceIm] = [(a + c) / 2, (b - d) / 2];
    const [recordingRe, recordingIm] = [(b + d) / 2, (c - a) / 2];
    productRe[k] = pieceRe * recordingRe + pieceIm * recordingIm;
    // The inverse transform is a forward one on the conjugate.
    productIm[k] = -(pieceRe * recordingIm - pieceIm * recordingRe);
  }
  transform(productRe, productIm);
  for (let lag = 0; lag < size; lag++) productRe[lag] = (productRe[lag] ?? 0) / size;
  return productRe;
}

/** Fast Fourier transform in place; the length is a power of two. */
function transform(re: Float64Array, im: Float64Array): void {
  const size = re.length;
  for (let index = 1, reversed = 0; index < size; index++) {
    let bit = size >> 1;
    for (; reversed & bit; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (index < reversed) {
      swap(re, index, reversed);
      swap(im, index, reversed);
    }
  }
  for (let span = 2; span <= size; span *= 2) {
    const half = span / 2;
    const cos = Float64Array.from({ length: half }, (_, k) => Math.cos((2 * Math.PI * k) / span));
    const sin = Float64Array.from({ length: half }, (_, k) => -Math.sin((2 * Math.PI * k) / span));
    for (let start = 0; start < size; start += span) {
      for (let k = 0; k < half; k++) {
        const even = start + k;
        const odd = even + half;
        const [c, s, x, y] = [cos[k] ?? 0, sin[k] ?? 0, re[odd] ?? 0, im[odd] ?? 0];
        const turnedRe = x * c - y * s;
        const turnedIm = x * s + y * c;
        re[odd] = (re[even] ?? 0) - turnedRe;
        im[odd] = (im[even] ?? 0) - turnedIm;
        re[even] = (re[even] ?? 0) + turnedRe;
        im[even] = (im[even] ?? 0) + turnedIm;
      }
    }
  }
}

function swap(values: Float64Array, one: number, other: number): void {
  const kept = values[one] ?? 0;
  values[one] = values[other] ?? 0;
  values[other] = kept;
}

function energyOf(samples: Int16Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return energy;
}

/** The energy before each sample, so that the energy of any stretch is a difference. */
function energySums(samples: Int16Array): Float64Array {
  const sums = new Float64Array(samples.length + 1);
  for (let index = 0; index < samples.length; index++) {
    sums[index + 1] = (sums[index] ?? 0) + (samples[index] ?? 0) ** 2;
  }
  return sums;
}
