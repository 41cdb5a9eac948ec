import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SpoolOwner } from '../../src/contracts/spool.ts';
import {
  ANNOUNCEMENT,
  ASK,
  HandoffHarness,
  isThere,
  question,
  rms,
  wide,
} from '../harness/handoff-harness.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { eventOf } from '../harness/sip-harness.ts';
import { until } from '../harness/wait.ts';
import { describeFound, findAudio } from '../stack/correlate.ts';

t.setTimeout(280_000);
const handoff = await HandoffHarness.start(t, { slots: 2 });
const { harness, desk } = handoff;

/** A caller whose wait the desk does not limit by itself. */
const IN_A_HURRY = {
  llm: {
    provider: 'scripted',
    rules: [
      {
        intent: 'person',
        pattern: 'person',
        reply: '',
        tool: { name: 'transfer_to_agent', args: { reason: 'in a hurry' }, reply: 'Nobody is there.' },
      },
    ],
    fallback: { reply: 'I am still here.' },
  },
};

// These two wait for half a minute, and do so together.
t.jobs = 2;

t.test(
  'R25 R47 R105 a caller on a socket who asks for a person talks with an agent in a room',
  { buffered: true },
  async (t) => {
    const startedAtMs = performance.now();
    const { call, number } = await handoff.askOnSocket({ max_call_duration_seconds: 12 });
    const { callId, queued } = await handoff.queued(number);
    const { room, caller, transcript } = queued.enqueue;
    t.match(queued.enqueue, {
      call_id: callId,
      room: `call-${callId}`,
      caller: { number, name: 'Asha Rao', identity: `caller-${callId.slice(0, 8)}` },
      bot: { bot_id: 'scripted' },
      escalation_reason: 'wants a person',
      context: { customer: 'Asha' },
      variables: { crm: { CUSTOMERNAME: 'Asha Rao' } },
    });
    const said = transcript.map(({ text }) => text);
    t.ok(said.includes(ASK), `the agent reads what was said: ${said.join(' | ')}`);
    t.ok(
      said.some((text) => text.includes(ANNOUNCEMENT)),
      'the caller was told before they were queued',
    );
    await call.until(() => false, 2_500);
    const held = rms(call.heard.samples.subarray(-8_000));
    t.ok(held > 100, `the caller hears something while they wait: RMS ${held.toFixed(0)}`);

    const agent = await handoff.agent(t, room);
    await until(() => agent.frames(caller.identity).length > 0, 'the agent hears the caller');
    await until(() => agent.isHeard(), 'the agent is heard');
    await call.until(() => false, 1_000);
    const joinedAt = call.heard.samples.length;
    const theirs = humanSpeech('something.raw');
    await agent.play(wide(question));
    await call.until(() => false, 1_000);
    const toCaller = findAudio(question, call.heard.samples.slice(joinedAt));
    t.comment(`agent at the caller's ear: ${describeFound(toCaller)}`);
    t.ok(isThere(toCaller), 'the caller hears the agent');
    await call.say(theirs);
    await call.until(() => false, 1_000);
    const toAgent = findAudio(theirs, agent.heard(caller.identity));
    t.comment(`caller at the agent's ear: ${describeFound(toAgent)}`);
    t.ok(isThere(toAgent), 'the agent hears the caller');

    // Main gives a call 15 s beyond its maximum before it hangs up.
    await call.until(() => false, Math.max(0, 30_000 - (performance.now() - startedAtMs)));
    t.notOk(call.isClosed, 'the maximum duration of 12 s has passed and ends nothing');
    const workers = (await harness.appliance.health())?.workers ?? [];
    t.ok(
      workers.some((worker) => worker.call_id === callId),
      'the slot is the bridge, and counts as busy',
    );
    await call.hangUp();
    const result = await handoff.resultOf(room);
    t.match(result, { disconnected_by: 'transfer_to_agent', end_detail: { handoff: { had_agent: true } } });
    t.match(eventOf(result, 'agent_joined'), { identity: agent.identity });
    t.match(eventOf(result, 'handoff_queued'), { position: 2, agents_available: 1 });
    t.ok(
      result.transcript.some(({ text }) => text === 'You are number 2 in line.'),
      'the caller was told their place',
    );
    await desk.until('the end of the call', () => queued.state === 'ended');
    t.strictSame(desk.toldOf(callId), [
      'enqueue',
      'hold_started',
      'participant_joined',
      'customer-disconnected',
    ]);
    const recorded = harness.recording(result);
    const kept = [findAudio(theirs, recorded.caller), findAudio(question, recorded.bot)];
    t.comment(`recorded: ${kept.map(describeFound).join('; ')}`);
    t.ok(kept.every(isThere), 'both are in the recording');
  },
);

