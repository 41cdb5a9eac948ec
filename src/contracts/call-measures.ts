/**
 * What a call was measured to be: `end_detail.measures` of the results payload. docs/results.md explains every key to
 * its readers. Times are milliseconds.
 */
export interface CallMeasures {
  /** From the ready line to the bot's first sound; null where there was none. */
  opening_ms: number | null;
  reply_gap: ReplyGapSummary;
  silence: SilenceTotals;
  line: LineReport;
  jitter: JitterReport;
}

/** Edges of the histogram of lateness: 60 ms is what an ordinary playout buffer bears. */
export const JITTER_EDGES_MS = [5, 10, 20, 40, 60, 100, 200, 500] as const;

/**
 * How many packets and frames were less late than each edge and not less than the one before it; the last number is of
 * those beyond all edges (RT-43).
 */
export interface JitterReport {
  edges_ms: readonly number[];
  /** Packets of the caller, behind the fastest ones. */
  received: number[];
  /** Frames of the bot, behind the moment when the pacer should have sent them. */
  sent: number[];
}

/**
 * Who had the sound in hand, stage by stage, while the caller waited for an answer (RT-68). In this order they pass it
 * on; a stage may come back, as where a tool's result goes to the model again.
 */
export const WAIT_STAGES = [
  'carrier',
  'turn_wait',
  'stt',
  'llm',
  'clause',
  'tool',
  'tts',
  'pacing',
  'playout',
] as const;
export type WaitStage = (typeof WAIT_STAGES)[number];

/** One answered turn, whole milliseconds; the nine stages add up to `gap_ms`. The keys of the event `waterfall`. */
export type Waterfall = {
  turn: number;
  reply: number;
  /** Silence between the caller's last sound and the answer's first. */
  gap_ms: number;
  /** Until the first sound of any kind, a filler included. */
  first_sound_ms: number;
  /** Within the wait: a filler or a rescue line sounded, or the caller did without taking a turn. */
  filler_ms: number;
  overlap_ms: number;
  /** How long before the text was settled the model had been asked (RT-51). */
  early_ms: number;
  /** The same wait as the recording shows it. */
  recorded_gap_ms: number;
} & { [stage in `${WaitStage}_ms`]: number };

export interface ReplyGapSummary {
  answered: number;
  /** Turns that ended without an answer that anybody heard: cut, withdrawn or failed before its first sound. */
  unanswered: number;
  p50_ms: number | null;
  p95_ms: number | null;
  max_ms: number | null;
  /** Mean of each stage; they add up to the mean gap. */
  mean_ms: { [stage in WaitStage]: number } | null;
}

/** Who a second of silence belongs to (docs/results.md, "Whose silence was it?"). */
export const SILENCE_OWNERS = ['caller', 'turn_wait', 'stt', 'llm', 'tool', 'tts', 'carrier'] as const;
export type SilenceOwner = (typeof SILENCE_OWNERS)[number];

/** `silence_ms` is the sum of its owners; with the sounds it makes up `total_ms`. */
export interface SilenceTotals {
  total_ms: number;
  silence_ms: number;
  by: { [owner in SilenceOwner]: number };
  /** Only the caller, only the bot, both at once. */
  caller_ms: number;
  bot_ms: number;
  both_ms: number;
}

/** How good the line was: tells a bad line from a bad bot (docs/results.md, "Bad line or bad bot?"). */
export interface LineReport {
  /** 0 to 100; null where too little was heard to say. */
  score: number | null;
  /** Each 0 to 100; null where it could not be judged. */
  parts: { [part in LinePart]: number | null };
  facts: LineFacts;
}

export const LINE_PARTS = ['level', 'noise', 'clipping', 'gaps', 'jitter', 'echo'] as const;
export type LinePart = (typeof LINE_PARTS)[number];

export interface LineFacts {
  speech_dbfs: number | null;
  noise_dbfs: number | null;
  /** Share of the caller's samples that stand in clipped runs. */
  clipped_share: number;
  /** Caller audio that never came, and how often it came too late to be played smoothly. */
  missing_ms: number;
  late_packets: number;
  packets: number;
  /** How late packets come behind the fastest ones, and RFC 3550's interarrival jitter. */
  lateness_p95_ms: number | null;
  jitter_ms: number | null;
  /** The bot's voice coming back: how often it was recognised, how late, how much weaker. */
  echoes: number;
  echo_delay_ms: number | null;
  echo_loss_db: number | null;
  /** From the computed end of playing to the mark's echo: the far end's own buffer and the way there. */
  mark_delay_ms: number | null;
}
