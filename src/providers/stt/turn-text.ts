import type { SttResult } from '../contract/speech-to-text.ts';

interface Piece {
  text: string;
  confidence: number | null;
}

/** Pieces kept of one turn; a turn that is never flushed keeps its newest. */
const MAX_PIECES = 1_000;

/**
 * The text of the open turn, put together from what a vendor settled and what it still guesses.
 * `separator` stands between settled pieces: a space, or nothing where pieces carry their own.
 */
export class TurnText {
  private readonly separator: string;
  private pieces: Piece[] = [];
  private language: string | null = null;
  /** What the vendor guesses beyond the settled pieces. */
  guess = '';

  constructor(separator: ' ' | '') {
    this.separator = separator;
  }

  get isEmpty(): boolean {
    return this.pieces.length === 0 && this.guess === '';
  }

  /** Settles a piece; an empty one only says that nothing was spoken, and takes the guess away all the same. */
  settle(text: string, confidence: number | null, language: string | null = null): void {
    this.guess = '';
    if (text === '') return;
    this.pieces.push({ text, confidence });
    if (this.pieces.length > MAX_PIECES) this.pieces.shift();
    if (language !== null) this.language = language;
  }

  /** Settled text and guess, as the caller's words so far. */
  get text(): string {
    const parts = this.pieces.map((piece) => piece.text);
    if (this.guess !== '') parts.push(this.guess);
    return parts.join(this.separator).trim();
  }

  /** The turn's result; the next turn begins empty. Confidence is weighed by length of text. */
  take(): SttResult {
    const text = this.text;
    const known = this.pieces.filter((piece) => piece.confidence !== null);
    const chars = known.reduce((sum, piece) => sum + piece.text.length, 0);
    const weighed = known.reduce((sum, piece) => sum + piece.text.length * (piece.confidence as number), 0);
    const language = this.language;
    this.clear();
    return { text, confidence: chars === 0 ? null : weighed / chars, language };
  }

  clear(): void {
    this.pieces = [];
    this.language = null;
    this.guess = '';
  }
}
