import t from 'tap';
import { readRoomOwner } from '../../src/contracts/rooms.ts';
import { sleepMs } from '../../src/platform/clock.ts';
import { HandoffHarness, isThere, question, rms, wide } from '../harness/handoff-harness.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { eventOf } from '../harness/sip-harness.ts';
import { until } from '../harness/wait.ts';
import { describeFound, findAudio } from '../stack/correlate.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import { ownStack, uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);
// A stack of its own: the webhooks of a shared one tell of the callers of other tests, too.
const handoff = await HandoffHarness.start(t, { slots: 3, stack: await ownStack(t) });
const { harness, desk } = handoff;

// These two take the longest, and run side by side.
t.jobs = 2;

t.test(
  'R24 R104 RT-37 a telephone caller is left with the agent: the bot goes, the call stays',
  { buffered: true },
  async (t) => {
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uas-answer', { media, hangUpAfterMs: 32_000 });
    await harness.pointTrunkAt(peer);
    const number = uniqueNumber();
    const accepted = await harness.dialout({ to_number: number });
    await media.until((endpoint) => endpoint.counts().received > 100, 60_000);
    await sleepMs(1_500);
    await media.play(question);
    const { callId, queued } = await handoff.queued(number);
    const { room, caller } = queued.enqueue;
    t.equal(room, accepted.room_name, 'the agent is sent into the room of the call');
    const bot = `bot-${callId.slice(0, 8)}`;
    const waitingFrom = media.heard().length;
    await sleepMs(2_000);
    const held = rms(media.heard().slice(waitingFrom));
    t.ok(held > 100, `the caller hears something while they wait: RMS ${held.toFixed(0)}`);

    const agent = await handoff.agent(t, room);
    const isBotGone = () => !agent.room.remoteParticipants.has(bot);
    const isBotThere = !isBotGone();
    const result = await handoff.resultOf(room);
    t.ok(isBotThere, 'the bot was in the room when the agent came');
    t.match(result, { disconnected_by: 'transfer_to_agent', room_name: room });
    t.match(eventOf(result, 'agent_joined'), { identity: agent.identity });
    await until(isBotGone, 'the bot is gone');
    const [standing] = await harness.media.listRooms([room]);
    t.match(readRoomOwner(standing?.metadata ?? ''), { call_id: callId, handed_over: true });
    t.ok(await harness.media.participant(room, caller.identity), 'the caller is still there');
    await harness.appliance.until((health) => !health.workers?.some((worker) => worker.call_id === callId));

    await until(() => agent.isHeard(), 'the agent is heard');
    const fromHere = media.heard().length;
    const theirs = humanSpeech('something.raw');
    await Promise.all([agent.play(wide(question)), media.play(theirs)]);
    await sleepMs(1_000);
    const toCaller = findAudio(question, media.heard().slice(fromHere));
    const toAgent = findAudio(theirs, agent.heard(caller.identity));
    t.comment(`agent at the telephone: ${describeFound(toCaller)}`);
    t.comment(`telephone at the agent: ${describeFound(toAgent)}`);
    t.ok(isThere(toCaller), 'the caller hears the agent');
    t.ok(isThere(toAgent), 'the agent hears the caller');

    await desk.until('the end of the call', () => queued.state === 'ended');
    t.match(desk.toldOf(callId), [
      'enqueue',
      'hold_started',
      'participant_joined',
      'bot_left',
      'customer-disconnected',
    ]);
  },
);

