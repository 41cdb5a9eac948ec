/**
 * The line's own noise, learned per call, and a gate just above it (RT-02): what the network calls speech but is no
 * louder than the noise between words is not speech. Everything is relative, so a quiet caller on a quiet line is
 * never muted; there is no absolute threshold.
 *
 * The floor is the least level of the last two seconds. Speech dips to the noise under it several times in that time,
 * so talking does not raise the floor; a line that grows louder raises it within two seconds, a quieter one lowers it
 * at once.
 */
/** Two seconds of windows of 32 ms. */
const MEMORY_WINDOWS = 64;
/** Half a second must be known before anything is refused: a call may begin with speech. */
const MIN_WINDOWS = 16;
/** Speech this close to the noise cannot be told from it; noise itself stays within it. */
const MARGIN_DB = 3;

export class NoiseFloor {
  private readonly levels = new Float32Array(MEMORY_WINDOWS);
  private seen = 0;

  /** The probability that counts: as given where the window stands out of the noise, 0 where it does not. */
  gate(probability: number, levelDbfs: number): number {
    this.levels[this.seen % MEMORY_WINDOWS] = levelDbfs;
    this.seen++;
    if (this.seen < MIN_WINDOWS) return probability;
    return levelDbfs >= this.floorDbfs() + MARGIN_DB ? probability : 0;
  }

  private floorDbfs(): number {
    let least = 0;
    const known = Math.min(this.seen, MEMORY_WINDOWS);
    for (let i = 0; i < known; i++) least = Math.min(least, this.levels[i] ?? 0);
    return least;
  }
}
