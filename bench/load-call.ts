import WebSocket from 'ws';
import { FRAME_MS, FRAME_SAMPLES, MAX_MESSAGE_BYTES } from '../src/contracts/limits.ts';
import type { Framing, SlotMessage } from '../src/contracts/wire.ts';
import { monotonicMs } from '../src/platform/clock.ts';
import type { FrameStamp } from '../src/providers/vendors/scripted/frame-stamp.ts';
import { BREAK_IN_MS, CLAUSE_FRAMES } from './bench-bot.ts';
import { type Clip, encodeFrame } from './caller-clips.ts';
import type { DeadlineLoop } from './deadline-loop.ts';
import { FrameLedger } from './frame-ledger.ts';
import { readStamp } from './read-stamp.ts';
import { SpurtLateness } from './spurt-lateness.ts';

/** Frames that the slot sends at once when a reply begins: 200 ms (RT-43). */
const LEAD_FRAMES = 10;
export const JITTER_BUFFER_MS = 60;
/** How long a caller waits after the bot has finished. */
const PAUSE_MS = { from: 300, to: 900 };
/** A caller whom nobody answers says the next thing. */
const UNANSWERED_MS = 5_000;
/** A barge-in that has brought no `clear` by now brings none. */
const MISSED_BARGE_IN_MS = 2_000;
const FRAME_BYTES = FRAME_SAMPLES * 2;
const MEDIA_HEAD = '{"event":"media"';

export interface LoadCallOptions {
  url: string;
  framing: Framing;
  clips: readonly Clip[];
  loop: DeadlineLoop;
  /** 0 to 1, as Math.random; seeded, so that two runs say the same things. */
  random: () => number;
  /** False for a caller who only listens. */
  speaks: boolean;
  onFirstAudio(): void;
}

/** Times of the set-up, from before the TCP connect. */
export interface SetUpTimes {
  upgradedMs: number | null;
  readyMs: number | null;
  firstAudioMs: number | null;
}

/**
 * One caller of a load run, as cheap as it can be: sends a frame every 20 ms, stamps what comes, and either answers
 * the bot or breaks into its longer speeches.
 */
export class LoadCall {
  readonly ledger = new FrameLedger(CLAUSE_FRAMES);
  readonly pacing = new SpurtLateness({ leadFrames: LEAD_FRAMES, bufferMs: JITTER_BUFFER_MS });
  readonly setUp: SetUpTimes = { upgradedMs: null, readyMs: null, firstAudioMs: null };
  readonly bargeInMs: number[] = [];
  readonly responseMs: number[] = [];
  missedBargeIns = 0;
  unanswered = 0;
  /** Set when the call ended before `hangUp`. */
  lost: string | null = null;
  recording = false;
  readonly closed: Promise<void>;
  private readonly options: LoadCallOptions;
  private readonly socket: WebSocket;
  private readonly silence: Buffer | string;
  private readonly marks: { name: string; dueMs: number }[] = [];
  private readonly startedAtMs = monotonicMs();
  private stopLine: () => void = () => undefined;
  private hangingUp = false;
  private clip: Clip | null = null;
  private clipFrame = 0;
  private clipStartedMs = 0;
  private breaksIn = false;
  /** Since when an answer is owed; null while none is. */
  private askedAtMs: number | null = null;
  private replyStartMs = Number.NEGATIVE_INFINITY;
  private nextSpeechMs = 0;
  private breakInAfterMs = 0;

  constructor(options: LoadCallOptions) {
    this.options = options;
    this.silence = encodeFrame(new Int16Array(FRAME_SAMPLES), options.framing);
    this.socket = new WebSocket(options.url, { perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
    this.socket.on('upgrade', () => {
      this.setUp.upgradedMs = monotonicMs() - this.startedAtMs;
    });
    this.socket.on('open', () => {
      const media = { encoding: 'linear16', sample_rate: 8000, framing: options.framing };
      this.socket.send(JSON.stringify({ event: 'connected', media, caller_id: 'bench' }));
    });
    this.socket.on('message', (data, isBinary) => this.onMessage(data as Buffer, isBinary));
    this.socket.on('error', (error) => {
      if (!this.hangingUp) this.lost ??= error.message;
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.stopLine();
        this.pacing.end();
        if (!this.hangingUp) this.lost ??= `closed with ${code} ${reason.toString('utf8')}`.trim();
        resolve();
      });
    });
    this.planNext(0);
  }

