import type { Room } from '@livekit/rtc-node';
import { describeError } from '../../platform/app-error.ts';
import { sleepMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';

/** LiveKit's own limit of a reliable data message is 16 kB with its envelope; longer text is sent shortened. */
const MAX_MESSAGE_BYTES = 15_000;
/** Messages and keys that wait; what comes beyond is dropped and counted. */
const MAX_WAITING = 64;
/** The SIP service plays a key for a quarter of a second; keys that come closer together are still told apart by it. */
const KEY_GAP_MS = 300;
const KEYS = '0123456789*#ABCD';

/** What is said in a room beside audio: data messages and keys, each kind in order and bounded. */
export class RoomWords {
  private readonly room: () => Room;
  private readonly logger: Logger;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();
  private messages: Promise<void> = Promise.resolve();
  private keys: Promise<void> = Promise.resolve();
  private waiting = 0;
  /** Messages and keys that were not sent: too many waited, or the media server did not take them. */
  lost = 0;

  /** `room` is the connection of the moment. */
  constructor(room: () => Room, logger: Logger) {
    this.room = room;
    this.logger = logger;
  }

  /** Sends a reliable data message. */
  say(topic: string, text: string, to?: string[]): void {
    const bytes = this.encoder.encode(text);
    const data = bytes.length <= MAX_MESSAGE_BYTES ? bytes : wholeCharacters(bytes);
    this.messages = this.enqueue(this.messages, async () => {
      await this.room().localParticipant?.publishData(data, {
        reliable: true,
        topic,
        ...(to === undefined ? {} : { destination_identities: to }),
      });
    });
  }

  /** Presses keys in SIP legs; what is no key is passed over. */
  press(keys: string): void {
    for (const key of keys.toUpperCase()) {
      const code = KEYS.indexOf(key);
      if (code < 0) continue;
      this.keys = this.enqueue(this.keys, async () => {
        await this.room().localParticipant?.publishDtmf(code, key);
        await sleepMs(KEY_GAP_MS);
      });
    }
  }

  /** The text of a message from the room; null for one that is too long. */
  read(bytes: Uint8Array): string | null {
    return bytes.length > MAX_MESSAGE_BYTES ? null : this.decoder.decode(bytes);
  }

  private enqueue(behind: Promise<void>, send: () => Promise<void>): Promise<void> {
    if (this.waiting >= MAX_WAITING) {
      this.lost++;
      return behind;
    }
    this.waiting++;
    return behind.then(send).then(
      () => {
        this.waiting--;
      },
      (error: unknown) => {
        this.waiting--;
        this.lost++;
        this.logger.warn({ err: describeError(error) }, 'a message to the room was not sent');
      },
    );
  }
}

/** The beginning of a text, not cut inside a character. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let end = MAX_MESSAGE_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
