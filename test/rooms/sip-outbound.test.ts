import t from 'tap';
import { humanSpeech } from '../harness/human-speech.ts';
import {
  ANSWER,
  eventOf,
  OPENING,
  piecesIn,
  SipHarness,
  SPOKEN,
  TRUNK_NUMBER,
  wireOf,
} from '../harness/sip-harness.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import { uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);
const harness = await SipHarness.start(t, { slots: 2 });
const { plane } = harness;

t.test(
  'R20 RT-31 RT-62 a dialled call: rung, answered, spoken with in both directions, hung up by the customer',
  async (t) => {
    const session = harness.serve(harness.bot());
    const before = plane.results.length;
    const speech = humanSpeech('goforward.raw');
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uas-answer', { media, ringMs: 4_000, hangUpAfterMs: 20_000 });
    await harness.pointTrunkAt(peer);
    const to = uniqueNumber();
    const accepted = await harness.dialout({ to_number: to, connected_event: { order: 'A-17' } });
    const invite = await peer.until((message) => message.method === 'INVITE');
    t.match(invite.startLine, to.slice(1), 'the number is called');
    t.match(invite.headers.from?.[0], TRUNK_NUMBER, 'from the number of the trunk');
    // What a telephone sends before it is picked up is ringing, music or a carrier's voice: nobody is to hear it.
    await peer.until((message) => message.status === 180);
    await media.play(speech);
    t.notOk(
      peer.messages.some((message) => message.status === 200),
      'played while it rang',
    );
    await peer.until((message) => message.method === 'ACK');
    const answeredAtMs = performance.now();
    await media.until((endpoint) => endpoint.counts().received > 50);
    t.comment(
      `first packet of the bot ${((media.counts().firstAtMs ?? 0) - answeredAtMs).toFixed(0)} ms after ACK`,
    );
    // The opening takes three seconds; then it is the customer's turn.
    await harness.botFinished(session, media);
    await media.play(speech);
    const result = await harness.nextResult(before);
    const { exitCode } = await peer.finished;
    t.equal(exitCode, 0, `the dialog went as written\n${wireOf(peer)}`);

    t.match(result, {
      disconnected_by: 'customer',
      caller_id: to,
      from_number: TRUNK_NUMBER,
      to_number: to,
      call_direction: 'outbound',
      transport: 'rtc_sip',
      call_id: accepted.call_id,
      room_name: accepted.room_name,
      stream_id: accepted.call_id,
      trunk_id: harness.trunk,
      ringing_at: String,
      answered_at: String,
    });
    const ringMs = Number(eventOf(result, 'answered')?.ring_ms);
    t.ok(ringMs >= 4_000, `it rang for ${ringMs} ms`);
    const raw = result.raw_duration_seconds ?? 0;
    t.ok(
      Math.abs(raw - result.call_duration_seconds - ringMs / 1000) < 0.1,
      `RT-31 time counts from the answer: ${result.call_duration_seconds} s of ${raw} s`,
    );
    t.equal(
      result.billable_duration_seconds,
      Math.ceil(result.call_duration_seconds),
      'and so does the bill',
    );
    t.same(
      result.transcript.map(({ speaker, text }) => [speaker, text]),
      [
        ['bot', OPENING],
        ['customer', SPOKEN],
        ['bot', ANSWER],
      ],
      'what was said is understood, and nothing from before the answer',
    );
    const sides = harness.recording(result);
    const heard = piecesIn(sides.bot, media.heard());
    t.ok(heard.share > 0.5, `the bot at the far end: ${heard.text}`);
    const said = piecesIn(speech, sides.caller);
    t.ok(said.share > 0.5, `the customer in the recording: ${said.text}`);
    await harness.untilClear(accepted.room_name, 2);
  },
);

