import t from 'tap';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { eventOf, SipHarness, SPOKEN, type TapTest, wireOf } from '../harness/sip-harness.ts';
import { openRtpEndpoint, type RtpEndpoint } from '../stack/rtp-endpoint.ts';
import { type SippPeer, type SippScenario, startSipp } from '../stack/sipp-peer.ts';
import { ownStack, uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);
const harness = await SipHarness.start(t, { slots: 3, stack: await ownStack(t) });
const speech = humanSpeech('goforward.raw');
const ANNOUNCED = 'I am putting you through now.';
const SORRY = 'That did not work, I am still here.';

/** A bot that passes on whoever says the phrase. */
function desk(destination: string): Record<string, unknown> {
  return harness.bot({
    opening_message: 'Hello.',
    stt: { provider: 'scripted', script: [SPOKEN, 'thank you'] },
    llm: {
      provider: 'scripted',
      rules: [
        {
          intent: 'person',
          pattern: 'forward',
          reply: 'Of course.',
          tool: {
            name: 'transfer_call',
            args: { target: 'desk', reason: 'wants a person' },
            reply: SORRY,
          },
        },
      ],
      fallback: { reply: 'I see.' },
    },
    tools: [
      {
        type: 'built_in',
        name: 'transfer_call',
        description: 'Transfer.',
        parameters: { type: 'object' },
      },
    ],
    transfer_targets: [
      { name: 'desk', destination, headers: { 'X-Customer': '{{crm.id}}' }, message: ANNOUNCED },
    ],
    crm_context: { id: 'C7' },
  });
}

interface Transferred {
  result: CallResults;
  peer: SippPeer;
  media: RtpEndpoint;
  room: string;
}

/** A dialled call to a telephone that asks for a person; `live` goes on from the REFER. */
async function transferTo(
  t: TapTest,
  scenario: SippScenario,
  options: { hangUpAfterMs?: number; destination?: string },
  live: (media: RtpEndpoint, session: string) => Promise<unknown> = async () => undefined,
): Promise<Transferred> {
  const session = harness.serve(desk(options.destination ?? '+912240000001'));
  const media = await openRtpEndpoint(t);
  const { hangUpAfterMs } = options;
  const peer = await startSipp(t, scenario, { media, ...(hangUpAfterMs ? { hangUpAfterMs } : {}) });
  await harness.pointTrunkAt(peer);
  const { room_name: room } = await harness.dialout({ to_number: uniqueNumber() });
  await harness.botFinished(session, media);
  await media.play(speech);
  await peer.until((message) => message.method === 'REFER', 60_000);
  await live(media, session);
  return { result: await harness.resultOf(session), peer, media, room };
}

const byes = (peer: SippPeer) => peer.messages.filter((message) => message.method === 'BYE').length;
const said = (result: CallResults) =>
  result.transcript.filter(({ speaker }) => speaker === 'bot').map(({ text }) => text);

t.test('R114 R115 R116 R170 RT-34 a REFER that is accepted and comes through is sent, once', async (t) => {
  const { result, peer, room } = await transferTo(t, 'uas-refer-accept', {});
  t.equal((await peer.finished).exitCode, 0, wireOf(peer));
  const refer = peer.messages.find((message) => message.method === 'REFER');
  t.match(refer?.headers['refer-to']?.[0], 'tel:+912240000001', 'to where the bot says');
  t.same(refer?.headers['x-customer'], ['C7'], 'with its headers');
  const last = peer.messages.findLast((message) => message.method === 'NOTIFY');
  t.match(last?.body, /^SIP\/2.0 200/);
  t.match(result, {
    disconnected_by: 'bot',
    was_transferred: true,
    transfer_destination: '+912240000001',
    transfer_target: 'desk',
    transfer_reason: 'wants a person',
    transfer_method: 'livekit_sip_refer',
    transfer_failed_reason: null,
    end_detail: { cause: 'transferred' },
  });
  t.match(eventOf(result, 'transfer_sent'), {
    transfer_number: '+912240000001',
    transfer_headers: { 'X-Customer': 'C7' },
    transfer_method: 'livekit_sip_refer',
  });
  const waitedMs =
    ((eventOf(result, 'transfer_sent')?.ts ?? 0) - (eventOf(result, 'transfer_requested')?.ts ?? 0)) * 1000;
  t.ok(
    waitedMs >= 600,
    `not at the 202, but when the new line had answered, ${waitedMs.toFixed(0)} ms later`,
  );
  t.equal(byes(peer), 1, `hung up once, by one of the two\n${wireOf(peer)}`);
  await harness.untilClear(room, 3);
});

