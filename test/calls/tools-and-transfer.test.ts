import t from 'tap';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { CLOSE } from '../../src/contracts/wire.ts';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '3' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

const question = humanSpeech('goforward.raw');
const ASK = 'a person please';
const TRANSFER = {
  type: 'built_in',
  name: 'transfer_call',
  description: 'Transfer.',
  parameters: { type: 'object' },
};

/** A bot that passes on whoever asks for a person, and says why where that fails. */
function desk(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    stt: { provider: 'scripted', script: [ASK, 'hello again'] },
    llm: {
      provider: 'scripted',
      rules: [
        {
          intent: 'person',
          pattern: 'person',
          reply: 'Of course.',
          tool: {
            name: 'transfer_call',
            args: { target: 'desk', reason: 'wants a person' },
            reply: 'That did not work.',
          },
        },
      ],
      fallback: { reply: 'I am still here.' },
    },
    tools: [TRANSFER],
    transfer_targets: [
      {
        name: 'desk',
        destination: '+912240000001',
        headers: { 'X-Customer': '{{crm.id}}' },
        message: 'I am putting you through now.',
      },
    ],
    crm_context: { id: 'C7' },
    ...change,
  };
}

/** Places a call to this bot; resolves to the result that it leaves. */
async function callWith(
  change: Record<string, unknown>,
  live: (call: Call) => Promise<unknown>,
): Promise<CallResults> {
  const { call, sessionId } = await place(change);
  await live(call);
  return resultOf(call, sessionId);
}

async function place(change: Record<string, unknown>): Promise<{ call: Call; sessionId: unknown }> {
  const body = plane.scriptedBot({ opening_message: 'Hello.', ...change });
  plane.config = () => ({ status: 200, body });
  return { call: await placeWhenFree({ url: `${appliance.callUrl}scripted` }), sessionId: body.session_id };
}

async function resultOf(call: Call, sessionId: unknown): Promise<CallResults> {
  await call.closed;
  return plane.resultOf(sessionId);
}

type Call = Awaited<ReturnType<typeof placeWhenFree>>;
const marks = (call: Call) => call.events.filter(({ type }) => type === 'mark_played').length;
/** Whether the caller comes to hear something more than so many marks. */
const hearsMoreThan = (call: Call, count: number) => call.until(() => marks(call) > count, 60_000);

/** A dialler that neither answers nor closes is waited for in real time, beside the other calls. */
const unanswered = await place(desk());
const afterTheWait = (async () => {
  const { call, sessionId } = unanswered;
  await call.answerAfter(0);
  await call.say(question);
  await call.event('transfer', 60_000);
  const before = marks(call);
  const isToldSo = await call.until(() => marks(call) > before, 60_000);
  await call.hangUp();
  return { isToldSo, result: await resultOf(call, sessionId) };
})();

const named = (result: CallResults, name: string) => result.events.find(({ event }) => event === name);

t.test('R12 R63 R114 R115 R116 R172 RT-15 RT-35 a transfer is announced, heard, sent and told', async (t) => {
  const result = await callWith(desk(), async (call) => {
    await call.answerAfter(0);
    await call.say(question);
    const asked = await call.event('transfer', 60_000);
    t.match(asked?.transfer, {
      destination: '+912240000001',
      target: 'desk',
      reason: 'wants a person',
      headers: { 'X-Customer': 'C7' },
    });
    const played = call.events.findLast((event) => event.type === 'mark_played');
    t.ok(asked && played && played.atMs <= asked.atMs, 'after the caller has heard that they are passed on');
    call.send({ event: 'transfer_result', status: 'ok', sip_code: 202, sip_status: 'Accepted' });
    t.equal((await call.closed).code, CLOSE.transferred, 'the bot leaves a line that stays open');
  });
  t.equal(result.disconnected_by, 'bot');
  t.match(result, {
    was_transferred: true,
    transfer_destination: '+912240000001',
    transfer_target: 'desk',
    transfer_reason: 'wants a person',
    transfer_method: 'websocket_reverse_transfer',
    transfer_failed_reason: null,
  });
  t.ok((result.transfer_at ?? 0) > 0);
  t.match(named(result, 'tool_call'), { function: 'transfer_call', status: 'ok', args: { target: 'desk' } });
  t.match(named(result, 'transfer_sent'), {
    transfer_number: '+912240000001',
    transfer_headers: { 'X-Customer': 'C7' },
    reason: 'wants a person',
    sip_code: 202,
    sip_status: 'Accepted',
  });
  const spoken = result.transcript.filter(({ speaker }) => speaker === 'bot').at(-1);
  t.match(spoken, { text: /putting you through now/, heard: 'mark' });
});

t.test('R114 R115 R170 RT-35 after a failed transfer the bot says why and goes on', async (t) => {
  const result = await callWith(desk(), async (call) => {
    await call.answerAfter(0);
    await call.say(question);
    t.ok(await call.event('transfer', 60_000));
    const before = marks(call);
    call.send({
      event: 'transfer_result',
      status: 'failed',
      reason: 'busy',
      sip_code: 486,
      sip_status: 'Busy Here',
    });
    t.ok(await hearsMoreThan(call, before), 'it speaks by itself');
    const after = marks(call);
    await call.say(question);
    t.ok(await hearsMoreThan(call, after), 'and answers the next question');
    await call.hangUp();
  });
  t.equal(result.disconnected_by, 'customer');
  t.match(result, {
    was_transferred: false,
    transfer_failed_reason: 'busy',
    transfer_destination: '+912240000001',
    transfer_at: null,
  });
  t.match(named(result, 'transfer_failed'), { reason: 'busy', sip_code: 486, sip_status: 'Busy Here' });
  const bot = result.transcript.filter(({ speaker }) => speaker === 'bot').map(({ text }) => text);
  t.match(bot.join(' | '), /putting you through now\. \| That did not work\. \| I am still here/);
});