t.test('R101 R102 RT-62 what the far end answers is told as it is', async (t) => {
  for (const [scenario, code, status, disconnectedBy] of [
    ['uas-408', 408, 'Request Timeout', 'no_answer'],
    ['uas-480', 480, 'Temporarily Unavailable', 'no_answer'],
    ['uas-486', 486, 'Busy Here', 'rejected'],
    ['uas-603', 603, 'Decline', 'rejected'],
    ['uas-404', 404, 'Not Found', 'error'],
    ['uas-503', 503, 'Service Unavailable', 'error'],
  ] as const) {
    harness.serve(harness.bot());
    const before = plane.results.length;
    const peer = await startSipp(t, scenario);
    await harness.pointTrunkAt(peer);
    const { room_name: room } = await harness.dialout({ to_number: uniqueNumber() });
    const result = await harness.nextResult(before);
    t.match(
      result,
      {
        disconnected_by: disconnectedBy,
        call_duration_seconds: 0,
        billable_duration_seconds: 0,
        answered_at: null,
        recording_url: null,
        transcript: [],
        end_detail: { cause: 'not_answered', sip_code: code, sip_reason: status },
      },
      `${code} is ${disconnectedBy}`,
    );
    t.ok((result.raw_duration_seconds ?? 0) >= 0.3, 'the ringing is told');
    t.match(eventOf(result, 'not_answered'), { sip_code: code, sip_status: status }, 'R170');
    t.notOk(eventOf(result, 'call_started'), 'no conversation began');
    t.equal((await peer.finished).exitCode, 0, wireOf(peer));
    await harness.untilClear(room, 2);
  }
});

t.test(
  'RT-62 a call that is cancelled while it rings: CANCEL on the wire, and the result says so',
  async (t) => {
    harness.serve(harness.bot());
    const before = plane.results.length;
    const peer = await startSipp(t, 'uas-ring-forever');
    await harness.pointTrunkAt(peer);
    const call = await harness.dialout({ to_number: uniqueNumber() });
    await peer.until((message) => message.status === 180);
    t.equal(await harness.hangUp(call.call_id), 200);
    await peer.until((message) => message.method === 'CANCEL');
    t.match(await harness.nextResult(before), {
      disconnected_by: 'bot',
      answered_at: null,
      call_duration_seconds: 0,
      end_detail: { cause: 'operator' },
    });
    await harness.untilClear(call.room_name, 2);
    t.equal(await harness.hangUp(call.call_id), 200, 'a second time is no error');
  },
);

t.test('RT-25 the bot hangs up: one BYE, verified, and the line is quiet', async (t) => {
  const session = harness.serve(
    harness.bot({
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
    }),
  );
  const before = plane.results.length;
  const media = await openRtpEndpoint(t);
  const peer = await startSipp(t, 'uas-answer', { media });
  await harness.pointTrunkAt(peer);
  const { room_name: room } = await harness.dialout({ to_number: uniqueNumber() });
  await harness.botFinished(session, media);
  await media.play(humanSpeech('goforward.raw'));
  await peer.until((message) => message.method === 'BYE' && message.direction === 'received', 60_000);
  const result = await harness.nextResult(before);
  t.match(result, { disconnected_by: 'bot', end_detail: { cause: 'end_call' } });
  t.match(eventOf(result, 'hung_up'), { status: 'gone' }, 'it was looked whether the leg is gone');
  await peer.finished;
  t.equal(
    peer.messages.filter((message) => message.method === 'BYE').length,
    1,
    `hung up once\n${wireOf(peer)}`,
  );
  await harness.untilClear(room, 2);
});

t.test('R149 two dialouts with two config_urls run at once and report to two receivers', async (t) => {
  const { ForeignPlane } = await import('../harness/foreign-plane.ts');
  const [one, two] = [await ForeignPlane.start(), await ForeignPlane.start()];
  t.teardown(() => Promise.all([one.close(), two.close()]));
  for (const [name, other] of [
    ['one', one],
    ['two', two],
  ] as const) {
    other.config = () => ({ status: 200, body: other.scriptedBot({ opening_message: `I am ${name}.` }) });
  }
  const peer = await startSipp(t, 'uas-answer', { calls: 2, hangUpAfterMs: 4_000 });
  await harness.pointTrunkAt(peer);
  const before = plane.results.length;
  const numbers = [uniqueNumber(), uniqueNumber()] as const;
  const calls = await Promise.all(
    [one, two].map((other, i) =>
      harness.dialout({ to_number: numbers[i], config_url: `http://127.0.0.1:${other.port}/config` }),
    ),
  );
  const [first, second] = [(await one.until(1))[0], (await two.until(1))[0]];
  t.match(first, { caller_id: numbers[0], call_id: calls[0]?.call_id, transcript: [{ text: 'I am one.' }] });
  t.match(second, { caller_id: numbers[1], call_id: calls[1]?.call_id, transcript: [{ text: 'I am two.' }] });
  t.equal(one.results.length + two.results.length, 2);
  t.equal(plane.results.length, before, 'the host’s own control plane was told of neither');
  t.equal(one.requests[0]?.secret, undefined, 'and neither stranger got the core secret');
  for (const call of calls) await harness.untilClear(call.room_name, 2);
});