for (const [scenario, code, status] of [
  ['uas-refer-refuse', 603, 'Decline'],
  ['uas-refer-busy', 486, 'Busy Here'],
] as const) {
  t.test(
    `R114 R170 R172 RT-34 a REFER that ends in ${code} (${scenario}) fails, and the bot goes on`,
    async (t) => {
      const { result, peer, room } = await transferTo(
        t,
        scenario,
        { destination: 'sip:desk@192.0.2.9', hangUpAfterMs: 9_000 },
        (media, session) => harness.botFinished(session, media, media.heard().length / 8),
      );
      const refer = peer.messages.find((message) => message.method === 'REFER');
      t.match(refer?.headers['refer-to']?.[0], 'sip:desk@192.0.2.9', 'a SIP URI goes out as it is');
      t.match(result, {
        disconnected_by: 'customer',
        was_transferred: false,
        transfer_method: 'livekit_sip_refer',
        transfer_failed_reason: new RegExp(String(code)),
      });
      t.match(eventOf(result, 'transfer_failed'), { sip_code: code, sip_status: status }, 'R170');
      t.ok(said(result).includes(SORRY), `the customer is told: ${said(result).join(' / ')}`);
      t.equal(byes(peer), 1, `the customer hung up later\n${wireOf(peer)}`);
      await harness.untilClear(room, 3);
    },
  );
}

t.test('RT-34 a customer who hangs up while nobody answers the REFER was not passed on', async (t) => {
  const { result, peer, room } = await transferTo(t, 'uas-refer-silent', { hangUpAfterMs: 1_000 });
  t.match(result, {
    disconnected_by: 'customer',
    was_transferred: false,
    transfer_failed_reason: /hung up/,
  });
  t.notOk(eventOf(result, 'transfer_sent'));
  t.equal(byes(peer), 1, wireOf(peer));
  await harness.untilClear(room, 3);
});

t.test(
  'RT-34 a carrier that takes the REFER and ends the leg without a word has passed the customer on',
  async (t) => {
    const { result, peer, room } = await transferTo(t, 'uas-refer-taken', { hangUpAfterMs: 1_000 });
    t.match(result, { disconnected_by: 'bot', was_transferred: true, transfer_failed_reason: null });
    t.equal(byes(peer), 1, wireOf(peer));
    await harness.untilClear(room, 3);
  },
);

t.test('RT-34 an inbound caller is passed on in the same way', async (t) => {
  const { number, room } = await harness.openNumber(t);
  const session = harness.serve(desk('tel:+912240000002'));
  const before = harness.plane.results.length;
  const media = await openRtpEndpoint(t);
  const peer = await startSipp(t, 'uac-refer-accept', {
    media,
    to: harness.stack.sipAddress,
    fromUser: uniqueNumber(),
    toUser: number,
  });
  await harness.botFinished(session, media);
  await media.play(speech);
  const result = await harness.nextResult(before);
  t.equal((await peer.finished).exitCode, 0, wireOf(peer));
  t.match(result, {
    call_direction: 'inbound',
    disconnected_by: 'bot',
    was_transferred: true,
    transfer_destination: 'tel:+912240000002',
    transfer_method: 'livekit_sip_refer',
  });
  await harness.untilClear(room, 3);
});
