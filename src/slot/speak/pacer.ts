import { FRAME_MS, FRAME_SAMPLES } from '../../contracts/limits.ts';
import { SentAudio } from './sent-audio.ts';

/**
 * The playback queue and its clock. Frames leave on an absolute 20 ms grid, never by setInterval, which drifts by one
 * per cent (RT-43). They run ahead of the caller's ear by a fixed lead, so that a busy host does not
 * starve the line.
 *
 * Everything queued carries the epoch of its reply. `clear()` begins a new epoch; whatever still arrives for an older
 * one is refused, so nothing of a cancelled reply can leave after `clear` (RT-16).
 *
 * `pause()` pauses the bot without ending anything: what the caller has not heard is taken back, and `resume()` goes on
 * with it (RT-14).
 *
 * On a line with a background, frames also leave while the bot says nothing, on the same grid and with a smaller lead:
 * what lies at the far end already is what the bot's next word has to wait for.
 */
export interface PacerSink {
  /**
   * One frame leaves; it will be heard at `playAtMs`, which is sample `playAtSample` of the line clock. `lateMs` is how
   * long after its place on the grid, or after its audio came, this process was awake to send it.
   */
  onFrame(frame: Int16Array, playAtSample: number, unitId: number, playAtMs: number, lateMs: number): void;
  /** The last frame of a unit has left; it ends in the caller's ear at `playEndMs`. */
  onUnitSent(unitId: number, playEndMs: number): void;
  /** A frame of a unit that had left was not heard and will be sent again; so will the unit's end where it had left. */
  onUnsent(unitId: number, samples: number): void;
  /** The line's next frame holds no speech; only called on a line with `idleLeadMs`. */
  onIdleFrame?(playAtMs: number): void;
  /** Every tick, at least every IDLE_TICK_MS. */
  onTick(): void;
}

export interface PacerOptions {
  sink: PacerSink;
  leadMs: number;
  /** Frames leave without a pause, and those without speech run so far ahead; null where silence is not sent. */
  idleLeadMs?: number | null;
  /**
   * Where the far end's own queue makes the place of a pause an estimate: the bot goes on from the quietest moment of
   * as much that was heard before it, instead of in the middle of a word (RT-14). 0: from the exact frame.
   */
  rewindMs?: number;
  now: () => number;
  lineSamples: () => number;
}

/** With nothing to send, the clock still ticks for timers, the heartbeat and gap filling. */
export const IDLE_TICK_MS = 100;
/** Timers fire up to a millisecond early; such a wake counts as on time. */
const EARLY_MS = 1;
/** A paused voice comes back over this, so that it does not click. */
const FADE_SAMPLES = FRAME_SAMPLES / 2;

type Entry = { unitId: number; samples: Int16Array; offset: number } | { unitId: number; end: true };

export class Pacer {
  private readonly sink: PacerSink;
  private readonly leadMs: number;
  private readonly idleLeadMs: number | null;
  private readonly rewindMs: number;
  private readonly now: () => number;
  private readonly lineSamples: () => number;
  private readonly frame = new Int16Array(FRAME_SAMPLES);
  private queue: Entry[] = [];
  private queuedSamples = 0;
  private timer: NodeJS.Timeout | undefined;
  private running = false;
  private tickDueMs = 0;
  /** The grid on which frames follow each other since the line was last empty. */
  private gridStartMs = 0;
  private gridStartSample = 0;
  private gridFrames = 0;
  private wasIdle = false;
  /** When the next frame could leave as far as its audio goes. */
  private readyAtMs = Number.NEGATIVE_INFINITY;
  /** Of the last frame with speech. */
  private spokenEndMs = Number.NEGATIVE_INFINITY;
  private readonly sent = new SentAudio();
  private held = false;
  private fadesIn = false;
  /** Of what is queued and may still be queued; older epochs are dead. */
  epoch = 0;

  constructor(options: PacerOptions) {
    this.sink = options.sink;
    this.leadMs = options.leadMs;
    this.idleLeadMs = options.idleLeadMs ?? null;
    this.rewindMs = options.rewindMs ?? 0;
    this.now = options.now;
    this.lineSamples = options.lineSamples;
  }

  start(): void {
    this.running = true;
    this.tickDueMs = this.now() + IDLE_TICK_MS;
    this.schedule();
  }

