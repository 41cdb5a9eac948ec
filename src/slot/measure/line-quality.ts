import { LINE_PARTS, type LineFacts, type LinePart, type LineReport } from '../../contracts/call-measures.ts';

/**
 * The fingerprint of a line: loudness of the caller and of the noise around them, clipping, what came late or never,
 * and the echo of the bot. Each part is judged from 0 to 100 and all of them together, so that a result shows whether
 * a call went badly because of its line or because of its bot (docs/results.md, "Bad line or bad bot?").
 */
/** Less speech than this says nothing about its level: 1 s in windows of 32 ms. */
const MIN_SPEECH_WINDOWS = 32;
/** Pauses are shorter; half a second tells the noise. */
const MIN_NOISE_WINDOWS = 16;
/** No line carries less, and 0 is full scale. */
const LOWEST_DBFS = -96;
/** Both telephone codings end just above this level; a run of such samples is a cut-off peak (ITU-T G.711). */
const CLIP_LEVEL = 30_000;
const CLIP_RUN_SAMPLES = 3;
/** Marks whose delay is remembered, the latest ones. */
const MAX_MARKS = 256;

/** How each part falls from 100 to 0 between two values; beyond them it stays. */
const SCALES: { [part in LinePart]: { best: number; worst: number } } = {
  // dB of full scale: speech is usual at -30 to -15 on telephone lines, and hard to hear for any engine at -50.
  level: { best: -35, worst: -55 },
  // dB of speech over noise.
  noise: { best: 25, worst: 5 },
  // Share of the samples within speech.
  clipping: { best: 0.0005, worst: 0.02 },
  // Share of the call that never came or came too late.
  gaps: { best: 0.002, worst: 0.05 },
  // Milliseconds by which 95 of 100 packets stay behind the fastest at most.
  jitter: { best: 40, worst: 250 },
  // dB by which the echo is weaker than the bot.
  echo: { best: 40, worst: 6 },
};

export class LineQuality {
  private readonly speech = new Levels();
  private readonly noise = new Levels();
  private samples = 0;
  private clipped = 0;
  private readonly markDelays: number[] = [];
  private marks = 0;

  /** Audio of the caller as it came. */
  heard(samples: Int16Array): void {
    this.samples += samples.length;
    this.clipped += clippedSamples(samples);
  }

  /** One window of the detector: its level, and whether it belongs to speech. */
  window(levelDbfs: number, isSpeech: boolean): void {
    (isSpeech ? this.speech : this.noise).add(levelDbfs);
  }

  /** The far end echoed a mark so long after the audio before it must have been played. */
  markEchoed(delayMs: number): void {
    this.markDelays[this.marks % MAX_MARKS] = delayMs;
    this.marks++;
  }

  report(
    arrival: {
      packets: number;
      latePackets: number;
      missingMs: number;
      receivedMs: number;
      latenessP95Ms: number | null;
      jitterMs: number | null;
    },
    echo: { echoes: number; delayMs: number | null; lossDb: number | null },
  ): LineReport {
    const facts: LineFacts = {
      speech_dbfs: this.speech.median(MIN_SPEECH_WINDOWS),
      noise_dbfs: this.noise.median(MIN_NOISE_WINDOWS),
      clipped_share: this.samples === 0 ? 0 : Math.round((this.clipped / this.samples) * 1e5) / 1e5,
      missing_ms: arrival.missingMs,
      late_packets: arrival.latePackets,
      packets: arrival.packets,
      lateness_p95_ms: arrival.latenessP95Ms,
      jitter_ms: arrival.jitterMs,
      echoes: echo.echoes,
      echo_delay_ms: echo.delayMs,
      echo_loss_db: echo.lossDb,
      mark_delay_ms: median(this.markDelays),
    };
    return judgeLine(facts, arrival.receivedMs);
  }
}

/** Judges what was measured; `receivedMs` is how much caller audio there was at all. */
export function judgeLine(facts: LineFacts, receivedMs: number): LineReport {
  const { speech_dbfs: speech, noise_dbfs: noise } = facts;
  const lateShare = facts.packets === 0 ? 0 : facts.late_packets / facts.packets;
  const missingShare = facts.missing_ms / Math.max(1, facts.missing_ms + receivedMs);
  const hasAudio = receivedMs > 0;
  const parts: LineReport['parts'] = {
    level: speech === null ? null : scaled('level', speech),
    noise: speech === null || noise === null ? null : scaled('noise', speech - noise),
    clipping: hasAudio ? scaled('clipping', facts.clipped_share) : null,
    gaps: hasAudio || facts.missing_ms > 0 ? scaled('gaps', missingShare + lateShare) : null,
    jitter: facts.lateness_p95_ms === null ? null : scaled('jitter', facts.lateness_p95_ms),
    echo: facts.echo_loss_db === null ? (hasAudio ? 100 : null) : scaled('echo', facts.echo_loss_db),
  };
  return { score: scoreOf(parts), parts, facts };
}

/** Samples within runs at the end of the scale. */
export function clippedSamples(samples: Int16Array): number {
  let clipped = 0;
  let run = 0;
  for (let at = 0; at <= samples.length; at++) {
    const value = samples[at] ?? 0;
    if (value >= CLIP_LEVEL || value <= -CLIP_LEVEL) {
      run++;
      continue;
    }
    if (run >= CLIP_RUN_SAMPLES) clipped += run;
    run = 0;
  }
  return clipped;
}

/** A line is as good as its parts together, but one bad part is enough to spoil it: half mean, half worst. */
function scoreOf(parts: LineReport['parts']): number | null {
  const known = LINE_PARTS.map((part) => parts[part]).filter((value) => value !== null);
  // Without a word of the caller there is nothing to compare the line with.
  if (parts.level === null || known.length === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return Math.round((mean + Math.min(...known)) / 2);
}

function scaled(part: LinePart, value: number): number {
  const { best, worst } = SCALES[part];
  return Math.round(100 * Math.min(1, Math.max(0, (value - worst) / (best - worst))));
}

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor((sorted.length - 1) / 2)] ?? 0);
}

/** A histogram of loudness in steps of 1 dB: any length of call, the same memory. */
class Levels {
  private readonly counts = new Uint32Array(-LOWEST_DBFS + 1);
  private total = 0;

  add(levelDbfs: number): void {
    const step = Math.min(0, Math.max(LOWEST_DBFS, Math.round(levelDbfs))) - LOWEST_DBFS;
    this.counts[step] = (this.counts[step] ?? 0) + 1;
    this.total++;
  }

  /** Null below a number of windows that means something. */
  median(atLeast: number): number | null {
    if (this.total < atLeast) return null;
    let left = this.total / 2;
    for (const [step, count] of this.counts.entries()) {
      left -= count;
      if (left <= 0) return step + LOWEST_DBFS;
    }
    return 0;
  }
}
