import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SipClient } from 'livekit-server-sdk';
import type { CallEvent, CallEventName } from '../../src/contracts/call-events.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { DIALOUT_PATH } from '../../src/contracts/dialout.ts';
import { CALLS_PATH, DISPATCH_PATH } from '../../src/contracts/room-requests.ts';
import { SIP_ROOM_PREFIX } from '../../src/contracts/rooms.ts';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { MediaServer } from '../../src/platform/media-server.ts';
import { readWav } from '../../src/platform/wav.ts';
import { describeFound, findAudio } from '../stack/correlate.ts';
import type { RtpEndpoint } from '../stack/rtp-endpoint.ts';
import { inboundRouteTo, outboundTrunkTo } from '../stack/sip-routes.ts';
import type { SippPeer } from '../stack/sipp-peer.ts';
import type { Stack } from '../stack/start-stack.ts';
import { uniqueNumber, uniqueRoom, useStack } from '../stack/use-stack.ts';
import { Appliance } from './appliance.ts';
import { ForeignPlane } from './foreign-plane.ts';
import { soundIn } from './scripted-call.ts';
import { until } from './wait.ts';

export type TapTest = Parameters<typeof useStack>[0];

/** A caller says this in a recording of a human voice; the bot of the tests understands it. */
export const SPOKEN = 'go forward ten meters';
/** What the bot of the tests says first, and in answer. */
export const OPENING = 'Good morning, this is the test bot speaking.';
export const ANSWER = 'Very well, I am going forward by ten meters now.';

/** An appliance on a real media server, with one outbound trunk that is pointed at a peer for each test. */
export class SipHarness {
  readonly stack: Stack;
  readonly plane: ForeignPlane;
  readonly appliance: Appliance;
  readonly media: MediaServer;
  /** Of inbound calls, mapped to the bot `scripted`; each test takes one of its own. */
  private readonly numbers: string[];
  private readonly trunkId: string;
  private readonly sip: SipClient;

  private constructor(parts: {
    stack: Stack;
    plane: ForeignPlane;
    appliance: Appliance;
    numbers: string[];
    trunkId: string;
  }) {
    this.stack = parts.stack;
    this.plane = parts.plane;
    this.appliance = parts.appliance;
    this.numbers = parts.numbers;
    this.trunkId = parts.trunkId;
    const { url, apiKey, apiSecret } = parts.stack;
    this.media = new MediaServer({ url, apiKey, apiSecret });
    this.sip = new SipClient(url, apiKey, apiSecret);
  }

  /**
   * Without a `stack` it is on the shared one and takes no inbound calls: there, each appliance would hear of the
   * callers of all others.
   */
  static async start(t: TapTest, options: { slots?: number; stack?: Stack } = {}): Promise<SipHarness> {
    const stack = options.stack ?? (await useStack(t));
    const numbers = Array.from({ length: NUMBERS }, uniqueNumber);
    const trunkId = await outboundTrunkTo(t, stack, '127.0.0.1:9', [TRUNK_NUMBER]);
    const plane = await ForeignPlane.start();
    t.teardown(() => plane.close());
    const appliance = await Appliance.start({
      ...plane.env,
      SLOTS: String(options.slots ?? 2),
      LIVEKIT_URL: stack.wsUrl,
      LIVEKIT_API_KEY: stack.apiKey,
      LIVEKIT_API_SECRET: stack.apiSecret,
      SIP_OUTBOUND_TRUNK_ID: trunkId,
      SIP_DEFAULT_FROM: TRUNK_NUMBER,
      DID_MAP: numbers.map((number) => `${number}=scripted`).join(','),
    });
    t.teardown(() => appliance.destroy());
    if (options.stack) await stack.sendWebhooksTo(`http://127.0.0.1:${appliance.fleetPort}${DISPATCH_PATH}`);
    return new SipHarness({ stack, plane, appliance, numbers, trunkId });
  }

  /** A bot that hears by the local recogniser and speaks by the local voice. */
  bot(change: Record<string, unknown> = {}): Record<string, unknown> {
    return this.plane.scriptedBot({
      opening_message: OPENING,
      stt: { provider: 'pocketsphinx', phrases: [SPOKEN, 'stop there please', 'turn around'] },
      llm: {
        provider: 'scripted',
        rules: [{ intent: 'forward', pattern: 'forward', reply: ANSWER }],
        fallback: { reply: 'I see.' },
      },
      tts: { provider: 'espeak', language: 'en', voice: 'en-gb', speed: 165 },
      ...change,
    });
  }

  /** The next call gets this bot. Resolves to its session. */
  serve(bot: Record<string, unknown>): string {
    const body = { ...bot, session_id: crypto.randomUUID() };
    this.plane.config = () => ({ status: 200, body });
    return body.session_id;
  }

  /** The bot has said something, and then nothing for a while: it is the other side's turn. */
  async botFinished(session: string, media: RtpEndpoint, fromMs = 0): Promise<void> {
    const { level } = audioKernels();
    const told = () => this.plane.results.find((entry) => entry.session_id === session);
    await media.until((endpoint) => {
      const heard = endpoint.heard().subarray(fromMs * 8);
      const tail = heard.subarray(-QUIET_MS * 8);
      const isQuiet = heard.length > QUIET_MS * 8 && level(heard) > -50 && level(tail) < -55;
      return isQuiet || told() !== undefined;
    }, 60_000);
    const result = told();
    if (result) throw new Error(`the call has ended: ${JSON.stringify(result, null, 1).slice(0, 4_000)}`);
  }

