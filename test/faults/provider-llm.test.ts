import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import { startAnthropic } from '../emulators/anthropic.ts';
import { startDeepgram } from '../emulators/deepgram.ts';
import { startElevenLabs } from '../emulators/elevenlabs.ts';
import type { LlmFault, ScriptedAnswer } from '../emulators/llm/answer.ts';
import { startOpenAi } from '../emulators/openai.ts';
import { MS_PER_CHAR, sayAndHearOut, sayAndListen, startProviderHarness } from '../harness/provider-calls.ts';
import { runFaultCases } from './fault-case.ts';

/** Faults of a language model in live calls over the wire: what the caller hears and what the results tell. */
t.setTimeout(280_000);
t.jobs = 4;
const harness = await startProviderHarness(t, 4);

const LONG_ANSWER = 'First sentence is here. And then it goes on for some time, as answers do.';

/** `alone` has one model, `backed` a second one behind it. */
async function vendors() {
  const texts = Array.from({ length: 20 }, (_, i) => `part ${i}`);
  const [deepgram, openai, anthropic, elevenlabs] = await Promise.all([
    startDeepgram({ hearing: { texts } }),
    startOpenAi(),
    startAnthropic(),
    startElevenLabs({ voice: { msPerChar: MS_PER_CHAR } }),
  ]);
  const llm = { provider: 'openai', model: 'gpt-6-luna', api_key: openai.apiKey, base_url: openai.url };
  const second = {
    provider: 'anthropic',
    model: 'claude-haiku-5-5',
    api_key: anthropic.apiKey,
    base_url: anthropic.url,
  };
  const bot = {
    opening_message: 'Good morning.',
    stt: { provider: 'deepgram', model: 'nova-3', api_key: deepgram.key, base_url: deepgram.wsUrl },
    tts: {
      provider: 'elevenlabs',
      voice: 'rachel',
      api_key: elevenlabs.apiKey,
      base_url: elevenlabs.wsUrl,
    },
  };
  return {
    openai,
    anthropic,
    emulators: [deepgram, openai, anthropic, elevenlabs],
    bots: { alone: { ...bot, llm }, backed: { ...bot, llm: { ...llm, fallbacks: [second] } } },
  };
}
type Bench = Awaited<ReturnType<typeof vendors>>;

const script =
  (...answers: ScriptedAnswer[]) =>
  ({ openai }: Bench) =>
    openai.desk.script(...answers);
const faulty = (fault: LlmFault, text = LONG_ANSWER): ScriptedAnswer => ({ text, fault, betweenMs: 20 });
const ask = (call: DiallerCall) => sayAndListen(call);