t.test('RT-35 RT-59 a transfer whose words no voice can speak is made all the same, once', async (t) => {
  const failing = { provider: 'scripted', fail_on: [2, 3, 4, 5, 6, 7, 8, 9] };
  const result = await callWith(desk({ tts: failing }), async (call) => {
    await call.answerAfter(0);
    await call.say(question);
    t.ok(await call.event('transfer', 60_000));
    call.send({ event: 'transfer_result', status: 'ok', sip_code: 202, sip_status: 'Accepted' });
    t.equal((await call.closed).code, CLOSE.transferred);
  });
  t.match(result, { disconnected_by: 'bot', was_transferred: true, transfer_target: 'desk' });
  t.equal(result.events.filter(({ event }) => event === 'transfer_requested').length, 1);
  t.equal(result.events.find(({ line }) => line === 'connecting')?.event, 'rescue_spoken');
});

t.test('RT-35 a dialler that closes without an answer has passed the caller on', async (t) => {
  const result = await callWith(desk(), async (call) => {
    await call.answerAfter(0);
    await call.say(question);
    await call.event('transfer', 60_000);
    call.close();
  });
  t.match(result, { was_transferred: true, disconnected_by: 'bot', transfer_failed_reason: null });
});

t.test('a caller who hangs up while they wait was not passed on', async (t) => {
  const result = await callWith(desk(), async (call) => {
    await call.answerAfter(0);
    await call.say(question);
    await call.event('transfer', 60_000);
    await call.hangUp('gone');
  });
  t.match(result, { was_transferred: false, disconnected_by: 'customer', transfer_failed_reason: /hung up/ });
});

t.test('R169 R41 without a number the caller hears so and stays with the bot', async (t) => {
  const result = await callWith(desk({ transfer_targets: [], transfer_numbers: {} }), async (call) => {
    await call.answerAfter(0);
    const before = marks(call);
    await call.say(question);
    t.ok(await hearsMoreThan(call, before + 1), 'the first words, and what the model says then');
    await call.hangUp();
  });
  t.match(named(result, 'tool_call'), { function: 'transfer_call', status: 'no_number_configured' });
  t.notOk(named(result, 'transfer_requested'));
  t.match(result.transcript.map(({ text }) => text).join(' '), /Of course\. That did not work/);
});

t.test(
  'R15 R171 RT-48 a tool at a private address is refused, and the bot answers all the same',
  async (t) => {
    const tool = {
      type: 'http',
      name: 'book',
      description: 'Book.',
      parameters: { type: 'object', properties: { day: { type: 'string' }, pin: { type: 'string' } } },
      method: 'POST',
      url: 'https://127.0.0.1:9/',
      side_effect: true,
    };
    const rule = {
      intent: 'book',
      pattern: 'book',
      reply: 'One moment.',
      tool: { name: 'book', args: { day: 'Friday', pin: '1234' }, reply: 'Sorry, not today.' },
    };
    const result = await callWith(
      {
        stt: { provider: 'scripted', script: ['book it'] },
        llm: { provider: 'scripted', rules: [rule], fallback: { reply: 'What?' } },
        tools: [tool],
      },
      async (call) => {
        await call.answerAfter(0);
        const before = marks(call);
        await call.say(question);
        t.ok(await hearsMoreThan(call, before + 1));
        await call.hangUp();
      },
    );
    t.match(result.transcript.at(-1)?.text, /One moment\. Sorry, not today\./);
    const ended = named(result, 'tool_result');
    t.match(ended, {
      function: 'custom',
      tool: 'book',
      args: { day: 'Friday', pin: '***' },
      status: 'refused',
      error: /never called: loopback/,
    });
    t.type(ended?.duration_ms, 'number');
  },
);

t.test('R96 R168 RT-22 a closure phrase that was heard ends the call', async (t) => {
  const result = await callWith(
    {
      stt: { provider: 'scripted', script: ['that is all'] },
      llm: { provider: 'scripted', rules: [], fallback: { reply: 'Alright. Thank you for your time!' } },
      conversation_policy: { role: 'r', goal: 'g', closure_phrases: ['thank you for your time'] },
    },
    async (call) => {
      await call.answerAfter(0);
      await call.say(question);
      t.ok(await call.event('hangup', 60_000));
    },
  );
  t.equal(result.disconnected_by, 'bot');
  t.match(named(result, 'disconnected'), { by: 'bot', trigger: 'closure_phrase' });
});

t.test(
  'RT-35 a dialler that neither answers nor closes has failed after 30 s; the bot goes on',
  async (t) => {
    const { isToldSo, result } = await afterTheWait;
    t.ok(isToldSo, 'the caller is spoken to again');
    t.match(result, { was_transferred: false, transfer_failed_reason: /did not answer/ });
    const seconds =
      (named(result, 'transfer_failed')?.ts ?? 0) - (named(result, 'transfer_requested')?.ts ?? 0);
    t.ok(seconds > 29, `${seconds} s`);
  },
);
