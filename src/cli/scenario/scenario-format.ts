/**
 * A conversation as a file: what the caller does and when, and what must come of it (RT-76; docs/scenarios.md explains
 * every key). Times are milliseconds of the line clock; levels are dB of full scale.
 */
export interface Scenario {
  /** One sentence: what the caller is promised. */
  title: string;
  /** Requirement ids and the line of the failure catalogue that this conversation shows. */
  covers: string[];
  wires: Wire[];
  caller: CallerTraits;
  /** How the bot differs from the plain scripted one; only a runner that owns the configs can obey. */
  bot: Record<string, unknown>;
  /** What the config inputs do; only a runner that owns them can obey. */
  world: Record<string, unknown>;
  steps: Step[];
  expect: CallExpectation;
}

export type Wire = 'json' | 'binary' | 'partner';

export interface CallerTraits {
  /** Steady line noise under everything; none where absent. */
  noiseDbfs: number | null;
  /** The bot comes back on the caller's side, so much later and so much weaker. */
  echo: { delayMs: number; lossDb: number } | null;
  /** What the far end tells about marks: at once, late, twice, also those of dropped audio, or nothing. */
  marks: 'prompt' | 'late' | 'twice' | 'cleared_too' | 'never';
  /** How the far end answers a transfer. */
  transfer: TransferAnswer;
  /** Fields of the first message; custom ones become `call.*`. */
  fields: Record<string, unknown>;
}

export interface TransferAnswer {
  /** `close`: the socket closes without a result. */
  answer: 'ok' | 'failed' | 'none' | 'close';
  afterMs: number;
  reason?: string;
  sipCode?: number;
}

export interface Step {
  action: Action;
  when: When;
  expect: StepExpectation;
}

export type Action =
  | { kind: 'say'; pieces: SpeechPiece[] }
  | { kind: 'sound'; sound: 'noise' | 'tone' | 'babble'; ms: number; dbfs: number; hz: number }
  | { kind: 'dtmf'; digits: string }
  | { kind: 'hang_up'; reason: string }
  /** The connection breaks without a word. */
  | { kind: 'drop' }
  /** No audio leaves for a while, as on a broken trunk. */
  | { kind: 'stop_sending'; ms: number }
  | { kind: 'wait'; ms: number }
  /** Any message, for what the protocol does not foresee. */
  | { kind: 'send'; message: Record<string, unknown> };

/** A part of what the caller says in one go: words by a synthetic voice, a recording, or a pause. */
export type SpeechPiece =
  | { kind: 'words'; text: string; voice: string; wordsPerMinute: number; dbfs: number }
  | { kind: 'file'; path: string; fromMs: number; toMs: number | null; dbfs: number | null }
  | { kind: 'pause'; ms: number };

export type When =
  /** The bot has been heard, and has been quiet for so long. */
  | { kind: 'after_bot'; quietMs: number }
  /** The bot has been audible for so long. */
  | { kind: 'into_bot'; ms: number }
  /** After the line was opened. */
  | { kind: 'at'; ms: number }
  /** After the last step's sound was out. */
  | { kind: 'after_step'; ms: number };

/** What the far end hears of the bot because of a step; every bound that is not null is checked. */
export interface StepExpectation {
  /** From the end of the caller's voice to the first sound of the bot. */
  answerWithinMs: number | null;
  /** From the beginning of the caller's voice to the bot's last sound. */
  stopWithinMs: number | null;
  /** The bot, once stopped, goes on so soon after the caller's voice. */
  resumeWithinMs: number | null;
  /** The bot is heard again and again for so long after the step began: nothing has stopped it. */
  goOnForMs: number | null;
  /** The bot says nothing for so long after the step. */
  quietForMs: number | null;
}

/** What the call must have been, seen from its end. */
export interface CallExpectation {
  /** Who closes; `refused` where the call never begins. */
  closedBy: 'bot' | 'caller' | 'refused' | null;
  closeCode: number | null;
  /** From the first message to the close. */
  endsWithinMs: number | null;
  clears: number | null;
  /** Digits, transfers and the like that the far end gets, each matched in part. */
  receives: Record<string, unknown>[];
  /** Of the results payload; each pattern in this order in what the bot, or the caller, is said to have said. */
  botSays: string[];
  callerSays: string[];
  neverSays: string[];
  events: EventExpectation[];
  noEvents: Record<string, unknown>[];
  /** Of the results payload, matched in part. */
  results: Record<string, unknown>;
}

export interface EventExpectation {
  /** Matched in part; `event` is its name. */
  like: Record<string, unknown>;
  /** So many of them; null for one or more. */
  count: number | null;
}
