import type { WordTiming } from '../../contract/text-to-speech.ts';

/** Characters of one chunk of audio with their times from the start of that chunk. */
export interface CharacterTimes {
  chars: readonly string[];
  startsMs: readonly number[];
  durationsMs: readonly number[];
}

/** Words of several hundred letters do not occur; such a run is given out in pieces. */
const MAX_WORD_CHARS = 200;

/**
 * Makes word timings of character timings that come chunk by chunk: each chunk counts from its own start, and a word
 * may begin in one chunk and end in the next.
 */
export class CharacterWords {
  private open: { text: string; startMs: number; endMs: number } | null = null;

  /** The words that this chunk completes. `offsetMs` is where the chunk's audio begins in the clause. */
  push(times: CharacterTimes, offsetMs: number): WordTiming[] {
    const words: WordTiming[] = [];
    for (const [index, char] of times.chars.entries()) {
      const startMs = offsetMs + (times.startsMs[index] ?? 0);
      const endMs = startMs + (times.durationsMs[index] ?? 0);
      if (/^\s*$/.test(char)) {
        words.push(...this.flush());
      } else if (this.open && this.open.text.length < MAX_WORD_CHARS) {
        this.open.text += char;
        this.open.endMs = endMs;
      } else {
        words.push(...this.flush());
        this.open = { text: char, startMs, endMs };
      }
    }
    return words;
  }

  /** The word that no space has ended, when the clause is over. */
  flush(): WordTiming[] {
    const word = this.open;
    this.open = null;
    return word ? [word] : [];
  }
}
