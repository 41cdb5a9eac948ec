import t from 'tap';
import { post } from '../harness/room-orders.ts';
import { SipHarness, TRUNK_NUMBER, wireOf } from '../harness/sip-harness.ts';
import { describeFound, findAudio } from '../stack/correlate.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import { uniqueNumber, uniqueRoom } from '../stack/use-stack.ts';

t.setTimeout(280_000);
const harness = await SipHarness.start(t, { slots: 2 });
const { plane } = harness;

t.test('R21 a dialler reserves, dials, and gives the answered call to a bot, which is heard', async (t) => {
  harness.serve(harness.bot());
  const before = plane.results.length;
  const port = harness.appliance.fleetPort;
  const kept = await post(port, '/reservations', { campaign_id: 'cmp_1' }, {});
  const room = uniqueRoom(t, harness.stack, 'campaign');
  const media = await openRtpEndpoint(t);
  const peer = await startSipp(t, 'uas-answer', { media, hangUpAfterMs: 10_000 });
  await harness.pointTrunkAt(peer);
  const to = uniqueNumber();
  const dialled = await harness.media.dial({
    trunkId: harness.trunk,
    toNumber: to,
    fromNumber: TRUNK_NUMBER,
    roomName: room,
    identity: 'customer-1',
    ringingTimeoutS: 30,
    maxCallS: 120,
  });
  t.equal(dialled.kind, 'ok', 'the dialler’s part: somebody has answered');
  const answeredAt = new Date().toISOString();
  const attached = await post(
    port,
    '/attach',
    {
      room_name: room,
      bot_id: 'scripted',
      session_id: `session-${room}`,
      to_number: to,
      from_number: TRUNK_NUMBER,
      customer_identity: 'customer-1',
      campaign_id: 'cmp_1',
      campaign_call_id: 'cc_1',
      attempt: 1,
      answered_at: answeredAt,
      screening: { result: 'human', confidence: 0.97 },
      lease_id: kept.json.reservation_id,
    },
    {},
  );
  t.match(attached, { status: 200, json: { status: 'accepted', room_name: room } });
  await harness.appliance.until((health) => health.fleet_reserved === 0 && health.fleet_busy === 1);
  const result = await harness.nextResult(before);
  t.equal((await peer.finished).exitCode, 0, `the dialog went as written\n${wireOf(peer)}`);
  t.match(JSON.parse(plane.requests.at(-1)?.query.get('connected_event') ?? '{}'), {
    _campaign_session_id: `session-${room}`,
    _campaign_id: 'cmp_1',
    _campaign_call_id: 'cc_1',
    _campaign_attempt: 1,
    screening_result: 'human',
    to_number: to,
  });
  t.match(result, {
    disconnected_by: 'customer',
    call_direction: 'outbound',
    transport: 'rtc_sip',
    caller_id: to,
    from_number: TRUNK_NUMBER,
    room_name: room,
    call_id: attached.json.call_id,
  });
  const heard = findAudio(harness.recording(result).bot, media.heard());
  t.comment(`the bot at the telephone: ${describeFound(heard)}`);
  t.ok(heard.share >= 0.6, 'the customer hears the bot');
  await harness.untilClear(room, 2);
});
