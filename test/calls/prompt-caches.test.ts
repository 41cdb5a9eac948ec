import { createHash } from 'node:crypto';
import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { startMain } from '../../src/main/main.ts';
import { startAnthropic } from '../emulators/anthropic.ts';
import { startGemini } from '../emulators/gemini.ts';
import { textOfTokens } from '../emulators/llm/tokens.ts';
import { startOpenAi } from '../emulators/openai.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { quietLogger, workerSettings } from '../harness/worker.ts';

/** Real slots whose calls think with the vendors' own protocols, over the wire, with prompt caches on. */
t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const main = await startMain(workerSettings(tempFolder(), { ...plane.env, SLOTS: '3', TURN_MODEL: 'off' }), {
  logger: quietLogger(),
});
const gemini = await startGemini({ cacheFloorTokens: 64 });
const openai = await startOpenAi({});
const anthropic = await startAnthropic({});
t.teardown(async () => {
  await main.stop();
  await Promise.all([plane.close(), gemini.close(), openai.close(), anthropic.close()]);
});
await until(() => main.health()?.fleet_available === 3);

const versionOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** What a control plane serves for a bot that caches its live prompt and its prompts after the call. */
function cachingBot(llm: Record<string, unknown>, name: string): Record<string, unknown> {
  const fixed = `You are ${name}. ${textOfTokens(6_000, name)}\n`;
  const analysis = `Analyse the call as JSON. ${textOfTokens(6_000, `analyse ${name}`)}\n`;
  const qc = `Judge the bot as JSON. ${textOfTokens(6_000, `judge ${name}`)}\n`;
  return plane.scriptedBot({
    bot_id: name,
    opening_message: 'Good morning.',
    stt: { provider: 'scripted', script: ['tell me more', 'and more'], loop: true },
    llm,
    system_prompt: `${fixed}Today is Friday.`,
    prompt_parts: {
      mode: 'direct',
      cache_enabled: true,
      static_system_prompt: fixed,
      dynamic_runtime_prompt: 'Today is Friday.',
      static_version: versionOf(fixed),
      cache_key: `bot:${versionOf(fixed)}`,
      cache_retention: null,
      cache_ttl_seconds: 600,
    },
    tools: [
      {
        type: 'built_in',
        name: 'end_call',
        description: 'End the call.',
        parameters: { type: 'object', properties: {}, required: [] },
      },
    ],
    post_call_analysis_prompt: `${analysis}The caller is Asha.`,
    qc_prompt: qc,
    post_call_cache_enabled: true,
    post_call_cache_version: versionOf(analysis + qc),
    post_call_cache: {
      analysis_version: versionOf(analysis),
      qc_version: versionOf(qc),
      analysis_static_chars: analysis.length,
      qc_static_chars: qc.length,
      ttl_seconds: 600,
    },
  });
}

const bots = {
  gemini: cachingBot({ provider: 'gemini', api_key: gemini.apiKey, base_url: gemini.url }, 'gemini'),
  openai: cachingBot(
    { provider: 'openai', model: 'gpt-6-luna', api_key: openai.apiKey, base_url: openai.url },
    'openai',
  ),
  anthropic: cachingBot(
    { provider: 'anthropic', api_key: anthropic.apiKey, base_url: anthropic.url },
    'anthropic',
  ),
};
plane.config = ({ botId }) => ({
  status: 200,
  body: { ...bots[botId as keyof typeof bots], session_id: crypto.randomUUID() },
});

/** A call to the bot, and what came of it. */
async function talk(botId: string, turns: number): Promise<CallResults> {
  const call = await placeWhenFree({ url: `ws://127.0.0.1:${main.fleetPort}/ws/${botId}` });
  await call.answerAfter(0);
  for (let turn = 0; turn < turns; turn++) {
    const said = await call.say(humanSpeech('cards/001.wav'));
    await call.event('bot_started', 20_000, said.voiceEndedAtMs);
    await call.answerAfter(said.voiceEndedAtMs);
  }
  await call.hangUp();
  return await resultOf(call);
}

/** The three vendors at once; each call has the host's other slots beside it. */
async function round(turns: number): Promise<Record<keyof typeof bots, CallResults>> {
  await until(() => main.health()?.fleet_available === 3);
  const [first, second, third] = await Promise.all([
    talk('gemini', turns),
    talk('openai', turns),
    talk('anthropic', turns),
  ]);
  return { gemini: first, openai: second, anthropic: third };
}