runFaultCases(t, harness, vendors, [
  {
    name: 'RT-58 RT-89 llm: a 429 with Retry-After, and the second model answers',
    bot: 'backed',
    order: script(faulty({ kind: 'refuse', as: 'rate_limit', retryAfterMs: 60_000 })),
    async live(call) {
      await ask(call);
      await ask(call);
    },
    events: ['provider_failed', 'provider_switched'],
    botLines: [/^You said: part 0/, /^You said: part 2/],
    servedBy: { type: 'llm', processor: 'anthropic' },
    check(t, story, { openai }) {
      t.match(story.events('provider_failed')[0], { provider: 'openai', class: 'rate_limit', status: 429 });
      t.equal(
        openai.desk.refused.length + openai.desk.served.length,
        1,
        'the first one is left alone after it',
      );
    },
  },
  {
    name: 'RT-58 RT-89 llm: a 429 with Retry-After and no second model is waited out',
    bot: 'alone',
    order: script(faulty({ kind: 'refuse', as: 'rate_limit', retryAfterMs: 3_000 })),
    live: sayAndHearOut,
    events: ['provider_failed', 'provider_retried'],
    botLines: [/You said: part 0/],
    servedBy: { type: 'llm', processor: 'openai' },
  },
  {
    name: 'RT-58 llm: a 500 is tried once more where there is no second model',
    bot: 'alone',
    order: script(faulty({ kind: 'refuse', as: 'server_error' })),
    live: ask,
    events: ['provider_failed', 'provider_retried'],
    botLines: [/^You said: part 0/],
    servedBy: { type: 'llm', processor: 'openai' },
  },
  {
    name: 'RT-58 llm: no first token, and the second model, started meanwhile, answers',
    bot: 'backed',
    order: script({ text: 'I am late.', firstByteMs: 60_000 }),
    live: ask,
    events: ['provider_hedged', 'provider_switched'],
    botLines: [/^You said: part 0/],
    servedBy: { type: 'llm', processor: 'anthropic' },
    check: (t, story) => t.same(story.events('rescue_spoken'), [], 'the caller has noticed nothing'),
  },
  {
    name: 'RT-59 llm: no first token and no second model: the caller is told, then answered',
    bot: 'alone',
    order: script({ text: 'I am late.', firstByteMs: 60_000 }),
    live: sayAndHearOut,
    events: ['rescue_spoken', 'provider_failed'],
    botLines: [/technical problem/, /^You said: part 0/],
  },
  {
    name: 'RT-59 llm: a stall in the middle of an answer ends it with a word',
    bot: 'alone',
    order: script(faulty({ kind: 'stall', after: 6 })),
    async live(call) {
      await sayAndHearOut(call);
      await ask(call);
    },
    events: ['provider_failed', 'rescue_spoken'],
    botLines: [/^First sentence is here\./, /say that again/, /^You said: part 2/],
  },
  {
    name: 'RT-59 llm: a connection that closes in the middle of an answer ends it with a word',
    bot: 'alone',
    order: script(faulty({ kind: 'cut', after: 6 })),
    async live(call) {
      await sayAndHearOut(call);
      await ask(call);
    },
    events: ['provider_failed', 'rescue_spoken'],
    botLines: [/^First sentence is here\./, /say that again/, /^You said: part 2/],
  },
  {
    name: 'RT-58 llm: an event that cannot be read, before a word was spoken, costs a moment',
    bot: 'backed',
    order: script(faulty({ kind: 'malformed', after: 2 })),
    live: sayAndHearOut,
    events: ['provider_failed'],
    botLines: [/^You said: part 0/],
  },
  {
    name: 'RT-58 llm: the end of an answer that comes twice is spoken and counted once',
    bot: 'alone',
    order: script(faulty({ kind: 'duplicate_final' })),
    live: ask,
    check(t, story) {
      t.same(story.botLines.slice(1), [LONG_ANSWER]);
      t.equal(story.result.usage_metrics.filter((metric) => metric.type === 'llm').length, 1);
      t.same(story.events('provider_failed'), []);
    },
  },
  {
    name: 'RT-59 llm: answers without words, refused by a filter or just empty, are no silence',
    bot: 'alone',
    // An empty answer is asked for once more before it counts; a refused one is not.
    order: script({ text: '', finish: 'refused' }, { text: '' }, { text: '' }),
    async live(call) {
      await sayAndHearOut(call);
      await ask(call);
      await ask(call);
    },
    botLines: [/say that again/, /say that again/, /^You said: part 4/],
    check: (t, story) =>
      t.match(story.events('rescue_spoken'), [{ reason: 'answer_refused' }, { reason: 'answer_empty' }]),
  },
  {
    name: 'RT-59 llm: a filter that stops an answer in the middle leaves an event and a line',
    bot: 'alone',
    order: script({ text: LONG_ANSWER, finish: 'refused' }),
    async live(call) {
      await sayAndHearOut(call);
      await ask(call);
    },
    botLines: [/^First sentence is here/, /say that again/, /^You said: part 2/],
    check(t, story) {
      t.match(story.events('provider_failed'), [{ family: 'llm', class: 'content', in_answer: true }]);
      t.match(story.events('rescue_spoken'), [{ line: 'again', reason: 'answer_refused' }]);
    },
  },
  {
    name: 'R106 RT-59 llm: an account without money ends the call politely, as an error',
    bot: 'alone',
    order: script(...Array.from({ length: 9 }, () => faulty({ kind: 'refuse', as: 'quota' }))),
    async live(call) {
      await ask(call);
      await call.event('hangup', 60_000);
    },
    events: ['provider_failed', 'rescue_spoken'],
    botLines: [/technical problem\. One moment/, /Goodbye/],
    disconnectedBy: 'error',
    check: (t, story) => t.match(story.result.end_detail, { reason: /cannot answer: .*quota/i }),
  },
]);