  stop(): void {
    this.running = false;
    clearTimeout(this.timer);
    this.queue = [];
    this.queuedSamples = 0;
  }

  /** Queues audio of a unit. False where its epoch is over. The pacer keeps the samples. */
  push(epoch: number, unitId: number, samples: Int16Array): boolean {
    if (epoch !== this.epoch || !this.running) return false;
    if (samples.length > 0) {
      this.noteReady();
      this.queue.push({ unitId, samples, offset: 0 });
      this.queuedSamples += samples.length;
      this.wake();
    }
    return true;
  }

  /** The unit is complete; its last frame is padded with silence. */
  endUnit(epoch: number, unitId: number): boolean {
    if (epoch !== this.epoch || !this.running) return false;
    this.noteReady();
    this.queue.push({ unitId, end: true });
    this.wake();
    return true;
  }

  /** Drops what is queued and begins a new epoch. `farEndDrops`: the far end is told to drop what it holds, too. */
  clear(farEndDrops = true): void {
    this.epoch++;
    this.queue = [];
    this.queuedSamples = 0;
    this.held = false;
    this.fadesIn = false;
    this.sent.forget();
    if (farEndDrops) this.emptyLine();
    this.reschedule();
  }

  /**
   * Pauses: no speech leaves until `resume()` or `clear()`. Returns whether the far end holds audio that the caller has
   * not heard by `heardUntilMs`; it must drop it, since all of that will be sent again.
   */
  pause(heardUntilMs = this.now()): boolean {
    if (this.held) return false;
    this.held = true;
    const unheard = this.sent.takeUnheard(heardUntilMs, this.rewindMs);
    for (const entry of unheard) {
      this.sink.onUnsent(entry.unitId, 'end' in entry ? 0 : entry.samples.length);
      if (!('end' in entry)) this.queuedSamples += entry.samples.length;
    }
    this.queue.unshift(
      ...unheard.map(
        (entry): Entry =>
          'end' in entry
            ? { unitId: entry.unitId, end: true }
            : { unitId: entry.unitId, samples: entry.samples, offset: 0 },
      ),
    );
    if (unheard.length > 0) this.emptyLine();
    this.reschedule();
    return unheard.length > 0;
  }

  /** Goes on from the first frame that was not heard. */
  resume(): void {
    if (!this.held) return;
    this.held = false;
    this.fadesIn = true;
    this.readyAtMs = this.now();
    this.wake();
  }

  get isPaused(): boolean {
    return this.held;
  }

  get queuedMs(): number {
    return (this.queuedSamples / FRAME_SAMPLES) * FRAME_MS;
  }

  /** When the caller has heard everything that the bot has said; in the past when it says nothing. */
  get playEndMs(): number {
    return this.spokenEndMs;
  }

  /** When the caller has heard everything that was sent, frames without speech included. */
  get sentEndMs(): number {
    return this.gridEndMs;
  }

  /** Whether the caller hears the bot now or is about to. */
  get isSpeaking(): boolean {
    return !this.held && (this.queuedSamples > 0 || this.playEndMs > this.now());
  }

  private get gridEndMs(): number {
    return this.gridFrames === 0 ? Number.NEGATIVE_INFINITY : this.gridStartMs + this.gridFrames * FRAME_MS;
  }

  /** The far end holds nothing any more. */
  private emptyLine(): void {
    this.gridFrames = 0;
    this.spokenEndMs = Number.NEGATIVE_INFINITY;
  }

  /** Audio is about to be queued: nothing that waited for it is late before this. */
  private noteReady(): void {
    if (!this.hasFrame()) this.readyAtMs = this.now();
  }

  private wake(): void {
    if (!this.running) return;
    this.sendDue();
    this.reschedule();
  }

  private reschedule(): void {
    clearTimeout(this.timer);
    if (this.running) this.schedule();
  }

  private schedule(): void {
    // Audio that comes in live pushes this timer out again and again; the tick is due all the same.
    const dueMs = Math.min(this.tickDueMs, this.nextDueMs());
    const waitMs = Math.min(IDLE_TICK_MS, Math.max(0, dueMs - this.now()));
    this.timer = setTimeout(() => {
      if (!this.running) return;
      this.sendDue();
      this.tickDueMs = this.now() + IDLE_TICK_MS;
      this.sink.onTick();
      if (this.running) this.reschedule();
    }, waitMs);
  }

