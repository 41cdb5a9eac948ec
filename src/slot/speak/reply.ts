import type { SpeakableCounts } from './text/to-speakable.ts';

/** What the bot says in one go: an answer, a prompt. It ends played, cut or failed, and nothing of it leaves after. */
export interface Reply {
  readonly id: number;
  readonly kind: 'opening' | 'answer' | 'prompt' | 'rescue';
  /** Cancels the thinking and the voice behind this reply. */
  readonly signal: AbortSignal;
  /** Settles once all words and audio of the reply are there; false where it came to less than that. */
  readonly made: Promise<boolean>;
  /** Settles when the reply has been heard, cut or given up; never rejects. */
  readonly ended: Promise<ReplyEnd>;
}

export type ReplyEnd = 'played' | 'cut' | 'failed';

/** A piece of a reply: its words, or words with more to say about them. */
export type Clause =
  | string
  | {
      text: string;
      /** Only bridges a wait: spoken where nothing else is heard, and never part of the conversation. */
      isAside?: boolean;
      /** At line rate, in place of a voice. */
      audio?: Int16Array;
      /** No more comes of the text that this clause belongs to. */
      isLast?: boolean;
    };

export interface SpeakerHooks {
  /** The first frame of a reply has left. */
  onFirstAudio(reply: Reply): void;
  /** What the caller heard of a reply has changed. */
  onHeard(reply: Reply): void;
  /** A voice was given a clause; not called for a line whose audio was at hand. */
  onSynthesized(clause: SpokenClause): void;
  onFailure(reply: Reply, failure: ReplyFailure): void;
  /** Something of a clause was left out or put into words before the voice got it. */
  onFiltered?(reply: Reply, counts: SpeakableCounts): void;
  /** A clause goes to the voice, or its audio was at hand; `unitId` is its number in the ledger. */
  onClauseGiven?(reply: Reply, unitId: number): void;
  onFirstByte?(unitId: number): void;
  /** The voice has given all of a clause, or will give no more. */
  onClauseDone?(unitId: number): void;
  /** The far end echoed a mark, so long after the audio before it must have been played. */
  onMarkEchoed?(delayMs: number): void;
  /** Whether an aside may be spoken now; without this hook every one may. */
  wantsAside?(reply: Reply, text: string): boolean;
  /** An aside was spoken. */
  onAside?(reply: Reply, text: string): void;
  sendMark(name: string): void;
  sendClear(): void;
}

export interface SpokenClause {
  characters: number;
  firstAudioMs: number | null;
  /** The provider whose audio it was; null where the voice does not say. */
  servedBy: { provider: string; model: string | null } | null;
}

export interface ReplyFailure {
  error: Error;
  /** Who failed: the voice, or who gives the words. */
  stage: 'voice' | 'words';
  /** Whether some of its own audio came before. */
  spoke: boolean;
}