async function resultOf(call: DiallerCall): Promise<CallResults> {
  const found = () => plane.results.find((result) => result.session_id === call.sessionId);
  await until(() => found() !== undefined, undefined, 90_000);
  return found() as CallResults;
}

const live = (result: CallResults) => result.usage_metrics.filter(({ type }) => type === 'llm');
const after = (result: CallResults, namespace: string) =>
  result.usage_metrics.find(({ processor }) => processor === namespace);

const firstRound = await round(1);
const secondRound = await round(2);

t.test(
  'R16 R65 R66 R110 R112 Gemini: the first call makes the entries, the next one on another slot uses them',
  async (t) => {
    const bot = bots.gemini;
    const { static_version: version } = bot.prompt_parts as { static_version: string };
    const first = firstRound.gemini;
    t.match(live(first)[0]?.cache, { enabled: true, namespace: 'live_prompt', version });
    await until(() => plane.cacheReports.length > 0);
    t.match(plane.cacheReports[0], {
      path: '/bots/gemini/live-prompt-cache',
      body: { static_version: version, cache_name: /^cachedContents\// },
    });
    t.match(after(first, 'post_call_analysis')?.cache, {
      enabled: true,
      status: 'create',
      namespace: 'post_call_analysis',
      version: (bot.post_call_cache as Record<string, unknown>).analysis_version,
    });
    t.match(after(first, 'qc_analysis')?.cache, { status: 'create', namespace: 'qc_analysis' });
    t.ok((after(first, 'post_call_analysis')?.cache_creation_input_tokens ?? 0) > 5_000, 'R110');
    t.ok(Object.keys(first.post_call_analysis).length > 0);

    const second = secondRound.gemini;
    t.strictSame(live(second)[0]?.cache, {
      enabled: true,
      status: 'hit',
      namespace: 'live_prompt',
      version,
      reason: null,
    });
    t.ok((live(second)[0]?.cache_read_input_tokens ?? 0) > 5_000, 'R110 read, not estimated');
    t.equal(live(second)[1]?.cache, null, 'only the first live entry tells the state');
    t.match(after(second, 'post_call_analysis')?.cache, { status: 'reuse' });
    t.match(after(second, 'qc_analysis')?.cache, { status: 'reuse' });
    t.equal(after(second, 'post_call_analysis')?.cache_creation_input_tokens ?? 0, 0);
    t.equal(plane.cacheReports.length, 1, 'one entry of the live prompt in all');
    t.strictSame(gemini.violations.list, [], 'a cached request carries neither tools nor system instruction');
  },
);

t.test('R112 R113 OpenAI: hit and miss follow the real cached tokens, also after the call', async (t) => {
  const { openai: first } = firstRound;
  const { openai: second } = secondRound;
  for (const result of [first, second]) {
    const [entry] = live(result);
    const read = entry?.cache_read_input_tokens ?? 0;
    t.equal(entry?.cache?.status, read > 0 ? 'hit' : 'miss');
    t.equal(entry?.cache_creation_input_tokens, null, 'nothing estimated');
  }
  t.equal(live(first)[0]?.cache?.status, 'miss');
  t.equal(live(second)[0]?.cache?.status, 'hit');
  t.match(after(first, 'post_call_analysis')?.cache, { status: 'miss' });
  t.match(after(second, 'post_call_analysis')?.cache, { status: 'reuse' });
  t.strictSame(openai.violations.list, []);
});

t.test('R109 R110 R112 Anthropic: created once, read from then on', async (t) => {
  const { anthropic: first } = firstRound;
  t.match(live(first)[0]?.cache, { status: 'miss', reason: 'created', namespace: 'live_prompt' });
  t.ok((live(first)[0]?.cache_creation_input_tokens ?? 0) > 5_000);
  t.match(after(first, 'post_call_analysis')?.cache, { status: 'create' });
  const { anthropic: second } = secondRound;
  t.match(live(second)[0]?.cache, { status: 'hit' });
  t.match(after(second, 'post_call_analysis')?.cache, { status: 'reuse' });
  for (const entry of live(second)) {
    t.equal(entry.processor, 'anthropic', 'R109');
    t.ok((entry.prompt_tokens ?? 0) > 5_000, 'the parts of the prompt are added up');
    t.equal(entry.total_tokens, (entry.prompt_tokens ?? 0) + (entry.completion_tokens ?? 0));
  }
  t.strictSame(anthropic.violations.list, []);
});
