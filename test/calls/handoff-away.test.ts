import t, { type Test as TapTest } from 'tap';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { Appliance, freePort } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { eventNamed, resultOfCall, saidByBot } from '../harness/scripted-call.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
t.teardown(() => plane.close());
const question = humanSpeech('goforward.raw');

/** A bot that hands over whoever asks for a person, and says so where nobody can be had. */
const BOT = {
  opening_message: 'Hello.',
  stt: { provider: 'scripted', script: ['a person please', 'hello again'] },
  llm: {
    provider: 'scripted',
    rules: [
      {
        intent: 'person',
        pattern: 'person',
        reply: 'Of course.',
        tool: { name: 'transfer_to_agent', args: { reason: 'asked' }, reply: 'Nobody is there.' },
      },
    ],
    fallback: { reply: 'I am still here.' },
  },
  tts: { provider: 'scripted', ms_per_char: 20 },
  tools: [{ name: 'transfer_to_agent', description: 'To a person.', parameters: { type: 'object' } }],
  agent_desk_enabled: true,
  pre_transfer_message: 'I am getting somebody.',
};

/** The caller asks for a person, and then says something else. */
async function askTwice(appliance: Appliance, bot: Record<string, unknown> = BOT): Promise<CallResults> {
  return resultOfCall({ plane, appliance }, bot, async (call) => {
    await call.answerAfter(0);
    const asked = await call.say(question);
    await call.answerAfter(asked.voiceEndedAtMs, 1_500, 60_000);
    const again = await call.say(question);
    await call.answerAfter(again.voiceEndedAtMs, 1_500, 60_000);
  });
}

function goesOn(t: TapTest, result: CallResults, status: string): void {
  const told = result.events.find(({ event, status: what }) => event.startsWith('tool_') && what === status);
  t.match(told, { function: 'transfer_to_agent' }, `the tool says ${status}`);
  const said = saidByBot(result).join(' | ');
  t.match(said, 'Nobody is there.', 'the bot says so');
  t.match(said, 'I am still here.', 'and answers what comes next');
  t.notMatch(said, 'getting somebody', 'nobody was promised');
  t.notOk(eventNamed(result, 'handoff_requested'));
  t.equal(result.disconnected_by, 'customer');
}

t.test('R25 the media server is away when a caller asks for a person: the bot goes on', async (t) => {
  const appliance = await Appliance.start({
    ...plane.env,
    SLOTS: '1',
    LIVEKIT_URL: `ws://127.0.0.1:${await freePort()}`,
    LIVEKIT_API_KEY: 'devkey',
    LIVEKIT_API_SECRET: 'secretsecretsecretsecretsecretsecret12',
  });
  t.teardown(() => appliance.destroy());
  const result = await askTwice(appliance);
  goesOn(t, result, 'failed');
});

t.test('R72 without a media server, or for a bot without a desk, no person can be asked for', async (t) => {
  const appliance = await Appliance.start({ ...plane.env, SLOTS: '1' });
  t.teardown(() => appliance.destroy());
  goesOn(t, await askTwice(appliance), 'not_configured');
  goesOn(t, await askTwice(appliance, { ...BOT, agent_desk_enabled: false }), 'not_enabled');
});