  hangUp(): void {
    this.hangingUp = true;
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ event: 'stop', reason: 'the bench is over' }));
    } else {
      this.socket.terminate();
    }
  }

  /** Gives up waiting for the far end's close. */
  drop(): void {
    this.socket.terminate();
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    const atMs = monotonicMs();
    if (isBinary) {
      this.onFrame(data, atMs);
      return;
    }
    const text = data.toString('latin1');
    if (text.startsWith(MEDIA_HEAD)) {
      const message = JSON.parse(text) as { media: { payload: string } };
      this.onFrame(Buffer.from(message.media.payload, 'base64'), atMs);
      return;
    }
    const message = JSON.parse(text) as SlotMessage;
    if (message.event === 'ready') {
      this.setUp.readyMs = atMs - this.startedAtMs;
      this.stopLine = this.options.loop.add(atMs, (nowMs) => this.tick(nowMs));
    } else if (message.event === 'mark') {
      this.marks.push({ name: message.mark.name, dueMs: this.pacing.playEndMs });
    } else if (message.event === 'clear') {
      this.onClear(atMs);
    } else if (message.event === 'hangup') {
      this.lost ??= `the bot hung up: ${message.reason}`;
    }
  }

  private onFrame(bytes: Buffer, atMs: number): void {
    const continues = this.ledger.take(bytes.length === FRAME_BYTES ? stampOf(bytes) : null, atMs);
    if (atMs > this.pacing.playEndMs && !continues) this.onReplyStart(atMs);
    this.pacing.take(atMs, continues);
  }

  private onReplyStart(atMs: number): void {
    this.replyStartMs = atMs;
    this.planNext(atMs);
    if (this.setUp.firstAudioMs === null) {
      this.setUp.firstAudioMs = atMs - this.startedAtMs;
      this.options.onFirstAudio();
    }
    if (this.askedAtMs !== null) {
      if (this.recording) this.responseMs.push(atMs - this.askedAtMs);
      this.askedAtMs = null;
    }
  }

  private onClear(atMs: number): void {
    this.ledger.clear(atMs, Math.max(0, Math.ceil((this.pacing.playEndMs - atMs) / FRAME_MS)));
    this.pacing.end();
    // This dialler forgets the marks of audio that it never plays.
    this.marks.length = 0;
    if (this.breaksIn && this.recording) this.bargeInMs.push(atMs - this.clipStartedMs);
    this.breaksIn = false;
  }

  private tick(nowMs: number): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(this.nextFrame(nowMs));
    for (let mark = this.marks[0]; mark && mark.dueMs <= nowMs; mark = this.marks[0]) {
      this.marks.shift();
      this.socket.send(JSON.stringify({ event: 'mark', mark: { name: mark.name } }));
    }
    if (this.breaksIn && nowMs - this.clipStartedMs > MISSED_BARGE_IN_MS) {
      this.breaksIn = false;
      if (this.recording) this.missedBargeIns++;
    }
    if (this.clip || !this.options.speaks || this.hangingUp) return;
    const botPlays = this.pacing.playEndMs > nowMs;
    if (botPlays) {
      this.nextSpeechMs = nowMs + this.between(PAUSE_MS);
      if (nowMs - this.replyStartMs > this.breakInAfterMs) this.speak(nowMs, true);
    } else if (this.askedAtMs !== null) {
      if (nowMs - this.askedAtMs < UNANSWERED_MS) return;
      if (this.recording) this.unanswered++;
      this.askedAtMs = null;
    } else if (nowMs >= this.nextSpeechMs && this.setUp.firstAudioMs !== null) {
      this.speak(nowMs, false);
    }
  }

  private nextFrame(nowMs: number): Buffer | string {
    const clip = this.clip;
    const frame = clip?.frames[this.clipFrame];
    if (!clip || frame === undefined) return this.silence;
    this.clipFrame++;
    if (this.clipFrame === clip.frames.length) {
      this.clip = null;
      // Where the bot already talks again, it took an earlier moment for the end, and nothing is owed.
      if (this.pacing.playEndMs <= nowMs) this.askedAtMs = nowMs + FRAME_MS;
    }
    return frame;
  }

  private speak(nowMs: number, breaksIn: boolean): void {
    const { clips } = this.options;
    this.clip = clips[Math.floor(this.options.random() * clips.length)] ?? null;
    this.clipFrame = 0;
    // Its first frame leaves with the next tick.
    this.clipStartedMs = nowMs + FRAME_MS;
    this.breaksIn = breaksIn;
    this.askedAtMs = null;
  }

  private planNext(nowMs: number): void {
    this.breakInAfterMs = this.between(BREAK_IN_MS);
    this.nextSpeechMs = nowMs + this.between(PAUSE_MS);
  }

  private between(range: { from: number; to: number }): number {
    return range.from + this.options.random() * (range.to - range.from);
  }
}

const stampSamples = new Int16Array(4);

/** The stamp of a frame, without copying the rest of it: samples are little-endian. */
function stampOf(bytes: Buffer): FrameStamp | null {
  for (let i = 0; i < stampSamples.length; i++) stampSamples[i] = bytes.readInt16LE(2 * i);
  return readStamp(stampSamples);
}