t.test('R107 RT-37 nobody comes: the caller hears so, and is hung up', { buffered: true }, async (t) => {
  desk.timeoutOf = (body) => (body.escalation_reason === 'in a hurry' ? 0 : 120);
  const { call, number } = await handoff.askOnSocket({ ...IN_A_HURRY, pre_transfer_message: null });
  const { callId, queued } = await handoff.queued(number);
  const askedAtMs = performance.now();
  const closed = await call.closed;
  const waitedMs = performance.now() - askedAtMs;
  t.ok(
    waitedMs > 28_000,
    `the desk has 30 s beyond its own limit to end the wait: ${waitedMs.toFixed(0)} ms`,
  );
  t.equal(closed.code, 1000);
  const result = await handoff.resultOf(queued.enqueue.room);
  t.match(result, { disconnected_by: 'no_agent', end_detail: { handoff: { had_agent: false } } });
  const said = result.transcript.filter(({ speaker }) => speaker === 'bot').map(({ text }) => text);
  t.ok(
    said.some((text) => text.includes('connecting you to a colleague')),
    'an announcement comes first',
  );
  t.ok(
    said.some((text) => text.startsWith('Thank you for waiting')),
    'they are told to stay',
  );
  t.match(said.at(-1), 'nobody is free', said.join(' | '));
  await desk.until('the end of the call', () => queued.state === 'ended');
  t.strictSame(desk.toldOf(callId), ['enqueue', 'hold_started', 'customer-disconnected']);
  t.equal((await harness.media.listRooms([queued.enqueue.room])).length, 0, 'the room is gone with them');
});

t.test('R25 on a partner’s socket: an agent leaves, another comes, and hangs up the caller', async (t) => {
  const { call, number } = await handoff.askOnSocket({}, 'partner');
  const { callId, queued } = await handoff.queued(number);
  const { room } = queued.enqueue;
  const agent = await handoff.agent(t, room);
  await until(() => agent.isHeard(), 'the agent is heard');
  await call.until(() => false, 1_500);
  await agent.leave();
  const alone = call.heard.samples.length;
  await call.until(() => rms(call.heard.samples.subarray(alone).slice(-8_000)) > 100, 60_000);
  t.ok(
    rms(call.heard.samples.subarray(-8_000)) > 100,
    'an agent who leaves leaves the caller with the music',
  );
  const second = await handoff.agent(t, room, 'u2');
  await until(() => second.isHeard(), 'the second agent is heard');
  await call.until(() => false, 1_500);
  // As the desk does it: everybody is sent away.
  await harness.media.deleteRoom(room);
  const closed = await call.closed;
  t.equal(closed.code, 1000);
  const result = await handoff.resultOf(room);
  t.match(result, { disconnected_by: 'transfer_to_agent' });
  t.match(eventOf(result, 'disconnected'), { by: 'agent' });
  t.equal(result.events.filter(({ event }) => event === 'agent_joined').length, 2);
  await desk.until('the end of the call', () => queued.state === 'ended');
  t.equal(desk.toldOf(callId)[0], 'enqueue');
});

t.test(
  'R32 RT-37 the desk is away for the whole escalation, and main is killed: all of it comes, in order',
  async (t) => {
    await harness.appliance.until((health) => health.fleet_available === 2);
    await desk.goAway();
    const { call } = await handoff.askOnSocket();
    const { workers } = await harness.appliance.until((health) => health.fleet_busy === 1);
    const callId = workers?.find(({ call_id }) => call_id !== null)?.call_id ?? '';
    const room = `call-${callId}`;
    await until(
      async () => (await harness.media.listRooms([room])).length === 1,
      'the caller waits in a room',
    );
    await harness.appliance.until((health) => health.outbox?.handoffs_pending === 1);
    const hold = call.heard.samples.length;
    await harness.appliance.signalMain('SIGKILL');
    await call.until(() => false, 1_500);
    t.ok(
      rms(call.heard.samples.slice(hold)) > 100,
      'without main, and without a desk, the caller hears music',
    );
    await call.hangUp();
    await harness.appliance.launch();
    await harness.appliance.until((health) => (health.outbox?.handoffs_pending ?? 0) > 0);
    t.equal(desk.calls.has(callId), false, 'the desk knows of nothing yet');
    await desk.comeBack();
    const result = await handoff.resultOf(room);
    t.match(result, { disconnected_by: 'customer', end_detail: { handoff: { had_agent: false } } });
    await desk.until('the end of the call', () => desk.calls.get(callId)?.state === 'ended');
    t.strictSame(desk.toldOf(callId), ['enqueue', 'hold_started', 'customer-disconnected']);
    await harness.appliance.until((health) => health.outbox?.handoffs_pending === 0);
  },
);

t.test(
  'R32 RT-37 the slot is killed while the caller waits: the desk learns that they are gone',
  async (t) => {
    await harness.appliance.until((health) => health.fleet_available === 2);
    const { call, number } = await handoff.askOnSocket();
    const { callId, queued } = await handoff.queued(number);
    const spool = join(harness.appliance.dataDir, 'spool');
    t.ok(
      readdirSync(join(spool, callId)).includes('handoff.jsonl'),
      'the note lies in the folder of the call',
    );
    const owner = JSON.parse(readFileSync(join(spool, callId, 'owner.json'), 'utf8')) as SpoolOwner;
    process.kill(owner.pid, 'SIGKILL');
    await call.closed;
    await desk.until('the end of the call', () => queued.state === 'ended');
    t.equal(desk.toldOf(callId).at(-1), 'customer-disconnected');
    t.match(desk.posts.findLast(({ path }) => path.endsWith('customer-disconnected'))?.body, {
      reason: 'slot_died',
    });
    await harness.untilClear(queued.enqueue.room, 2);
    const rooms = await harness.media.listRooms([queued.enqueue.room]);
    t.same(rooms, [], 'the room that was made for them is closed');
  },
);
