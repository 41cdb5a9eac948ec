import type { CallResults } from '../../src/contracts/call-results.ts';
import { PARTNER_PATH, SOCKET_PATH } from '../../src/contracts/http-names.ts';
import { WIDGET_PATH } from '../../src/contracts/room-requests.ts';
import { widgetRoomName } from '../../src/contracts/rooms.ts';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import type { FoundAudio } from '../stack/correlate.ts';
import type { Stack } from '../stack/start-stack.ts';
import { uniqueNumber } from '../stack/use-stack.ts';
import { AgentDesk, type DeskCall } from './agent-desk.ts';
import { humanSpeech } from './human-speech.ts';
import { placeWhenFree } from './place-call.ts';
import { joinAsGuest, type RoomGuest } from './room-guest.ts';
import { SipHarness, type TapTest } from './sip-harness.ts';
import { until } from './wait.ts';

/** What the caller says, as the scripted ears of the bot understand it. */
export const ASK = 'a person please';
export const ANNOUNCEMENT = 'I am getting somebody for you.';
/** A recording of a human voice, 8 kHz; each utterance of it is one turn. */
export const question = humanSpeech('goforward.raw');

/** An appliance with a bot that hands callers over, and the desk that they are handed to. */
export class HandoffHarness {
  readonly harness: SipHarness;
  readonly desk: AgentDesk;
  /** By the number, or identity, of the caller. */
  private readonly bots = new Map<string, Record<string, unknown>>();

  private constructor(harness: SipHarness, desk: AgentDesk) {
    this.harness = harness;
    this.desk = desk;
    harness.plane.config = ({ query }) => {
      return { status: 200, body: this.bots.get(query.get('caller_id') ?? '') ?? this.bot() };
    };
  }

  static async start(t: TapTest, options: { slots?: number; stack?: Stack } = {}): Promise<HandoffHarness> {
    const harness = await SipHarness.start(t, options);
    const desk = await AgentDesk.start();
    t.teardown(() => desk.goAway());
    return new HandoffHarness(harness, desk);
  }

  /** A bot that hands over whoever asks for a person. */
  bot(change: Record<string, unknown> = {}): Record<string, unknown> {
    return this.harness.plane.scriptedBot({
      opening_message: 'Hello.',
      webhook_url: this.desk.resultsUrl,
      stt: { provider: 'scripted', script: [ASK, 'hello again'] },
      llm: {
        provider: 'scripted',
        rules: [
          {
            intent: 'person',
            pattern: 'person',
            reply: 'Of course.',
            tool: {
              name: 'transfer_to_agent',
              args: { reason: 'wants a person' },
              reply: 'Nobody is there.',
            },
          },
        ],
        fallback: { reply: 'I am still here.' },
      },
      tts: { provider: 'scripted', ms_per_char: 20 },
      tools: [{ name: 'transfer_to_agent', description: 'To a person.', parameters: { type: 'object' } }],
      agent_desk_enabled: true,
      agent_desk_context: { customer: 'Asha' },
      pre_transfer_message: ANNOUNCEMENT,
      crm_context: { CUSTOMERNAME: 'Asha Rao' },
      ...change,
    });
  }

  /** A caller on a socket who has asked for a person; `number` is theirs alone. */
  async askOnSocket(change: Record<string, unknown> = {}, dialect: 'telephony' | 'partner' = 'telephony') {
    const number = uniqueNumber();
    this.bots.set(number, this.bot(change));
    const url = `${this.harness.appliance.callUrl}scripted`;
    const call = await placeWhenFree({
      url: dialect === 'partner' ? url.replace(SOCKET_PATH, PARTNER_PATH) : url,
      dialect,
      connected: { caller_id: number },
    });
    await call.answerAfter(0);
    await call.say(question);
    return { call, number };
  }

  /** A visitor of a website in a room with the bot, who has asked for a person. Hears whom `hears` names, or all. */
  async askInRoom(
    t: TapTest,
    change: Record<string, unknown> = {},
    hears?: (identity: string) => boolean,
  ): Promise<{ guest: RoomGuest; room: string }> {
    const { stack, appliance } = this.harness;
    const room = widgetRoomName('scripted', crypto.randomUUID());
    const identity = `widget-user-${crypto.randomUUID().slice(0, 8)}`;
    this.bots.set(identity, this.bot(change));
    const answer = await fetch(`http://127.0.0.1:${appliance.fleetPort}${WIDGET_PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ bot_id: 'scripted', room_name: room, participant_identity: identity }),
    });
    if (answer.status !== 200) throw new Error(`widget: ${answer.status} ${await answer.text()}`);
    const guest = await joinAsGuest(t, stack, room, identity, hears ? { hears } : {});
    const bot = () => [...guest.room.remoteParticipants.keys()].find((name) => name.startsWith('bot-')) ?? '';
    await until(() => guest.frames(bot()).length > 100, 'the bot is heard');
    await guest.play(wide(question));
    return { guest, room };
  }

  /** The call at the desk whose caller has this number, or this identity. */
  async queued(caller: string): Promise<{ callId: string; queued: DeskCall }> {
    const find = () =>
      [...this.desk.calls.values()].find(({ enqueue }) =>
        [enqueue.caller.number, enqueue.caller.identity].includes(caller),
      );
    await this.desk.until(`the enqueue of ${caller}`, () => find() !== undefined);
    const queued = find() as DeskCall;
    return { callId: queued.enqueue.call_id, queued };
  }

  /** Waits for the result of this call, in the queue of all results that came to the desk's control plane. */
  async resultOf(room: string): Promise<CallResults> {
    const find = () => this.desk.results.find((result) => roomOf(result) === room);
    await this.desk.until(`the result of ${room}`, () => find() !== undefined);
    return find() as CallResults;
  }

  /** A person of the desk; what is left of the room at the end of the test goes with it. */
  agent(t: TapTest, room: string, name = 'u1'): Promise<RoomGuest> {
    // A test that kills the media server leaves nothing to delete.
    t.teardown(() => this.harness.media.deleteRoom(room).catch(() => undefined));
    return joinAsGuest(t, this.harness.stack, room, `agent-${name}-0a1b2c3d`);
  }
}

function roomOf({ end_detail: detail }: CallResults): unknown {
  return (detail?.handoff as { room?: string } | undefined)?.room;
}

/**
 * Whether the known audio is there. Its blocks are what counts: a jitter buffer that adds or takes a little between two
 * of them lowers the correlation of the whole and is heard by nobody.
 */
export function isThere({ share, correlation }: FoundAudio): boolean {
  return share >= 0.75 && correlation > 0.3;
}

/** 8 kHz to 16 kHz. */
export function wide(samples: Int16Array): Int16Array {
  const resampler = new (audioKernels().Resampler)(8_000, 16_000);
  const [body, tail] = [resampler.process(samples), resampler.flush()];
  const all = new Int16Array(body.length + tail.length);
  all.set(body);
  all.set(tail, body.length);
  return all;
}

export function rms(samples: Int16Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return Math.sqrt(energy / Math.max(1, samples.length));
}
