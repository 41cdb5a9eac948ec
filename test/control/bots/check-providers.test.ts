import t from 'tap';
import type { BotContent } from '../../../src/contracts/bot.ts';
import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { checkProviders } from '../../../src/control/bots/check-providers.ts';
import { newContent } from '../../../src/control/bots/merge-bot.ts';
import { NEW_BOT } from '../../harness/bots-harness.ts';

const { bot_id: _, ...fields } = NEW_BOT;
const EVERY_KEY = ['deepgram', 'sarvam', 'soniox', 'gemini', 'openai', 'anthropic', 'elevenlabs', 'cartesia'];

async function check(
  change: Partial<BotContent>,
  world: { keys?: readonly string[]; origins?: readonly string[] } = {},
) {
  const found = await checkProviders(
    newContent({ ...fields, tools: [], ...change }),
    {
      hasProviderKey: async (name) => (world.keys ?? EVERY_KEY).includes(name),
      providerOrigins: async () => world.origins ?? [],
    },
    '2026-11-20',
  );
  return found.map(({ severity, code, pointer, message }) => ({
    what: `${severity} ${code} ${pointer}`,
    message,
  }));
}

const whats = async (...args: Parameters<typeof check>) => (await check(...args)).map(({ what }) => what);

t.test(
  'R8 R10 every provider of the product is accepted with nothing but its name and its voice',
  async (t) => {
    for (const provider of ['deepgram', 'deepgram_flux', 'sarvam', 'soniox', 'openai', 'scripted']) {
      t.strictSame(await check({ stt: { provider } }), [], `stt ${provider}`);
    }
    for (const provider of ['gemini', 'openai', 'anthropic', 'scripted']) {
      t.strictSame(await check({ llm: { provider } }), [], `llm ${provider}`);
    }
    for (const provider of ['elevenlabs', 'cartesia', 'sarvam', 'openai', 'scripted']) {
      const tts = {
        provider,
        voice: voiceOf(provider),
        ...(provider === 'sarvam' ? { language: 'hi-IN' } : {}),
      };
      t.strictSame(await check({ tts }), [], `tts ${provider}`);
    }
  },
);

function voiceOf(provider: string): string {
  return provider === 'sarvam' ? 'shubh' : provider === 'openai' ? 'alloy' : 'voice123';
}

t.test('a setting that the vendor would refuse is an error at its key', async (t) => {
  const wrong = async (change: Partial<BotContent>, what: string) =>
    t.strictSame(
      (await whats(change)).filter((one) => one.startsWith('error')),
      [what],
    );
  await wrong({ stt: { provider: 'deepgram', endpointing_ms: 2 } }, 'error provider /stt/endpointing_ms');
  await wrong(
    { stt: { provider: 'deepgram_flux', eot_threshold: 0.2 } },
    'error provider /stt/eot_threshold',
  );
  await wrong(
    { llm: { provider: 'gemini', model: 'gemini-3.8-flash', reasoning: 'minimal' } },
    'error provider /llm/reasoning',
  );
  await wrong(
    { llm: { provider: 'anthropic', model: 'claude-haiku-5-5', temperature: 0.3 } },
    'error provider /llm/temperature',
  );
  await wrong(
    { tts: { provider: 'elevenlabs', voice: 'v1', stability: 3 } },
    'error provider /tts/stability',
  );
  await wrong(
    {
      llm: { provider: 'scripted', fallbacks: [{ provider: 'openai', model: 'gpt-4.1', reasoning: 'high' }] },
    },
    'error provider /llm/fallbacks/0/reasoning',
  );
  await wrong(
    { post_call_llm: { provider: 'gemini', model: 'gemini-3.8-flash', reasoning: 'none' } },
    'error provider /post_call_llm/reasoning',
  );
});

t.test('tools and reasoning together are refused where the model refuses them', async (t) => {
  const llm = { provider: 'openai', model: 'gpt-6-luna', reasoning: 'low' };
  t.strictSame(await whats({ llm }), []);
  t.strictSame(await whats({ llm, tools: [{ type: 'built_in', name: 'end_call' }] }), [
    'error provider /llm/reasoning',
  ]);
});

