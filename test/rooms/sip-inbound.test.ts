import t from 'tap';
import { humanSpeech } from '../harness/human-speech.ts';
import { ANSWER, eventOf, OPENING, piecesIn, SipHarness, SPOKEN, wireOf } from '../harness/sip-harness.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import { ownStack, uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);
const harness = await SipHarness.start(t, { slots: 2, stack: await ownStack(t) });
const { plane } = harness;
/** Which header of the INVITE becomes which attribute; the control plane's own trunks pass every X-header on like this. */
const HEADERS = { 'X-Account': 'sip.h.x-account', 'X-Tier': 'sip.h.x-tier' };

t.test(
  'R1 R89 RT-62 an inbound call is answered by the bot of the number, understood, and heard at the telephone',
  async (t) => {
    const { number, room } = await harness.openNumber(t, HEADERS);
    const session = harness.serve(harness.bot());
    const before = plane.results.length;
    const caller = uniqueNumber();
    const speech = humanSpeech('goforward.raw');
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uac-call', {
      media,
      to: harness.stack.sipAddress,
      fromUser: caller,
      toUser: number,
      headers: { 'X-Account': 'ACC-7', 'X-Tier': 'gold' },
      hangUpAfterMs: 20_000,
    });
    const answer = await peer.until((message) => message.status === 200 && message.cseqMethod === 'INVITE');
    const ring = peer.messages.find((message) => message.status === 180);
    t.comment(`answered ${(answer.atMs - (ring?.atMs ?? Number.NaN)).toFixed(0)} ms after the first ring`);
    await harness.botFinished(session, media);
    await media.play(speech);
    const result = await harness.nextResult(before);
    t.equal((await peer.finished).exitCode, 0, `the dialog went as written\n${wireOf(peer)}`);

    const asked = plane.requests.at(-1);
    t.equal(asked?.botId, 'scripted', 'the bot of the number');
    t.equal(asked?.query.get('caller_id'), caller);
    t.match(
      JSON.parse(asked?.query.get('connected_event') ?? '{}'),
      {
        call_direction: 'inbound',
        to_number: number,
        sip_candidate_headers: { 'x-account': 'ACC-7', 'x-tier': 'gold' },
      },
      'R89 the headers of the carrier go to the control plane, which filters them',
    );
    t.match(result, {
      disconnected_by: 'customer',
      call_direction: 'inbound',
      caller_id: caller,
      from_number: number,
      to_number: number,
      transport: 'rtc_sip',
      room_name: room,
      answered_at: String,
    });
    t.ok(eventOf(result, 'answered'));
    t.same(
      result.transcript.map(({ speaker, text }) => [speaker, text]),
      [
        ['bot', OPENING],
        ['customer', SPOKEN],
        ['bot', ANSWER],
      ],
      'what was said is understood',
    );
    const sides = harness.recording(result);
    const heard = piecesIn(sides.bot, media.heard());
    t.ok(heard.share > 0.5, `the bot at the telephone: ${heard.text}`);
    const said = piecesIn(speech, sides.caller);
    t.ok(said.share > 0.5, `the caller in the recording: ${said.text}`);
    await harness.untilClear(room, 2);
  },
);

t.test('RT-31 a caller who gives up while it rings: no answer, no conversation, a result', async (t) => {
  const { number, room } = await harness.openNumber(t);
  const body = harness.bot();
  plane.config = () => ({ status: 200, body, delayMs: 2_500 });
  const before = plane.results.length;
  const peer = await startSipp(t, 'uac-cancel', {
    to: harness.stack.sipAddress,
    fromUser: uniqueNumber(),
    toUser: number,
    cancelAfterMs: 1_500,
  });
  const result = await harness.nextResult(before);
  t.equal((await peer.finished).exitCode, 0, wireOf(peer));
  t.notOk(
    peer.messages.some((message) => message.status === 200 && message.cseqMethod === 'INVITE'),
    'it was never answered',
  );
  t.match(result, {
    disconnected_by: 'customer',
    answered_at: null,
    call_duration_seconds: 0,
    billable_duration_seconds: 0,
    transcript: [],
    recording_url: null,
    end_detail: { cause: 'left_before_answer' },
  });
  await harness.untilClear(room, 2);
});

t.test(
  'R150 decisions 17: a call that the control plane refuses is refused while it rings, and has no result',
  async (t) => {
    for (const [status, body] of [
      [404, { detail: 'no such bot' }],
      [503, { detail: 'outside_active_hours: closed on Sunday' }],
    ] as const) {
      const { number, room } = await harness.openNumber(t);
      plane.config = () => ({ status, body });
      const before = plane.results.length;
      const peer = await startSipp(t, 'uac-call', {
        to: harness.stack.sipAddress,
        fromUser: uniqueNumber(),
        toUser: number,
      });
      const answer = await peer.until((message) => (message.status ?? 0) >= 200);
      t.match(answer, { status: 486 }, `after ${status} the caller gets ${answer.startLine}`);
      await harness.untilClear(room, 2);
      t.equal(plane.results.length, before);
    }
  },
);

t.test('RT-25 a caller who hangs up at once leaves nothing behind', async (t) => {
  const { number, room } = await harness.openNumber(t);
  harness.serve(harness.bot());
  const before = plane.results.length;
  const peer = await startSipp(t, 'uac-call', {
    media: await openRtpEndpoint(t),
    to: harness.stack.sipAddress,
    fromUser: uniqueNumber(),
    toUser: number,
    hangUpAfterMs: 400,
  });
  const result = await harness.nextResult(before);
  t.match(result, { disconnected_by: 'customer', answered_at: String });
  t.ok(result.call_duration_seconds < 5);
  t.equal((await peer.finished).exitCode, 0, wireOf(peer));
  await harness.untilClear(room, 2);
});

t.test(
  'RT-85 RT-94 host and slot die in an inbound call: the next main closes the room, and the result is delivered',
  async (t) => {
    const { number, room } = await harness.openNumber(t);
    const session = harness.serve(harness.bot());
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uac-call', {
      media,
      to: harness.stack.sipAddress,
      fromUser: uniqueNumber(),
      toUser: number,
    });
    await harness.botFinished(session, media);
    const worker = (await harness.appliance.health())?.workers?.find((entry) => entry.room_name === room);
    if (!worker?.pid) throw new Error('no slot has the call');
    const mainGone = harness.appliance.signalMain('SIGKILL');
    process.kill(worker.pid, 'SIGKILL');
    await mainGone;
    await harness.appliance.launch();
    await peer.until((message) => message.method === 'BYE', 60_000);
    const result = await harness.resultOf(session);
    t.match(result, {
      disconnected_by: 'error',
      call_direction: 'inbound',
      room_name: room,
      transcript: [{ speaker: 'bot', text: OPENING }],
      end_detail: { salvaged: true },
    });
    t.equal((await peer.finished).exitCode, 0, wireOf(peer));
    await harness.untilClear(room, 2);
  },
);
