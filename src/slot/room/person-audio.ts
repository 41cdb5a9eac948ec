import type { ReadableStreamDefaultReader } from 'node:stream/web';
import type { AudioFrame, RemoteTrack, RemoteTrackPublication, Room } from '@livekit/rtc-node';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { WantedVoice } from './hearing-watch.ts';
import type { RtcSdk } from './load-rtc.ts';

/** The rate at which rooms are heard; the SDK converts, whatever the track has. */
export const ROOM_HEARING_HZ = 16_000;
const FRAME_MS = 20;
/** A track that was given back is asked for again after this, so that the media server takes it for two orders. */
const ASK_AGAIN_MS = 250;

/**
 * Hears the microphone of one person in a room, across new tracks of that person and reconnects of ours. Frames come
 * without a gap, silence included, from when the track is there until it is gone. Nobody else is subscribed to.
 */
export class PersonAudio implements WantedVoice {
  readonly identity: string;
  private readonly rtc: RtcSdk;
  private readonly room: () => Room;
  private readonly onFrame: (samples: Int16Array) => void;
  private readonly logger: Logger;
  /** Of the microphone that is wanted. */
  trackSid: string | undefined;
  private asking: NodeJS.Timeout | undefined;
  private reader: ReadableStreamDefaultReader<AudioFrame> | null = null;
  /** Frames that were heard so far. */
  frames = 0;

  /**
   * `room` is the connection of the moment. `onFrame` gets 20 ms at 16 kHz; each frame has memory of its own, which the
   * receiver may keep.
   */
  constructor(
    rtc: RtcSdk,
    room: () => Room,
    identity: string,
    onFrame: (samples: Int16Array) => void,
    logger: Logger,
  ) {
    this.rtc = rtc;
    this.room = room;
    this.identity = identity;
    this.onFrame = onFrame;
    this.logger = logger;
  }

  /** Asks for the person's microphone. Again after a reconnect: what was asked for during it is lost. */
  listen(): void {
    const person = this.room().remoteParticipants.get(this.identity);
    if (!person) return;
    for (const publication of person.trackPublications.values()) {
      this.published(publication as RemoteTrackPublication);
    }
  }

  /** The person has a track; the newest microphone is the one that is heard. */
  published(publication: RemoteTrackPublication): void {
    if (publication.kind !== this.rtc.TrackKind.KIND_AUDIO) return;
    if (publication.source === this.rtc.TrackSource.SOURCE_SCREENSHARE_AUDIO) return;
    // What is heard already goes on: after a short break the same track stands.
    if (publication.track && this.reader && publication.sid === this.trackSid) return;
    this.trackSid = publication.sid;
    if (publication.track) this.hear(publication.track);
    else publication.setSubscribed(true);
  }

  /** A track that was asked for is there. */
  subscribed(track: RemoteTrack, publication: RemoteTrackPublication): void {
    if (publication.sid === this.trackSid) this.hear(track);
  }

  /** A track is gone. */
  unsubscribed(publication: RemoteTrackPublication): void {
    if (publication.sid === this.trackSid) this.stopReading();
  }

  /** Gives the track back and asks for it once more. False where there is none, or it is muted. */
  askAnew(): boolean {
    const publication = this.publication();
    if (!publication || publication.muted) return false;
    publication.setSubscribed(false);
    clearTimeout(this.asking);
    this.asking = setTimeout(() => this.publication()?.setSubscribed(true), ASK_AGAIN_MS);
    return true;
  }

  /** The connection is another one from here on; `listen` begins anew there. */
  forget(): void {
    clearTimeout(this.asking);
    this.stopReading();
    this.trackSid = undefined;
  }

  /** Hears nothing from here on, and tells the media server to send nothing. */
  close(): void {
    const publication = this.publication();
    this.forget();
    publication?.setSubscribed(false);
  }

  /** What is wanted, while we are connected. */
  private publication(): RemoteTrackPublication | undefined {
    const room = this.room();
    if (this.trackSid === undefined || !room.isConnected) return undefined;
    const person = room.remoteParticipants.get(this.identity);
    return person?.trackPublications.get(this.trackSid) as RemoteTrackPublication | undefined;
  }

  private hear(track: RemoteTrack): void {
    this.stopReading();
    const stream = new this.rtc.AudioStream(track, {
      sampleRate: ROOM_HEARING_HZ,
      numChannels: 1,
      frameSizeMs: FRAME_MS,
    });
    const reader = stream.getReader() as ReadableStreamDefaultReader<AudioFrame>;
    this.reader = reader;
    void this.read(reader);
  }

  private async read(reader: ReadableStreamDefaultReader<AudioFrame>): Promise<void> {
    while (this.reader === reader) {
      const samples = await this.nextFrame(reader);
      if (samples === null) return;
      if (this.reader !== reader) return;
      this.frames++;
      this.onFrame(samples);
    }
  }

  private async nextFrame(reader: ReadableStreamDefaultReader<AudioFrame>): Promise<Int16Array | null> {
    try {
      const { done, value } = await reader.read();
      return done ? null : value.data;
    } catch (error) {
      this.logger.warn({ err: describeError(error) }, 'the audio of a person in the room broke off');
      return null;
    }
  }

  private stopReading(): void {
    const { reader } = this;
    this.reader = null;
    // Ends the native stream, too.
    reader?.cancel().catch(() => undefined);
  }
}
