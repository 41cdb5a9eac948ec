import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { monotonicMs, sleepMs } from '../../src/platform/clock.ts';
import type { RoomHandlers } from '../../src/slot/room/room-handlers.ts';
import { joinRoom, type RoomLink } from '../../src/slot/room/room-link.ts';
import { RoomTransport, type RoomTransportOptions } from '../../src/slot/room/room-transport.ts';
import type { LineLoss, TransferResult, TransportHandlers } from '../../src/slot/transport/call-transport.ts';
import type { StackAddresses } from '../stack/start-stack.ts';
import type { Test } from '../stack/use-stack.ts';
import { joined, mediaServer, silentLogger } from './room-guest.ts';

/** What a transport told, as it came. */
export interface RoomLine {
  link: RoomLink;
  transport: RoomTransport;
  /** At 8 kHz and at 16 kHz, copied. */
  narrow: () => Int16Array;
  wide: () => Int16Array;
  marks: { name: string; atMs: number }[];
  keys: string[];
  stops: string[];
  losses: LineLoss[];
  transfers: TransferResult[];
  remarks: { event: string; detail: Record<string, unknown> }[];
  /** Sends speech at 8 kHz as the pacer does: 20 ms frames in one memory, `aheadMs` ahead of real time. */
  speak(speech: Int16Array, aheadMs?: number): Promise<void>;
}

export const deafHandlers: RoomHandlers = {
  onPerson: () => undefined,
  onDtmf: () => undefined,
  onData: () => undefined,
  onState: () => undefined,
  onUnheard: () => undefined,
  onGone: () => undefined,
};

/** Joins a room as a bot; left at the end of the test. */
export async function joinAsBot(
  t: Test,
  stack: StackAddresses,
  roomName: string,
  identity = 'bot-test',
  handlers: Partial<RoomHandlers> = {},
): Promise<RoomLink> {
  const link = await joinRoom({
    access: { url: stack.wsUrl, apiKey: stack.apiKey, apiSecret: stack.apiSecret },
    roomName,
    identity,
    name: 'Test bot',
    handlers: { ...deafHandlers, ...handlers },
    logger: silentLogger,
  });
  t.teardown(() => link.leave());
  return link;
}

/** The room as the line of a call with this customer, `ready`. */
export async function openRoomLine(
  t: Test,
  stack: StackAddresses,
  roomName: string,
  customer: string,
  options: Partial<RoomTransportOptions> = {},
): Promise<RoomLine> {
  const link = options.link ?? (await joinAsBot(t, stack, roomName));
  const narrow: Int16Array[] = [];
  const wide: Int16Array[] = [];
  const told = {
    marks: [] as RoomLine['marks'],
    keys: [] as string[],
    stops: [] as string[],
    losses: [] as LineLoss[],
    transfers: [] as TransferResult[],
    remarks: [] as RoomLine['remarks'],
  };
  const transport = new RoomTransport({
    link,
    customer,
    media: mediaServer(stack),
    roomName,
    isSip: false,
    remark: (event, detail) => told.remarks.push({ event, detail }),
    logger: silentLogger,
    ...options,
  });
  const handlers: TransportHandlers = {
    onAudio: (samples, wideSamples) => {
      narrow.push(samples.slice());
      if (wideSamples) wide.push(wideSamples.slice());
    },
    onMark: (name) => told.marks.push({ name, atMs: monotonicMs() }),
    onDtmf: (digit) => told.keys.push(digit),
    onTransferResult: (result) => told.transfers.push(result),
    onStop: (reason) => told.stops.push(reason),
    onGone: (loss) => told.losses.push(loss),
  };
  transport.attach(handlers);
  transport.ready('test-session');
  const frame = new Int16Array(FRAME_SAMPLES);
  return {
    ...told,
    link,
    transport,
    narrow: () => joined(narrow),
    wide: () => joined(wide),
    speak: async (speech, aheadMs = 200) => {
      const startMs = monotonicMs();
      for (let at = 0; at < speech.length; at += FRAME_SAMPLES) {
        const dueMs = startMs + (at * 1000) / LINE_RATE_HZ - aheadMs;
        if (dueMs > monotonicMs()) await sleepMs(dueMs - monotonicMs());
        frame.fill(0);
        frame.set(speech.subarray(at, at + FRAME_SAMPLES));
        transport.sendAudio(frame);
        // Whoever gave the frame may write into it again at once.
        frame.fill(0x55);
      }
    },
  };
}
