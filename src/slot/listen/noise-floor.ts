/**
 * The line's own noise, learned per call, and a gate just above it (RT-02): what the network calls speech but is no
 * louder than the noise between words is not speech. Everything is relative, so a quiet caller on a quiet line is
 * never muted; there is no absolute threshold.
 */
/** Speech this close to the noise cannot be told from it. */
const MARGIN_DB = 3;
/** The floor follows a quieter line at once, within a few windows, and a louder one slowly, within a second. */
const FALL = 0.3;
const RISE = 0.05;
/** Only windows that are clearly no speech teach the floor. */
const TEACHING_PROBABILITY = 0.2;
/** Digital silence between words says nothing about the noise under them. */
const SILENCE_DBFS = -90;

export class NoiseFloor {
  private floorDbfs: number | null = null;

  /** The probability that counts: as given where the window stands out of the noise, 0 where it does not. */
  gate(probability: number, levelDbfs: number): number {
    if (probability < TEACHING_PROBABILITY && levelDbfs > SILENCE_DBFS) this.learn(levelDbfs);
    if (this.floorDbfs === null || levelDbfs >= this.floorDbfs + MARGIN_DB) return probability;
    return 0;
  }

  private learn(levelDbfs: number): void {
    if (this.floorDbfs === null) {
      this.floorDbfs = levelDbfs;
      return;
    }
    const rate = levelDbfs < this.floorDbfs ? FALL : RISE;
    this.floorDbfs += rate * (levelDbfs - this.floorDbfs);
  }
}
