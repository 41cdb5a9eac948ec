import t from 'tap';
import { createLogger } from '../../src/platform/logger.ts';
import { MediaServer } from '../../src/platform/media-server.ts';
import { unloadRtc } from '../../src/slot/room/load-rtc.ts';
import { PreAnswerWatch } from '../../src/slot/room/pre-answer-watch.ts';
import { dialCustomer } from '../../src/slot/room/ringing.ts';
import { joinRoom } from '../../src/slot/room/room-link.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { eventOf, SipHarness, SPOKEN, type TapTest, wireOf } from '../harness/sip-harness.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { outboundTrunkTo } from '../stack/sip-routes.ts';
import { type SippPeer, type SippScenario, startSipp } from '../stack/sipp-peer.ts';
import type { Stack } from '../stack/start-stack.ts';
import { ownStack, uniqueNumber, uniqueRoom } from '../stack/use-stack.ts';

t.setTimeout(280_000);
// Rooms are joined in this process too.
t.teardown(unloadRtc);
const harness = await SipHarness.start(t, { slots: 3 });
const { plane } = harness;

/** A telephone that is answered and never sends a packet: its call runs beside the others, in real time. */
const silent = await answered(t, 'uas-no-rtp', 'no media');
const silentResult = harness.resultOf(silent.session);
silentResult.catch(() => undefined);

/** Dials a peer of this kind; resolves when it has picked up. */
async function answered(t: TapTest, scenario: SippScenario, media: 'media' | 'no media', change = {}) {
  const session = harness.serve(harness.bot(change));
  const endpoint = media === 'media' ? await openRtpEndpoint(t) : null;
  const peer = await startSipp(t, scenario, endpoint ? { media: endpoint } : {});
  await harness.pointTrunkAt(peer);
  const { call_id: callId, room_name: room } = await harness.dialout({ to_number: uniqueNumber() });
  await peer.until((message) => message.method === 'ACK', 60_000);
  return { session, peer, endpoint, callId, room };
}

const byesOf = (peer: SippPeer) =>
  peer.messages.filter((message) => message.method === 'BYE' && message.direction === 'received').length;

t.test('RT-25 both hang up at once and the BYE is answered late: one end, verified', async (t) => {
  const bot = {
    opening_message: 'Hello.',
    llm: {
      provider: 'scripted',
      rules: [
        {
          intent: 'end',
          pattern: 'forward',
          reply: 'Goodbye then.',
          tool: { name: 'end_call', args: { reason: 'done' } },
        },
      ],
      fallback: { reply: 'I see.' },
    },
    tools: [{ type: 'built_in', name: 'end_call', description: 'End.', parameters: { type: 'object' } }],
  };
  const { session, peer, endpoint, room } = await answered(t, 'uas-late-bye', 'media', bot);
  if (!endpoint) throw new Error('the test has no audio');
  await harness.botFinished(session, endpoint);
  await endpoint.play(humanSpeech('goforward.raw'));
  const result = await harness.resultOf(session);
  t.match(result, { disconnected_by: 'bot', end_detail: { cause: 'end_call' } });
  t.match(eventOf(result, 'hung_up'), { status: 'gone' });
  t.equal((await peer.finished).exitCode, 0, wireOf(peer));
  await harness.untilRoomGone(room);
});

t.test(
  'R11 RT-94 decisions 8: a slot that is killed in a call: leg hung up, room closed, one result with what there was',
  async (t) => {
    const { session, peer, endpoint, callId, room } = await answered(t, 'uas-answer', 'media');
    if (!endpoint) throw new Error('the test has no audio');
    await harness.botFinished(session, endpoint);
    await endpoint.play(humanSpeech('goforward.raw'));
    await harness.botFinished(session, endpoint, endpoint.heard().length / 8);
    const health = await harness.appliance.health();
    const worker = health?.workers?.find((entry) => entry.call_id === callId);
    if (!worker?.pid) throw new Error('no slot has the call');
    process.kill(worker.pid, 'SIGKILL');
    const killedAtMs = performance.now();
    const bye = await peer.until((message) => message.method === 'BYE', 60_000);
    t.comment(`BYE ${(bye.atMs - killedAtMs).toFixed(0)} ms after the kill`);
    const result = await harness.resultOf(session);
    t.match(result, {
      disconnected_by: 'error',
      transport: 'rtc_sip',
      room_name: room,
      call_id: callId,
      answered_at: String,
      end_detail: { salvaged: true, cause: 'slot_died' },
    });
    t.ok(
      result.transcript.some(({ text }) => text === SPOKEN),
      'the transcript so far',
    );
    const sides = harness.recording(result);
    t.ok(sides.caller.length > 8_000 * 3, `the recording is repaired: ${sides.caller.length / 8_000} s`);
    t.equal((await peer.finished).exitCode, 0, wireOf(peer));
    await harness.untilRoomGone(room);
    t.equal(plane.results.filter((entry) => entry.session_id === session).length, 1, 'one result');
  },
);

