/** The caller spoke for so long and the engine had nothing to say (D-34). */
const STT_SILENT_AFTER_MS = 3_000;
/** A turn with less speech may well have no words. */
const SPEECH_OF_A_TURN_MS = 1_000;
/** So many turns of speech without text, one after another, and it is the engine. */
const EMPTY_TURNS = 2;

/**
 * Tells an engine that went deaf from a caller who says nothing that can be written down. Each alarm is given once:
 * where the next session hears nothing either, it was noise, and the watch rests until somebody hears words.
 */
export class SttWatchdog {
  private sinceSignMs = 0;
  private inTurnMs = 0;
  private signInTurn = false;
  private emptyTurns = 0;
  private resting = false;

  /** The engine said anything at all. */
  sign(): void {
    this.sinceSignMs = 0;
  }

  /** It said words. */
  words(): void {
    this.sign();
    this.signInTurn = true;
    this.resting = false;
  }

  /** The engine had nothing to say of the turn before. */
  get isDoubted(): boolean {
    return this.emptyTurns > 0;
  }

  /** Speech went to the engine. True: it is deaf. `tellsWordsAtOnce` says whether it would have spoken by now. */
  speech(ms: number, tellsWordsAtOnce: boolean): boolean {
    this.inTurnMs += ms;
    this.sinceSignMs += ms;
    if (!tellsWordsAtOnce || this.resting || this.sinceSignMs < STT_SILENT_AFTER_MS) return false;
    this.resting = true;
    this.sinceSignMs = 0;
    return true;
  }

  /** The turn is over; how much it held is forgotten for the next one. */
  turnEnded(): { hadSpeech: boolean } {
    const hadSpeech = this.inTurnMs > SPEECH_OF_A_TURN_MS && !this.signInTurn;
    this.inTurnMs = 0;
    this.signInTurn = false;
    return { hadSpeech };
  }

  /** The text of a turn is there. True: it should have had some, twice in a row, and the engine is deaf. */
  turnText(text: string, hadSpeech: boolean): boolean {
    if (text !== '') {
      this.emptyTurns = 0;
      this.resting = false;
      this.sign();
      return false;
    }
    if (!hadSpeech || this.resting) return false;
    this.emptyTurns += 1;
    if (this.emptyTurns < EMPTY_TURNS) return false;
    this.emptyTurns = 0;
    this.resting = true;
    return true;
  }

  /** Another session listens. */
  newSession(): void {
    this.sinceSignMs = 0;
  }
}
