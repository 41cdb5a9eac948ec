import type { AudioFrame, AudioSource, LocalAudioTrack, Room } from '@livekit/rtc-node';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import type { RtcSdk } from './load-rtc.ts';

/** What the native queue takes; the pacer stays far below it, so that handing over never waits. */
const QUEUE_MS = 1_000;
/** What waits for the SDK while one frame is being handed over; what comes beyond is a defect and is dropped. */
const MAX_WAITING_MS = 1_000;
const MAX_WAITING_SAMPLES = (MAX_WAITING_MS * LINE_RATE_HZ) / 1000;
/** How long an end waits for a frame that is being handed over. */
const CLOSE_BOUND_MS = 500;

/**
 * The bot's voice in a room. Audio lies in the SDK's native queue, which a thread of its own empties by 10 ms every
 * 10 ms: a busy loop of ours is not heard as long as something lies there, and `clear` drops all of it at once.
 *
 * One frame is handed over at a time, so that order does not rest on the SDK's threads; what comes meanwhile goes
 * together with the next one. All memory is taken once.
 */
export class BotAudio {
  private readonly source: AudioSource;
  private track: LocalAudioTrack | null = null;
  private readonly frame: AudioFrame;
  private readonly waiting = new Int16Array(MAX_WAITING_SAMPLES);
  private waitingSamples = 0;
  private playEndMs = Number.NEGATIVE_INFINITY;
  private handingOver: Promise<void> | null = null;
  private clearsAgain = false;
  private isClosed = false;
  /** Milliseconds that found no room to wait, and frames that the SDK refused. */
  readonly lost = { fullMs: 0, refused: 0 };

  constructor(rtc: RtcSdk) {
    this.source = new rtc.AudioSource(LINE_RATE_HZ, 1, QUEUE_MS);
    // The SDK passes the address of the whole buffer on, so the frame owns one, and only its length changes.
    this.frame = new rtc.AudioFrame(new Int16Array(MAX_WAITING_SAMPLES), LINE_RATE_HZ, 1, 0);
  }

  /**
   * Makes the voice a track of the room; again in another room in place of the former one, and what is queued goes on
   * there. Rejects where the media server does not take it.
   */
  async publish(rtc: RtcSdk, room: Room): Promise<void> {
    const { track: former } = this;
    const track = rtc.LocalAudioTrack.createAudioTrack('bot', this.source);
    this.track = track;
    await former?.close(false);
    const options = new rtc.TrackPublishOptions();
    options.source = rtc.TrackSource.SOURCE_MICROPHONE;
    const participant = room.localParticipant;
    if (!participant) throw new Error('the room is not joined');
    await participant.publishTrack(track, options);
  }

  /** Queues audio at 8 kHz; the memory is the caller's again when this returns. */
  send(samples: Int16Array): void {
    if (this.isClosed) return;
    const durationMs = (samples.length * 1000) / LINE_RATE_HZ;
    if (this.waitingSamples + samples.length > MAX_WAITING_SAMPLES) {
      this.lost.fullMs += durationMs;
      return;
    }
    this.waiting.set(samples, this.waitingSamples);
    this.waitingSamples += samples.length;
    this.playEndMs = Math.max(this.playEndMs, monotonicMs()) + durationMs;
    this.handingOver ??= this.handToSdk();
  }

  /** Drops everything that is not on its way to the listener yet. */
  clear(): void {
    this.waitingSamples = 0;
    this.playEndMs = Number.NEGATIVE_INFINITY;
    if (this.isClosed) return;
    // A frame that is being handed over may arrive in the queue after it was emptied.
    this.clearsAgain = this.handingOver !== null;
    this.source.clearQueue();
  }

  /** What was sent and has not left yet, by the clock. */
  get queuedMs(): number {
    return Math.max(0, this.playEndMs - monotonicMs());
  }

  /** Frees the native queue and track. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.clear();
    this.isClosed = true;
    if (this.handingOver) await within(this.handingOver, CLOSE_BOUND_MS, undefined);
    await this.track?.close(false);
    await this.source.close();
  }

  private async handToSdk(): Promise<void> {
    while (this.waitingSamples > 0 && !this.isClosed) {
      this.frame.data.set(this.waiting.subarray(0, this.waitingSamples));
      this.frame.samplesPerChannel = this.waitingSamples;
      this.waitingSamples = 0;
      try {
        await this.source.captureFrame(this.frame);
      } catch {
        this.lost.refused++;
      }
      if (this.clearsAgain && !this.isClosed) {
        this.clearsAgain = false;
        this.source.clearQueue();
      }
    }
    this.handingOver = null;
  }
}