t.test('RT-62 a slot that is killed while it rings: CANCEL, and an error', async (t) => {
  const session = harness.serve(harness.bot());
  const peer = await startSipp(t, 'uas-ring-forever');
  await harness.pointTrunkAt(peer);
  const { call_id: callId, room_name: room } = await harness.dialout({ to_number: uniqueNumber() });
  await peer.until((message) => message.status === 180);
  const worker = (await harness.appliance.health())?.workers?.find((entry) => entry.call_id === callId);
  if (!worker?.pid) throw new Error('no slot has the call');
  process.kill(worker.pid, 'SIGKILL');
  await peer.until((message) => message.method === 'CANCEL', 60_000);
  t.match(await harness.resultOf(session), { disconnected_by: 'error', answered_at: null });
  await harness.untilRoomGone(room);
});

t.test(
  'RT-62 a call that cannot be dialled says what to look at, and rings for no longer than it may',
  async (t) => {
    const { stack } = harness;
    const dial = dialler(t, stack);
    t.match(await dial('ST_nothing', 5_000), {
      kind: 'over',
      signal: { kind: 'not_dialled', reason: /no SIP answer.*check the outbound trunk/ },
    });
    const ringing = await startSipp(t, 'uas-ring-forever');
    t.match(await dial(await outboundTrunkTo(t, stack, ringing.address), 2_000), {
      kind: 'over',
      signal: { kind: 'ringing_timeout' },
    });
    await ringing.until((message) => message.method === 'CANCEL');
  },
);

t.test(
  'RT-03 RT-62 a telephone that never sends a packet is given up, and the customer is not blamed',
  async (t) => {
    const result = await silentResult;
    t.comment(`after ${result.call_duration_seconds} s: ${JSON.stringify(result.end_detail?.reason)}`);
    t.match(result, { disconnected_by: 'error', end_detail: { cause: /^line_/ } });
    t.equal(byesOf(silent.peer), 1, `the leg was hung up\n${wireOf(silent.peer)}`);
    await harness.untilClear(silent.room, 3);
  },
);

t.test(
  'RT-62 RT-94 the media server dies in a call and comes back: an honest result, and the next call works',
  async (t) => {
    const stack = await ownStack(t);
    const own = await SipHarness.start(t, { slots: 1, stack });
    const session = own.serve(own.bot());
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uas-answer', { media });
    await own.pointTrunkAt(peer);
    await own.dialout({ to_number: uniqueNumber() });
    await own.botFinished(session, media);
    await stack.killServer();
    const killedAtMs = performance.now();
    const result = await own.resultOf(session);
    t.comment(`result ${((performance.now() - killedAtMs) / 1000).toFixed(1)} s after the kill`);
    t.match(result, { disconnected_by: 'error' });
    t.ok(result.transcript.length > 0, 'with what there was');
    await stack.startServer();
    await own.appliance.until((health) => health.fleet_available === 1);
    const next = own.serve(own.bot({ opening_message: 'I am back.' }));
    const again = await startSipp(t, 'uas-answer', { hangUpAfterMs: 3_000 });
    await own.pointTrunkAt(again);
    await own.dialout({ to_number: uniqueNumber() });
    t.match(await own.resultOf(next), { disconnected_by: 'customer', transcript: [{ text: 'I am back.' }] });
    await stack.killSip();
    const away = own.serve(own.bot());
    await own.appliance.until((health) => health.fleet_available === 1);
    await own.dialout({ to_number: uniqueNumber() });
    t.match(await own.resultOf(away), {
      disconnected_by: 'error',
      answered_at: null,
      end_detail: { cause: 'not_dialled', reason: /SIP service/ },
    });
  },
);

/** Dials over a trunk from a room of its own, without an appliance. */
function dialler(t: TapTest, stack: Stack) {
  const access = { url: stack.url, apiKey: stack.apiKey, apiSecret: stack.apiSecret };
  const media = new MediaServer(access);
  return async (trunkId: string, ringLimitMs: number) => {
    const roomName = uniqueRoom(t, stack, 'dial');
    const preAnswerWatch = new PreAnswerWatch('sip-customer');
    const link = await joinRoom({
      access,
      roomName,
      identity: 'bot-test',
      name: 'Bot',
      handlers: preAnswerWatch.handlers,
      logger: createLogger({ level: 'fatal', role: 'test' }),
    });
    const order = { trunkId, toNumber: uniqueNumber(), fromNumber: '', roomName, customer: 'sip-customer' };
    const never = new Promise<never>(() => undefined);
    const answer = await dialCustomer({ preAnswerWatch, ordered: never }, media, order, ringLimitMs);
    await link.leave();
    return answer;
  };
}