  private nextDueMs(): number {
    const leadMs = this.isSpeechDue() ? this.leadMs : this.idleLeadMs;
    if (leadMs === null) return Number.POSITIVE_INFINITY;
    return this.gridEndMs < this.now() ? this.now() : this.gridEndMs - leadMs;
  }

  private sendDue(): void {
    if (!this.held) this.passUnitEnds();
    while (this.running) {
      const isSpeech = this.isSpeechDue();
      const leadMs = isSpeech ? this.leadMs : this.idleLeadMs;
      if (leadMs === null) return;
      const now = this.now();
      const isDry = this.gridEndMs < now;
      const dueMs = Math.max(
        this.gridEndMs - leadMs,
        this.readyAtMs,
        isDry ? Number.NEGATIVE_INFINITY : this.gridStartMs,
      );
      if (isDry) {
        // The line ran dry, so a new grid begins here; catching up would only pile frames up at the far end.
        this.gridStartMs = now;
        this.gridStartSample = this.lineSamples();
        this.gridFrames = 0;
      }
      const playAtMs = this.gridStartMs + this.gridFrames * FRAME_MS;
      if (now < playAtMs - leadMs - EARLY_MS) return;
      if (!isSpeech) {
        this.sendIdle(playAtMs);
        continue;
      }
      if (this.wasIdle) this.findPlace(playAtMs - now);
      this.sendFrame(playAtMs, Math.max(0, now - dueMs));
      this.passUnitEnds();
    }
  }

  /** A grid that stood for minutes has drifted from the line clock: a spurt finds its place anew. */
  private findPlace(aheadMs: number): void {
    this.wasIdle = false;
    const aheadSamples = Math.round((aheadMs / FRAME_MS) * FRAME_SAMPLES);
    this.gridStartSample = this.lineSamples() + aheadSamples - this.gridFrames * FRAME_SAMPLES;
  }

  private sendIdle(playAtMs: number): void {
    this.wasIdle = true;
    this.gridFrames++;
    this.sink.onIdleFrame?.(playAtMs);
  }

  private sendFrame(playAtMs: number, lateMs: number): void {
    const unitId = this.queue[0]?.unitId ?? 0;
    let filled = 0;
    while (filled < FRAME_SAMPLES) {
      const entry = this.queue[0];
      if (!entry || 'end' in entry) break;
      const take = Math.min(FRAME_SAMPLES - filled, entry.samples.length - entry.offset);
      this.frame.set(entry.samples.subarray(entry.offset, entry.offset + take), filled);
      filled += take;
      entry.offset += take;
      if (entry.offset === entry.samples.length) this.queue.shift();
    }
    this.frame.fill(0, filled);
    this.queuedSamples -= filled;
    const playAtSample = this.gridStartSample + this.gridFrames * FRAME_SAMPLES;
    this.gridFrames++;
    this.spokenEndMs = playAtMs + FRAME_MS;
    if (this.fadesIn) this.fadeIn();
    this.sent.frame(this.frame, unitId, playAtMs);
    this.sink.onFrame(this.frame, playAtSample, unitId, playAtMs, lateMs);
  }

  private fadeIn(): void {
    this.fadesIn = false;
    for (let at = 0; at < FADE_SAMPLES; at++) {
      this.frame[at] = Math.round(((this.frame[at] ?? 0) * at) / FADE_SAMPLES);
    }
  }

  private passUnitEnds(): void {
    for (let head = this.queue[0]; head && 'end' in head; head = this.queue[0]) {
      this.queue.shift();
      const playEndMs = Math.max(this.playEndMs, this.now());
      this.sent.unitEnd(head.unitId, playEndMs);
      this.sink.onUnitSent(head.unitId, playEndMs);
    }
  }

  private isSpeechDue(): boolean {
    return !this.held && this.hasFrame();
  }

  /** A whole frame is there, or the rest of a finished unit. */
  private hasFrame(): boolean {
    let samples = 0;
    for (const entry of this.queue) {
      if ('end' in entry) return samples > 0;
      samples += entry.samples.length - entry.offset;
      if (samples >= FRAME_SAMPLES) return true;
    }
    return false;
  }
}