  /** Where the outbound trunk leads from now on. */
  async pointTrunkAt(peer: Pick<SippPeer, 'address'>): Promise<void> {
    const [trunk] = await this.sip.listSipOutboundTrunk({ trunkIds: [this.trunkId] });
    if (!trunk) throw new Error('the outbound trunk of the test is gone');
    trunk.address = peer.address;
    await this.sip.updateSipOutboundTrunk(this.trunkId, trunk);
  }

  get trunk(): string {
    return this.trunkId;
  }

  async dialout(body: Record<string, unknown>): Promise<{ call_id: string; room_name: string }> {
    const answer = await this.post(DIALOUT_PATH, { bot_id: 'scripted', ...body });
    if (answer.status !== 200) throw new Error(`dialout: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { call_id: string; room_name: string };
  }

  async hangUp(callId: string): Promise<number> {
    return (await this.post(`${CALLS_PATH}${callId}/hangup`, {})).status;
  }

  /** Leads one of the numbers into a room of its own, as a dispatch rule does. */
  async openNumber(
    t: TapTest,
    headersToAttributes: Record<string, string> = {},
  ): Promise<{ number: string; room: string }> {
    const number = this.numbers.pop();
    if (number === undefined) throw new Error('the test has no number left');
    const room = uniqueRoom(t, this.stack, `${SIP_ROOM_PREFIX}test`);
    await inboundRouteTo(t, this.stack, { number, room, headersToAttributes });
    return { number, room };
  }

  /** Waits for the result after those of before. */
  async nextResult(before: number): Promise<CallResults> {
    return (await this.plane.until(before + 1))[before] as CallResults;
  }

  /** Waits for the result of a session. */
  resultOf(sessionId: string): Promise<CallResults> {
    return this.plane.resultOf(sessionId);
  }

  /** The two sides of a recording: what the caller said, and what the bot did. */
  recording(result: CallResults): { caller: Int16Array; bot: Int16Array } {
    const wav = readWav(
      readFileSync(join(this.appliance.dataDir, 'recordings', result.recording_key ?? 'missing')),
    );
    return {
      caller: wav.samples.filter((_, i) => i % 2 === 0),
      bot: wav.samples.filter((_, i) => i % 2 === 1),
    };
  }

  /** Waits until nothing of a call is left: its room on the media server, and its slot. */
  async untilClear(room: string, slots: number): Promise<void> {
    await this.untilRoomGone(room);
    await this.appliance.until((health) => health.fleet_available === slots);
  }

  async untilRoomGone(room: string): Promise<void> {
    await until(async () => (await this.media.listRooms([room])).length === 0, `the end of the room ${room}`);
  }

  private post(path: string, body: unknown): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.appliance.fleetPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
}

/**
 * How much of known audio is in a recording: pieces of half a second, each looked for by itself, since a machine under
 * load delivers late, and moves what it delivers.
 */
export function piecesIn(known: Int16Array, recording: Int16Array): { share: number; text: string } {
  const pieces = Array.from({ length: Math.floor(known.length / PIECE_SAMPLES) }, (_, i) =>
    known.subarray(i * PIECE_SAMPLES, (i + 1) * PIECE_SAMPLES),
  ).filter((piece) => audioKernels().level(piece) > -45);
  const found = pieces
    .map((piece) => findAudio(piece, recording))
    .filter(
      ({ correlation, levelDbfs, knownLevelDbfs }) => correlation > 0.6 && levelDbfs > knownLevelDbfs - 6,
    );
  const share = pieces.length > 0 ? found.length / pieces.length : 0;
  const whole = describeFound(findAudio(known, recording));
  return { share, text: `${found.length} of ${pieces.length} pieces as loud as sent; as a whole ${whole}` };
}

const PIECE_SAMPLES = 4_000;
const NUMBERS = 8;

/** Of the outbound trunk: what a callee sees. */
export const TRUNK_NUMBER = '+15550009999';

export function eventOf(result: CallResults, name: CallEventName): CallEvent | undefined {
  return result.events.find(({ event }) => event === name) as CallEvent | undefined;
}

/**
 * A recording for a softphone, which says it over and over: with a pause behind it that is long enough for a bot on a
 * busy machine to answer in.
 */
export function withPause(speech: Int16Array): Int16Array {
  const spoken = new Int16Array(speech.length + ANSWER_PAUSE_SAMPLES);
  spoken.set(speech);
  return spoken;
}

/** Waits until this track holds so many utterances. */
export async function untilHeard(track: () => Int16Array, utterances: number): Promise<void> {
  await until(() => soundIn(track(), UTTERANCE_PAUSE_MS).length >= utterances, `${utterances} utterances`);
}

/** What went over the wire, for a failing test's eyes. */
export function wireOf(peer: SippPeer): string {
  return peer.messages.map((message) => `${message.direction} ${message.startLine}`).join('\n');
}

const QUIET_MS = 1_200;
const ANSWER_PAUSE_SAMPLES = 6 * 8_000;
const UTTERANCE_PAUSE_MS = 1_000;
