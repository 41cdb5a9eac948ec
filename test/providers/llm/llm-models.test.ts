import t from 'tap';
import { capabilitiesOf, checkLlmConfig } from '../../../src/providers/llm/llm-models.ts';
import { openLlm } from '../../../src/providers/open-providers.ts';
import { findProvider, providersOf } from '../../../src/providers/vendors/all-vendors.ts';

const TODAY = { hasTools: true, today: '2026-11-20' };

/** What the vendor of the config would say. */
function check(config: { provider: string }, use = TODAY): ReturnType<typeof checkLlmConfig> {
  const models = findProvider('llm', config.provider)?.models;
  return models ? checkLlmConfig(models, config, use) : [];
}

/** `severity key` of each finding. */
function found(config: { provider: string; [key: string]: unknown }, use = TODAY): string[] {
  return check(config, use).map(({ severity, key }) => `${severity} ${key}`);
}

t.test('R8 what a model would refuse is found by key', (t) => {
  const cases: [{ provider: string; [key: string]: unknown }, string[]][] = [
    [{ provider: 'openai', model: 'gpt-4.1', reasoning: 'low' }, ['warning model', 'error reasoning']],
    [{ provider: 'openai', model: 'gpt-5', temperature: 0.2 }, ['warning model', 'error temperature']],
    [{ provider: 'openai', model: 'gpt-6-luna', reasoning: 'low' }, ['error reasoning']],
    [{ provider: 'openai', model: 'gpt-6-luna', reasoning: 'low', api: 'responses' }, []],
    [{ provider: 'openai', model: 'gpt-6-luna', temperature: 0.5 }, []],
    [{ provider: 'openai', model: 'gpt-4.1-nano' }, ['error model']],
    [
      { provider: 'openai', model: 'gpt-4o', max_output_tokens: 20_000 },
      ['warning model', 'error max_output_tokens'],
    ],
    [{ provider: 'gemini', model: 'gemini-3.8-flash', reasoning: 'minimal' }, ['error reasoning']],
    [{ provider: 'gemini', model: 'gemini-3.5-flash-lite', reasoning: 'minimal' }, []],
    [{ provider: 'gemini', model: 'gemini-3.5-flash-lite', temperature: 0.2 }, ['warning temperature']],
    [{ provider: 'gemini', model: 'gemini-2.5-flash', reasoning: 'none', temperature: 0.2 }, []],
    [{ provider: 'anthropic', model: 'claude-haiku-5-5', temperature: 1 }, ['error temperature']],
    [{ provider: 'anthropic', model: 'claude-haiku-4-5', temperature: 1 }, ['error temperature']],
    [{ provider: 'anthropic', model: 'claude-haiku-4-5', temperature: 1, api_version: '2023-06-01' }, []],
    [{ provider: 'anthropic', model: 'claude-haiku-5-5', reasoning: 'minimal' }, ['error reasoning']],
    [{ provider: 'anthropic', reasoning: 'a lot' }, ['error reasoning']],
  ];
  for (const [config, expected] of cases) t.same(found(config), expected, JSON.stringify(config));
  t.end();
});

t.test('R8 tools and reasoning are only at odds where there are tools', (t) => {
  const config = { provider: 'openai', model: 'gpt-5.6', reasoning: 'high' };
  t.same(found(config, { ...TODAY, hasTools: true }), ['error reasoning']);
  t.same(found(config, { ...TODAY, hasTools: false }), []);
  t.end();
});

t.test("R8 an unknown model is a warning, a local one is the operator's own", (t) => {
  t.same(found({ provider: 'openai', model: 'gpt-9', temperature: 0.2, reasoning: 'high' }), [
    'warning model',
  ]);
  t.same(found({ provider: 'openai', profile: 'compat', model: 'gpt-4.1', temperature: 0.2 }), []);
  t.same(found({ provider: 'openai', profile: 'compat', model: 'x', reasoning: 'low' }), ['error reasoning']);
  t.same(found({ provider: 'scripted' }), []);
  t.end();
});

t.test('R8 a model that is going is a warning until its day and an error from then on', (t) => {
  const config = { provider: 'openai', model: 'gpt-5-mini' };
  t.same(found(config, { ...TODAY, today: '2026-12-10' }), ['warning model']);
  t.same(found(config, { ...TODAY, today: '2026-12-11' }), ['error model']);
  t.end();
});

t.test('R8 the models that are used without a choice are known, and pass', (t) => {
  for (const { name: provider, models: known } of providersOf('llm')) {
    if (!known) continue;
    t.ok(capabilitiesOf(known, known.defaultModel), known.defaultModel);
    t.same(found({ provider }), []);
    for (const row of known.models) t.ok(row.reasoning.length > 0, `${row.pattern} has a level of reasoning`);
  }
  t.end();
});

t.test('R8 what the check refuses, the client refuses too', async (t) => {
  const configs = [
    { provider: 'openai', model: 'gpt-4.1', reasoning: 'low' },
    { provider: 'gemini', model: 'gemini-3.8-flash', reasoning: 'minimal' },
    { provider: 'anthropic', model: 'claude-haiku-5-5', temperature: 0.5 },
  ];
  for (const config of configs) {
    const [finding] = check(config).filter(({ severity }) => severity === 'error');
    await t.rejects(openLlm({ ...config, api_key: 'k' }), {
      code: 'bad_provider_config',
      message: `llm.${finding?.key} ${finding?.sentence}`,
    });
  }
});