t.test('names that no table knows, and models that end soon, are warnings', async (t) => {
  t.strictSame(await whats({ stt: { provider: 'deepgram', model: 'nova-9' } }), [
    'warning provider_model /stt/model',
  ]);
  t.strictSame(await whats({ llm: { provider: 'gemini', model: 'gemini-9-ultra' } }), [
    'warning provider_model /llm/model',
  ]);
  const soon = await check({ llm: { provider: 'openai', model: 'gpt-4o' } });
  t.match(soon, [{ what: 'warning provider_model /llm/model', message: /2027-01-14/ }]);
  t.strictSame(await whats({ tts: { provider: 'elevenlabs', voice: 'v1', model: 'eleven_v3' } }), [
    'warning provider_model /tts/model',
  ]);
});

t.test('a missing key is a warning that names the provider', async (t) => {
  const stt = { provider: 'soniox' };
  t.match(await check({ stt }, { keys: [] }), [
    { what: 'warning provider_key /stt', message: /no key for soniox/ },
  ]);
  t.strictSame(await whats({ stt: { provider: 'deepgram_flux' } }, { keys: ['deepgram'] }), []);
});

t.test('a key of the settings is not sent to a strange host, and validation says so', async (t) => {
  const elsewhere = { provider: 'deepgram', base_url: 'wss://stt.example.com/deepgram' };
  t.strictSame(await whats({ stt: elsewhere }), ['error provider_key /stt/base_url']);
  t.strictSame(await whats({ stt: elsewhere }, { origins: ['https://stt.example.com'] }), []);
  t.strictSame(await whats({ stt: { provider: 'deepgram', base_url: 'wss://api.eu.deepgram.com' } }), []);
  const plain = { provider: 'deepgram', base_url: 'ws://api.deepgram.com' };
  t.strictSame(
    await whats({ stt: plain }),
    ['warning provider_address /stt/base_url', 'error provider_key /stt/base_url'],
    'without encryption it is no longer the vendor',
  );
});

t.test('a key stands in no bot, not in the block for work after the call either', async (t) => {
  for (const post_call_llm of [
    { provider: 'openai', api_key: 'sk-1' },
    { provider: 'scripted', fallbacks: [{ provider: 'openai', api_key: 'sk-1' }] },
  ]) {
    await t.rejects(check({ post_call_llm }), { code: 'validation_error' });
  }
});

t.test('a local server with the interface of OpenAI needs no key', async (t) => {
  const local = {
    stt: { provider: 'openai', base_url: 'http://127.0.0.1:9000/v1', model: 'whisper-large' },
    llm: { provider: 'openai', profile: 'compat', base_url: 'http://10.1.2.3:8000/v1', model: 'qwen' },
    tts: { provider: 'openai', base_url: 'http://speech.lan:8880/v1', model: 'kokoro', voice: 'af' },
  };
  t.strictSame(await check(local, { keys: [] }), []);
  t.strictSame(await whats(local), [
    'warning provider_key /stt/base_url',
    'warning provider_key /llm/base_url',
    'warning provider_key /tts/base_url',
  ]);
});

t.test('addresses that no bot may lead to are errors, unless an admin lists them', async (t) => {
  const leadTo = (base_url: unknown, origins: string[] = []) =>
    whats(
      { llm: { provider: 'openai', model: 'm', profile: 'compat', base_url } as ProviderConfig },
      {
        keys: [],
        origins,
      },
    );
  const refused = ['error provider_address /llm/base_url'];
  for (const address of [
    'http://169.254.169.254/v1',
    'http://[fd00:ec2::254]/v1',
    'http://metadata.google.internal/v1',
    'http://[::ffff:169.254.169.254]/v1',
    'http://0.0.0.0:8000/v1',
    'ftp://10.1.2.3/v1',
    'https://user:word@models.example.com/v1',
    'models.example.com',
    17,
  ]) {
    t.strictSame(await leadTo(address), refused, String(address));
  }
  t.strictSame(await leadTo('http://169.254.169.254/v1', ['http://169.254.169.254']), []);
  t.strictSame(await leadTo('http://models.example.com/v1'), ['warning provider_address /llm/base_url']);
  t.strictSame(await leadTo('http://93.184.216.34/v1'), ['warning provider_address /llm/base_url']);
  t.strictSame(await leadTo('https://models.example.com/v1'), []);
  t.strictSame(await leadTo('http://localhost:11434/v1'), []);
});
