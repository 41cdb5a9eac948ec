import type { DemoCaller } from '../../src/cli/demo/conversation.ts';
import type { SpokenClip } from '../../src/cli/dialler-client.ts';
import type { DiallerEvent, DiallerEventOf } from '../../src/cli/dialler-events.ts';
import { endOfSpeech, levelDbfs, VOICE_DBFS, VoiceTracker } from '../../src/cli/voice-tracker.ts';
import { LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { monotonicMs } from '../../src/platform/clock.ts';
import type { RtpEndpoint } from './rtp-endpoint.ts';
import type { SippPeer } from './sipp-peer.ts';

/** What arrives is looked at in pieces of a frame, this often. */
const LOOK_EVERY_MS = 20;
const PIECE_SAMPLES = LINE_RATE_HZ / 50;

/**
 * A person at a telephone for the demo: says recordings into the call, and notices when the bot speaks by its level
 * alone, since a telephone line carries nothing but sound.
 */
export class SipCaller implements DemoCaller {
  readonly startedAtMs = monotonicMs();
  readonly events: DiallerEvent[] = [];
  readonly arrivals: { atMs: number; samples: number }[] = [];
  isClosed = false;
  private readonly media: RtpEndpoint;
  private readonly voice = new VoiceTracker();
  private readonly onEvent: (event: DiallerEvent) => void;
  private readonly timer: NodeJS.Timeout;
  private looked = 0;

  constructor(media: RtpEndpoint, peer: SippPeer, onEvent: (event: DiallerEvent) => void) {
    this.media = media;
    this.onEvent = onEvent;
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    void peer.finished.then(({ exitCode }) => this.end(exitCode));
  }

  async say(samples: Int16Array, name = 'clip'): Promise<SpokenClip> {
    const startedAtMs = monotonicMs();
    const voiceEndedAtMs = startedAtMs + (endOfSpeech(samples) * 1000) / LINE_RATE_HZ;
    this.note({ type: 'caller_started', atMs: startedAtMs, clip: name });
    await this.media.play(samples);
    const endedAtMs = monotonicMs();
    this.note({ type: 'caller_stopped', atMs: endedAtMs, clip: name, voiceEndedAtMs });
    return { startedAtMs, endedAtMs, voiceEndedAtMs, complete: !this.isClosed };
  }

  async until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    const endAtMs = monotonicMs() + timeoutMs;
    while (!holds()) {
      if (this.isClosed || monotonicMs() >= endAtMs) return holds();
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    return true;
  }

  async answerAfter(
    sinceMs: number,
    quietMs = 700,
    timeoutMs = 60_000,
  ): Promise<DiallerEventOf<'bot_started'> | null> {
    const started = await this.event('bot_started', timeoutMs, sinceMs);
    if (!started) return null;
    await this.until(
      () => !this.voice.speaking && monotonicMs() - this.voice.lastVoiceAtMs >= quietMs,
      timeoutMs * 3,
    );
    return started;
  }

  async event<T extends DiallerEvent['type']>(
    type: T,
    timeoutMs: number,
    sinceMs = 0,
  ): Promise<DiallerEventOf<T> | null> {
    const find = () =>
      this.events.find((event): event is DiallerEventOf<T> => event.type === type && event.atMs >= sinceMs);
    await this.until(() => find() !== undefined, timeoutMs);
    return find() ?? null;
  }

  /** What came since the last look. The telephone network has no jitter buffer of ours: it is heard as it comes. */
  private look(): void {
    const heard = this.media.heard();
    const atMs = monotonicMs();
    while (this.looked + PIECE_SAMPLES <= heard.length) {
      const piece = heard.subarray(this.looked, this.looked + PIECE_SAMPLES);
      this.looked += PIECE_SAMPLES;
      // Packets of silence come all the time; only what is heard counts as the bot's.
      if (levelDbfs(piece) >= VOICE_DBFS) this.arrivals.push({ atMs, samples: piece.length });
      const change = this.voice.take(piece, atMs);
      if (change?.change === 'started') this.note({ type: 'bot_started', atMs, arrivedAtMs: atMs });
      else if (change) this.note({ type: 'bot_stopped', atMs: change.atMs });
    }
  }

  private end(exitCode: number | null): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.timer);
    this.note({ type: 'closed', atMs: monotonicMs(), code: exitCode ?? -1, reason: 'the call is over' });
  }

  private note(event: DiallerEvent): void {
    this.events.push(event);
    this.onEvent(event);
  }
}
