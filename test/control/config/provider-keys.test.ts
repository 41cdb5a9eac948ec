import t from 'tap';
import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { configHarness } from '../../harness/config-harness.ts';

const KEYS: Record<string, string> = {
  deepgram: 'key-d',
  openai: 'key-o',
  gemini: 'key-g',
  elevenlabs: 'key-e',
};

t.test('R61 a key goes to the vendor’s own hosts and to listed origins, and nowhere else', async (t) => {
  const harness = configHarness(t, {
    settings: {
      providerKey: (provider) => KEYS[provider] ?? null,
      providerOrigins: () => ['https://speech.example.com:8443'],
    },
  });
  const keyOf = async (stt: ProviderConfig) => (await harness.call({ stt })).stt.api_key;
  const at = (base_url: string, provider = 'deepgram') => keyOf({ provider, base_url });
  t.equal(await keyOf({ provider: 'deepgram' }), 'key-d');
  t.equal(await at('wss://api.eu.deepgram.com'), 'key-d');
  t.equal(await at('https://api.deepgram.com:443/some/prefix'), 'key-d');
  t.equal(await at('wss://api.deepgram.com', 'deepgram_flux'), 'key-d');
  t.equal(await at('wss://speech.example.com:8443/deepgram'), 'key-d', 'an admin listed it');
  for (const strange of [
    'wss://speech.example.com/deepgram',
    'ws://api.deepgram.com',
    'wss://api.deepgram.com.example.com',
    'wss://api.deepgram.com:444',
    'wss://api.deepgram.com@example.com',
    'wss://api.openai.com',
    'wss://example.com/#api.deepgram.com',
    'not an address',
  ]) {
    t.equal(await at(strange), undefined, strange);
  }
});

t.test(
  'a key of the bot’s own stays its own, wherever it goes, and fallbacks are judged one by one',
  async (t) => {
    const harness = configHarness(t, { settings: { providerKey: (provider) => KEYS[provider] ?? null } });
    const own = { provider: 'openai', base_url: 'https://llm.example.com/v1', api_key: 'own' };
    const served = await harness.call({
      llm: {
        ...own,
        fallbacks: [{ provider: 'gemini' }, { provider: 'openai', base_url: 'http://10.0.0.1/v1' }],
      },
      post_call_llm: { provider: 'gemini', model: 'gemini-3.8-flash' },
    });
    t.strictSame(served.llm, {
      ...own,
      fallbacks: [
        { provider: 'gemini', api_key: 'key-g' },
        { provider: 'openai', base_url: 'http://10.0.0.1/v1' },
      ],
    });
    t.strictSame(served.post_call_llm, { provider: 'gemini', model: 'gemini-3.8-flash', api_key: 'key-g' });
    t.equal((await harness.call({})).post_call_llm, null);
  },
);

t.test('R65 R66 what a cache holds decides its version: prompt, tools, model', async (t) => {
  const harness = configHarness(t);
  const live = { live_prompt_cache: { enabled: true } };
  const version = async (change: object) =>
    (await harness.call({ ...live, ...change })).prompt_parts?.static_version;
  const base = await version({});
  t.equal(await version({ opening_message: 'Other.' }), base);
  t.not(await version({ tools: [{ type: 'built_in', name: 'end_call' }] }), base);
  t.not(await version({ llm: { provider: 'scripted', model: 'other' } }), base);
  t.not(await version({ voicemail_detection: { enabled: true } }), base);
  const entry = {
    static_version: base ?? '',
    cache_name: 'cachedContents/1',
    expires_at: '2026-03-03T00:00:00.000Z',
  };
  await harness.livePromptCaches.put('clinic', entry);
  t.match(await harness.call(live), { live_prompt_cache_state: { cache_name: 'cachedContents/1' } });
  t.match(
    await harness.call({ ...live, tools: [{ type: 'built_in', name: 'end_call' }] }),
    { live_prompt_cache_state: { cache_name: null } },
    'an entry without the tool is not served to a bot that has it',
  );
  const analysed = { post_call_analysis_prompt: 'Analyse.', post_call_cache: { enabled: true } };
  const own = await harness.call({ ...analysed, post_call_llm: { provider: 'scripted', model: 'reader' } });
  t.not(own.post_call_cache_version, (await harness.call(analysed)).post_call_cache_version);
});