t.test(
  'R24 with record_agent_leg the slot stays as a silent recorder of both',
  { buffered: true },
  async (t) => {
    // Nobody but the slot listens to the agent, so that an agent who is heard is heard by the recorder.
    const isBot = (identity: string) => identity.startsWith('bot-');
    const { guest, room } = await handoff.askInRoom(t, { record_agent_leg: true }, isBot);
    const { callId, queued } = await handoff.queued(guest.identity);
    const agent = await handoff.agent(t, room, 'u2');
    await until(() => agent.isHeard(), 'the agent is heard');
    await sleepMs(2_500);
    const bot = `bot-${callId.slice(0, 8)}`;
    t.ok(agent.room.remoteParticipants.has(bot), 'the slot is still in the room');
    const quietFrom = guest.frames(bot).length;
    const theirs = humanSpeech('something.raw');
    // As in a conversation: each says more than one thing, and a busy machine may lose a part of one.
    for (let times = 0; times < 3; times++) {
      await Promise.all([agent.play(wide(question)), guest.play(wide(theirs))]);
      await sleepMs(500);
    }
    const botSounds = guest.frames(bot).slice(quietFrom);
    t.ok(
      botSounds.every(({ samples }) => rms(samples) < 30),
      'the caller hears nothing of the bot',
    );
    const workers = (await harness.appliance.health())?.workers ?? [];
    t.ok(
      workers.some((worker) => worker.call_id === callId),
      'the slot counts as busy',
    );
    await guest.leave();
    const result = await handoff.resultOf(room);
    t.match(result, { disconnected_by: 'transfer_to_agent' });
    await desk.until('the end of the call', () => queued.state === 'ended');
    t.equal(desk.toldOf(callId).at(-1), 'customer-disconnected');
    const recorded = harness.recording(result);
    const kept = [findAudio(theirs, recorded.caller), findAudio(question, recorded.bot)];
    t.comment(`recorded: ${kept.map(describeFound).join('; ')}`);
    t.ok(kept.every(isThere), 'the recording has the caller and the agent');
    await agent.leave();
  },
);

t.test('R24 a caller who hangs up while they wait has left by themselves', async (t) => {
  const { guest, room } = await handoff.askInRoom(t);
  const { callId, queued } = await handoff.queued(guest.identity);
  t.equal(queued.enqueue.room, room);
  t.equal(queued.enqueue.caller.identity, guest.identity);
  await guest.leave();
  const result = await handoff.resultOf(room);
  t.match(result, { disconnected_by: 'customer', end_detail: { handoff: { had_agent: false } } });
  await desk.until('the end of the call', () => queued.state === 'ended');
  t.strictSame(desk.toldOf(callId), ['enqueue', 'hold_started', 'customer-disconnected']);
  await harness.untilClear(room, 3);
});

t.test('RT-37 the desk ends the wait: everybody is sent away, and no agent came', async (t) => {
  const { guest, room } = await handoff.askInRoom(t);
  const { callId } = await handoff.queued(guest.identity);
  await desk.until('hold', () => desk.toldOf(callId).includes('hold_started'));
  // All participants are removed before the call counts as ended (R121).
  for (const { identity } of await harness.media.participants(room)) {
    await harness.media.removeParticipant(room, identity);
  }
  const result = await handoff.resultOf(room);
  t.match(result, { disconnected_by: 'no_agent' });
  await harness.untilClear(room, 3);
});

t.test('R24 the slot that records is killed: caller and agent talk on', async (t) => {
  const { guest, room } = await handoff.askInRoom(t, { record_agent_leg: true });
  const { callId, queued } = await handoff.queued(guest.identity);
  const agent = await handoff.agent(t, room, 'u3');
  await until(() => agent.isHeard(), 'the agent is heard');
  await desk.until('the agent is known', () => desk.toldOf(callId).includes('participant_joined'));
  const isMarked = async () => {
    const [standing] = await harness.media.listRooms([room]);
    return readRoomOwner(standing?.metadata ?? '')?.handed_over === true;
  };
  while (!(await isMarked())) await sleepMs(50);
  const worker = (await harness.appliance.health())?.workers?.find(({ call_id: id }) => id === callId);
  process.kill(worker?.pid ?? 0, 'SIGKILL');
  await desk.until('a result', () => desk.results.some((result) => result.room_name === room));
  const result = desk.results.find((candidate) => candidate.room_name === room);
  t.match(result, { disconnected_by: 'transfer_to_agent', end_detail: { cause: 'slot_died' } });
  await harness.appliance.until((health) => health.fleet_available === 3);
  // The dead slot itself is counted until its connection has timed out.
  const people = (await harness.media.participants(room)).filter(
    ({ identity }) => !identity.startsWith('bot-'),
  );
  const identities = people.map(({ identity }) => identity).sort();
  t.strictSame(identities, [agent.identity, guest.identity].sort(), 'both are still there');
  t.equal(queued.state, 'waiting', 'and the desk was told of no end');
  await guest.leave();
  await desk.until('the end of the call', () => queued.state === 'ended');
});
