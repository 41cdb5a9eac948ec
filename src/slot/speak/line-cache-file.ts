import type { LineCache } from './line-cache.ts';

/**
 * Collects the audio of one line while it is spoken, so that it need not be asked for again. Audio of another provider
 * spoils it: the line would sound different from the bot for ever.
 */
export class LineCapture {
  private readonly lines: LineCache;
  private readonly text: string;
  private readonly blocks: Int16Array[] = [];
  private samples = 0;
  private isOwnVoice = true;

  constructor(lines: LineCache, text: string) {
    this.lines = lines;
    this.text = text;
  }

  servedBy(provider: string): void {
    this.isOwnVoice &&= this.lines.isOwnVoice(provider);
  }

  /** Audio at line rate. The pacer reads the same block and changes it as little as this does. */
  add(samples: Int16Array): void {
    if (!this.isOwnVoice) return;
    this.blocks.push(samples);
    this.samples += samples.length;
  }

  /** The line was spoken to its end. */
  keep(): void {
    if (!this.isOwnVoice || this.samples === 0) return;
    const whole = new Int16Array(this.samples);
    let at = 0;
    for (const block of this.blocks) {
      whole.set(block, at);
      at += block.length;
    }
    this.lines.learn(this.text, whole);
  }
}
