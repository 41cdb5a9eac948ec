/** A shorter wait is no wait to a caller (RT-45). */
const WAIT_MS = 1_200;
/** Spoken this long after the caller's last word: later it comes as a surprise, earlier it cuts them off. */
const AFTER_MS = 700;

export interface FillerOptions {
  /** The bot's lines; with none it says no fillers. */
  lines: readonly string[];
  /** From the text of a turn to the first sound of its answer; null while that is unknown. */
  predictedWaitMs: () => number | null;
  /** Lets the caller hear a line before the answer at work; false where that cannot be. */
  interject: (line: string) => Promise<boolean>;
  /** Whether the caller is silent and waits. */
  isWaitedFor: () => boolean;
  onSpoken: (line: string, reason: FillerReason) => void;
}

/** The wait was foreseen; the bot has owed an answer for too long; a tool brought a line of its own. */
export type FillerReason = 'predicted' | 'late' | 'tool';

/**
 * Short lines while the caller waits for an answer that takes long (RT-45): only where the wait is worth it, never one
 * after another without words of the bot's own between them, and never the same line twice running. A filler is an
 * aside: it is no part of the answer, and the model does not hear of it.
 */
export class Fillers {
  private readonly options: FillerOptions;
  private timer: NodeJS.Timeout | undefined;
  private wasLast = false;
  private next = 0;
  private isStopped = false;

  constructor(options: FillerOptions) {
    this.options = options;
  }

  /** A turn was taken and its answer is being made; the caller's last word was `silentMs` ago. */
  turnTaken(silentMs: number): void {
    clearTimeout(this.timer);
    const predicted = this.options.predictedWaitMs();
    if (this.isStopped || !this.mayBridge || predicted === null || silentMs + predicted <= WAIT_MS) return;
    this.timer = setTimeout(() => void this.say('predicted'), Math.max(0, AFTER_MS - silentMs));
  }

  /** The bot has owed words for long and says nothing. False where no filler fits and another line is needed. */
  owed(): Promise<boolean> {
    return this.say('late');
  }

  /** Whether a line may bridge a wait now; asked for the lines of tools too. */
  get mayBridge(): boolean {
    return !this.wasLast;
  }

  /** A tool's own line was spoken. */
  toolSpoke(line: string): void {
    this.spoken(line, 'tool');
  }

  /** The bot is heard with words of its own: the wait is over. */
  botSpoke(): void {
    clearTimeout(this.timer);
    this.wasLast = false;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private async say(reason: FillerReason): Promise<boolean> {
    const { lines, interject, isWaitedFor } = this.options;
    const line = lines[this.next % lines.length];
    if (this.isStopped || line === undefined || !this.mayBridge || !isWaitedFor()) return false;
    // Set before the audio is looked for, so that two clocks that are due together say one line.
    this.wasLast = true;
    if (!(await interject(line))) {
      this.wasLast = false;
      return false;
    }
    this.next++;
    this.spoken(line, reason);
    return true;
  }

  private spoken(line: string, reason: FillerReason): void {
    clearTimeout(this.timer);
    this.wasLast = true;
    this.options.onSpoken(line, reason);
  }
}
