import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../src/contracts/limits.ts';
import { monotonicMs } from '../src/platform/clock.ts';

/**
 * The floor of a room call on this machine: a process that joins a room and does nothing but publish a tone, a frame of
 * 20 ms on each deadline. What a slot costs beyond this is the product's own.
 *
 *   bare-room URL TOKEN
 */
const [, , url = '', token = ''] = process.argv;
/** A whole number of periods in a frame, as loud as the voice of the bench bot. */
const TONE_HZ = 500;
const AMPLITUDE = 735;
const QUEUE_MS = 200;

const tone = Int16Array.from({ length: FRAME_SAMPLES }, (_, index) =>
  Math.round(AMPLITUDE * Math.sin((2 * Math.PI * TONE_HZ * index) / LINE_RATE_HZ)),
);
// The SDK writes lines of its own to the standard output unless it believes itself in production.
process.env.NODE_ENV = 'production';
const { AudioFrame, AudioSource, LocalAudioTrack, Room, TrackPublishOptions, TrackSource } = await import(
  '@livekit/rtc-node'
);
const room = new Room();
await room.connect(url, token, { autoSubscribe: false, dynacast: false });
const source = new AudioSource(LINE_RATE_HZ, 1, QUEUE_MS);
const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
await room.localParticipant?.publishTrack(LocalAudioTrack.createAudioTrack('bot', source), options);
process.send?.('published');

let dueMs = monotonicMs();
function tick(): void {
  source
    .captureFrame(new AudioFrame(tone.slice(), LINE_RATE_HZ, 1, FRAME_SAMPLES))
    .catch(() => process.exit(0));
  dueMs += FRAME_MS;
  setTimeout(tick, Math.max(0, dueMs - monotonicMs()));
}
tick();
room.on('disconnected', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
