import t from 'tap';
import { Compile } from 'typebox/compile';
import type { Bot } from '../../../src/contracts/bot.ts';
import { RuntimeConfig } from '../../../src/contracts/runtime-config.ts';
import { configHarness } from '../../harness/config-harness.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const schema = Compile(RuntimeConfig);
const POLICY = {
  role: 'You are Meera of {{call.company}}.',
  goal: 'Agree on a day.',
  steps: [{ name: 'ask', instruction: 'Ask {{crm.name}} for a day.', tool: 'end_call' }],
  escalation: { when: ['The caller asks for a person.'], target: 'desk' },
  closure_phrases: ['Goodbye {{crm.name}}'],
};

t.test(
  'R179 every field of the config response is there, for the plainest bot and the fullest',
  async (t) => {
    const harness = configHarness(t);
    const full: Partial<Bot> = {
      post_call_analysis_prompt: 'Analyse.',
      qc_prompt: 'Judge.',
      post_call_cache: { enabled: true },
      live_prompt_cache: { enabled: true },
      ambient_sound: { enabled: true, sound: 'cafe' },
      agent_desk: { enabled: true, context: { who: '{{crm.name}}' } },
    };
    for (const bot of [{}, full]) {
      const served = await harness.call(bot);
      t.ok(schema.Check(served), JSON.stringify(schema.Errors(served)));
      const optional = ['callback_detection', 'record_agent_leg', 'billing_increment_seconds'];
      const named = Object.keys(RuntimeConfig.properties).filter((name) => !optional.includes(name));
      t.strictSame(
        named.filter((name) => !(name in served)),
        [],
      );
    }
  },
);

t.test('R55 R85 each call has a UUID of its own, unless the campaign names the session', async (t) => {
  const harness = configHarness(t);
  const first = await harness.call({});
  const second = await harness.open('clinic');
  t.match(first.session_id, UUID);
  t.match(second.session_id, UUID);
  t.not(first.session_id, second.session_id);
  t.equal((await harness.open('clinic', { _campaign_session_id: 'run-7' })).session_id, 'run-7');
});

t.test('R56 results go to the address of this plane', async (t) => {
  t.equal((await configHarness(t).call({})).webhook_url, 'https://calls.example.com/api/v1/call-results');
});

t.test(
  'R57 R42 a direct bot gets its own prompt, a policy bot one that is built from the policy',
  async (t) => {
    const harness = configHarness(t);
    const direct = await harness.call({ system_prompt: 'Be kind.\nHello {{crm.name}}.' }, { name: 'Asha' });
    t.equal(direct.system_prompt, 'Be kind.\nHello Asha.');
    t.equal(direct.conversation_policy, null);

    const policy = await harness.call(
      { conversation_policy: POLICY, system_prompt: 'The office is in {{call.city}}.' },
      { name: 'Asha', company: 'Axis', city: 'Pune' },
    );
    t.equal(
      policy.system_prompt,
      [
        'You are Meera of Axis.',
        '# Goal\n- Agree on a day.',
        '# Steps, in this order\n1. ask: Ask Asha for a day. Use the tool end_call.',
        '# Passing on\nTransfer the caller to desk when:\n- The caller asks for a person.',
        '# Background\nThe office is in Pune.',
      ].join('\n\n'),
    );
    t.equal(policy.prompt_parts, undefined, 'prompt_parts is for direct bots');
    t.match(
      policy.conversation_policy,
      { closure_phrases: ['Goodbye Asha'] },
      'rendered for the slot to obey',
    );
  },
);

t.test('R58 prompt_parts has all its keys, and its version follows the static half only', async (t) => {
  const harness = configHarness(t);
  const bot = { system_prompt: 'Fixed.\nYou speak with {{crm.name}}.' };
  const plain = (await harness.call(bot, { name: 'Asha' })).prompt_parts;
  t.match(plain, {
    mode: 'direct',
    cache_enabled: false,
    static_system_prompt: 'Fixed.\n',
    dynamic_runtime_prompt: 'You speak with Asha.',
    static_version: /^[0-9a-f]{16}$/,
    cache_key: null,
    cache_retention: null,
    cache_ttl_seconds: null,
  });
  const cache = { enabled: true, retention: '24h', ttl_seconds: 900 } as const;
  const cached = (await harness.call({ ...bot, live_prompt_cache: cache }, { name: 'Ravi' })).prompt_parts;
  t.match(cached, {
    cache_enabled: true,
    static_version: plain?.static_version,
    cache_key: `clinic:${plain?.static_version}`,
    cache_retention: '24h',
    cache_ttl_seconds: 900,
  });
  const other = await harness.call({ system_prompt: 'Fixed!\nYou speak with {{crm.name}}.' });
  t.not(other.prompt_parts?.static_version, plain?.static_version);
});

t.test('R59 the opening message is rendered', async (t) => {
  const served = await configHarness(t).call({ opening_message: 'Namaste {{crm.name}}.' }, { name: 'Asha' });
  t.equal(served.opening_message, 'Namaste Asha.');
});

t.test('the tuning of the pipeline is served as the bot has it', async (t) => {
  const harness = configHarness(t);
  const served = await harness.call(
    {
      vad: { start_ms: 200, turn_model: 'off' },
      min_words_interruption: 3,
      re_engagement: { enabled: true, after_seconds: 5, prompts: ['{{crm.name}}, are you there?'] },
      ambient_sound: { enabled: true, sound: 'office', gain_db: -30 },
    },
    { name: 'Asha' },
  );
  t.match(served, {
    vad: { start_ms: 200, turn_model: 'off' },
    min_words_interruption: 3,
    re_engagement: { enabled: true, after_seconds: 5, prompts: ['Asha, are you there?'] },
    ambient_sound: { enabled: true, sound: 'office', gain_db: -30 },
  });
  t.equal((await harness.call({})).ambient_sound, null);
});

t.test('RT-41 the pronunciations of a bot are served with its config', async (t) => {
  const harness = configHarness(t);
  const pronunciations = [{ word: 'Meera', spoken: 'Mee rah' }];
  t.same((await harness.call({ pronunciations })).pronunciations, pronunciations);
  t.same((await harness.call({})).pronunciations, []);
});

t.test('R61 the keys of the system settings are injected, fallbacks included', async (t) => {
  const keys: Record<string, string> = { deepgram: 'key-d', openai: 'key-o', sarvam: 'key-s' };
  const harness = configHarness(t, { settings: { providerKey: (provider) => keys[provider] ?? null } });
  const served = await harness.call({
    stt: { provider: 'deepgram_flux', language: 'hi', fallbacks: [{ provider: 'sarvam' }] },
    llm: { provider: 'openai', model: 'm' },
    tts: { provider: 'espeak' },
  });
  t.strictSame(served.stt, {
    provider: 'deepgram_flux',
    language: 'hi',
    fallbacks: [{ provider: 'sarvam', api_key: 'key-s' }],
    api_key: 'key-d',
  });
  t.strictSame(served.llm, { provider: 'openai', model: 'm', api_key: 'key-o' });
  t.strictSame(served.tts, { provider: 'espeak' }, 'a local engine needs none');
  t.strictSame(
    (await harness.bots.get('clinic'))?.llm,
    { provider: 'openai', model: 'm' },
    'the bot has none',
  );
});

t.test('R62 tools come with their parameters, and voicemail detection brings its own', async (t) => {
  const harness = configHarness(t);
  const book = {
    type: 'http',
    name: 'book',
    description: 'Book a visit.',
    parameters: { type: 'object', properties: { day: { type: 'string' } } },
    method: 'POST',
    url: 'https://crm.example.com/{{crm.id}}',
    headers: { authorization: 'Bearer {{secret.crm_token}}', 'x-caller': '{{call.caller_id}}' },
    body: { day: '{{args.day}}' },
  } as const;
  const served = await harness.call(
    {
      tools: [{ type: 'built_in', name: 'end_call' }, { type: 'built_in', name: 'transfer_call' }, book],
      transfer_numbers: { desk: '+912240000001' },
      voicemail_detection: { enabled: true, description: 'A machine.' },
    },
    { id: '7', caller_id: '{{secret.crm_token}}' },
  );
  t.strictSame(
    served.tools.map((tool) => tool.name),
    ['end_call', 'transfer_call', 'book', 'detected_voicemail'],
  );
  for (const tool of served.tools) t.match(tool, { description: /./, parameters: { type: 'object' } });
  t.match(served.tools[1], {
    parameters: { properties: { target: { enum: ['desk'] } }, required: ['target'] },
  });
  t.match(served.tools[2], {
    url: 'https://crm.example.com/{{crm.id}}',
    headers: { authorization: 'Bearer token-of-the-crm', 'x-caller': '{{call.caller_id}}' },
    body: { day: '{{args.day}}' },
  });
  t.equal(served.tools[3]?.description, 'A machine.');
  const off = await harness.call({ voicemail_detection: { enabled: false } });
  t.strictSame(off.tools, []);
});

t.test('R41 transfers: numbers, targets and the message before, with their variables filled', async (t) => {
  const served = await configHarness(t).call(
    {
      transfer_numbers: { desk: '+912240000001', own: '{{crm.branch}}' },
      transfer_targets: [
        { name: 'sales', destination: 'sip:sales@pbx.example.com', headers: { 'X-Customer': '{{crm.id}}' } },
      ],
      pre_transfer_message: 'One moment, {{crm.name}}.',
    },
    { name: 'Asha', id: '7', branch: '+912240000009' },
  );
  t.strictSame(served.transfer_numbers, { desk: '+912240000001', own: '+912240000009' });
  t.strictSame(served.transfer_targets, [
    { name: 'sales', destination: 'sip:sales@pbx.example.com', headers: { 'X-Customer': '7' } },
  ]);
  t.equal(served.pre_transfer_message, 'One moment, Asha.');
});

t.test('R64 R82 post-call prompts are rendered like the prompt, or null', async (t) => {
  const harness = configHarness(t);
  const served = await harness.call(
    { post_call_analysis_prompt: 'Did {{crm.name}} agree?', qc_prompt: 'On {{system.timezone}} time?' },
    { name: 'Asha' },
  );
  t.equal(served.post_call_analysis_prompt, 'Did Asha agree?');
  t.equal(served.qc_prompt, 'On Asia/Kolkata time?');
  const none = await harness.call({});
  t.equal(none.post_call_analysis_prompt, null);
  t.equal(none.qc_prompt, null);
});

t.test('R65 the versions of the post-call caches follow their own prompt and the model', async (t) => {
  const harness = configHarness(t);
  const bot: Partial<Bot> = {
    post_call_analysis_prompt: 'Analyse.\n{{crm.name}}',
    qc_prompt: 'Judge.',
    post_call_cache: { enabled: true, ttl_seconds: 600 },
  };
  const base = await harness.call(bot, { name: 'Asha' });
  const cache = (config: RuntimeConfig) => config.post_call_cache as Record<string, unknown>;
  t.equal(base.post_call_cache_enabled, true);
  t.match(base.post_call_cache_version, /^[0-9a-f]{16}$/);
  t.match(cache(base), {
    analysis_version: /^[0-9a-f]{16}$/,
    qc_version: /^[0-9a-f]{16}$/,
    ttl_seconds: 600,
  });
  const sameCaller = await harness.open('clinic', { name: 'Ravi' });
  t.equal(sameCaller.post_call_cache_version, base.post_call_cache_version, 'not of the call');
  const qc = await harness.call({ ...bot, qc_prompt: 'Judge well.' });
  t.equal(cache(qc).analysis_version, cache(base).analysis_version);
  t.not(cache(qc).qc_version, cache(base).qc_version);
  t.not(qc.post_call_cache_version, base.post_call_cache_version);
  const model = await harness.call({ ...bot, llm: { provider: 'scripted', model: 'other' } });
  t.not(cache(model).analysis_version, cache(base).analysis_version);
  t.match(await harness.call({ qc_prompt: 'x' }), {
    post_call_cache_enabled: false,
    post_call_cache_version: null,
    post_call_cache: null,
  });
});

t.test('R66 the live prompt cache is served while its entry holds this prompt and lives', async (t) => {
  const harness = configHarness(t);
  const bot: Partial<Bot> = { live_prompt_cache: { enabled: true } };
  const empty = { cache_name: null, expires_at: null };
  const before = await harness.call(bot);
  t.strictSame(before.live_prompt_cache_state, empty);
  const entry = {
    static_version: before.prompt_parts?.static_version ?? '',
    cache_name: 'cachedContents/7',
    expires_at: '2026-03-02T06:40:00.000Z',
  };
  await harness.livePromptCaches.put('clinic', entry);
  t.strictSame((await harness.open('clinic')).live_prompt_cache_state, {
    cache_name: 'cachedContents/7',
    expires_at: '2026-03-02T06:40:00.000Z',
  });
  t.strictSame((await harness.call({ ...bot, system_prompt: 'Other.' })).live_prompt_cache_state, empty);
  harness.clock.wallIso = '2026-03-02T06:40:00.000Z';
  t.strictSame((await harness.call(bot)).live_prompt_cache_state, empty, 'expired');
  t.strictSame((await harness.call({})).live_prompt_cache_state, empty, 'not enabled');
  t.strictSame(
    (await harness.call({ ...bot, conversation_policy: POLICY })).live_prompt_cache_state,
    empty,
    'a policy bot caches nothing',
  );
});

t.test('R67 the contexts are flat maps for tools and transfers', async (t) => {
  const served = await configHarness(t).call(
    { sip_header_config: { prefixes: ['X-Crm-'] } },
    { city: 'Pune', _mock_crm: { id: 7 }, sip_candidate_headers: { 'X-Crm-Plan': 'gold' } },
  );
  t.strictSame(served.sip_context, { crm_plan: 'gold' });
  t.strictSame(served.call_context, { crm_plan: 'gold', city: 'Pune' });
  t.strictSame(served.crm_context, { city: 'Pune', id: 7 });
});

t.test('R67 what is nested becomes scalars: its JSON, and each value under a dotted name', async (t) => {
  const loan = { due: 12, parts: [{ on: 'Monday' }], note: null };
  const event = { city: 'Pune', loan, 'loan.due': 'own', none: [] };
  const flat = {
    city: 'Pune',
    loan: JSON.stringify(loan),
    'loan.due': 'own',
    'loan.parts.0.on': 'Monday',
    'loan.note': null,
    none: '[]',
  };
  const served = await configHarness(t).call({ system_prompt: 'Owes {{crm.loan}}.' }, event);
  t.strictSame(served.call_context, flat);
  t.strictSame(served.crm_context, flat);
  t.equal(served.system_prompt, `Owes ${JSON.stringify(loan)}.`);
});

t.test('R68 R41 knowledge needs the system, the bot and bases that exist', async (t) => {
  let system = true;
  const harness = configHarness(t, { settings: { knowledgeEnabled: () => system } });
  harness.knowledgeBases.add('kb_1');
  const tools: Bot['tools'] = [{ type: 'built_in', name: 'search_knowledge' }];
  const ask = (knowledge: Bot['knowledge']) => harness.call({ knowledge: knowledge ?? null, tools });
  const on = await ask({ enabled: true, knowledge_base_ids: ['kb_1'], top_k: 3 });
  t.strictSame(on.knowledge, { enabled: true, knowledge_base_ids: ['kb_1'], top_k: 3, min_score: 0.2 });
  t.match(on.tools, [{ name: 'search_knowledge' }]);
  for (const knowledge of [
    { enabled: false, knowledge_base_ids: ['kb_1'] },
    { enabled: true, knowledge_base_ids: ['kb_1', 'kb_2'] },
    { enabled: true, knowledge_base_ids: [] },
    null,
  ]) {
    const served = await ask(knowledge);
    t.strictSame(served.knowledge, { enabled: false });
    t.strictSame(served.tools, [], 'nothing to search, no tool');
  }
  system = false;
  t.strictSame((await ask({ enabled: true, knowledge_base_ids: ['kb_1'] })).knowledge, { enabled: false });
});

t.test('R69 callbacks are detected only where the campaign of the call wants it', async (t) => {
  const harness = configHarness(t);
  const campaign = { name: 'x', bot_id: 'clinic', created_at: '', updated_at: '' };
  await harness.campaigns.put({ ...campaign, campaign_id: 'yes', callback_detection_enabled: true });
  await harness.campaigns.put({ ...campaign, campaign_id: 'no', callback_detection_enabled: false });
  const bot: Partial<Bot> = { callback_detection: { instructions: 'Evening is 18:00.' } };
  t.match(await harness.call(bot, { _campaign_id: 'yes' }), {
    callback_detection_enabled: true,
    callback_detection: { instructions: 'Evening is 18:00.' },
  });
  for (const event of [{ _campaign_id: 'no' }, { _campaign_id: 'unknown' }, {}]) {
    t.match(await harness.open('clinic', event), {
      callback_detection_enabled: false,
      callback_detection: null,
    });
  }
});

t.test('R70 the object storage of the settings is served', async (t) => {
  const storage = { endpoint: 'https://s3.example.com', bucket: 'calls', region: 'x' };
  const harness = configHarness(t, { settings: { objectStorage: () => storage } });
  t.strictSame((await harness.call({})).minio, storage);
  t.equal((await configHarness(t).call({})).minio, null);
});

t.test('R82 the desk is on where the bot says so, with a rendered context', async (t) => {
  const harness = configHarness(t);
  const event = { name: 'Asha', due: 500 };
  const object = await harness.call(
    { agent_desk: { enabled: true, context: { who: '{{crm.name}}', deep: [{ due: '{{crm.due}}' }] } } },
    event,
  );
  t.equal(object.agent_desk_enabled, true);
  t.strictSame(object.agent_desk_context, { who: 'Asha', deep: [{ due: '500' }] });
  const text = await harness.call({ agent_desk: { enabled: true, context: 'For {{crm.name}}' } }, event);
  t.equal(text.agent_desk_context, 'For Asha');
  t.match(await harness.call({ agent_desk: { enabled: false, context: 'x' } }), {
    agent_desk_enabled: false,
    agent_desk_context: null,
  });
});

t.test('RT-27 RT-29 voicemail detection is served with its phrases, and its answer rendered', async (t) => {
  const harness = configHarness(t);
  const detection = {
    enabled: true,
    description: 'A machine.',
    phrases: ['acme * night line'],
    screening_phrases: ['gate keeper'],
    screening_answer: 'We call {{crm.name}}.',
  };
  const { description: _, ...settings } = detection;
  t.same((await harness.call({ voicemail_detection: detection }, { name: 'Asha' })).voicemail_detection, {
    ...settings,
    screening_answer: 'We call Asha.',
  });
  t.equal(
    (await harness.call({ voicemail_detection: { ...detection, enabled: false } })).voicemail_detection,
    null,
  );
  t.equal((await harness.call({})).voicemail_detection, null);
});

t.test('R73 R74 R75 R76 the small runtime fields', async (t) => {
  const rules = [{ disposition: 'Short', when: { max_duration_seconds: 5 } }];
  const served = await configHarness(t).call(
    {
      auto_dispositions: rules,
      voicemail_message: 'We called {{crm.name}}.',
      max_call_duration_seconds: 240,
      billing_increment_seconds: 60,
      timezone: 'Europe/Berlin',
    },
    { name: 'Asha' },
  );
  t.match(served, {
    auto_dispositions: rules,
    voicemail_message: 'We called Asha.',
    max_call_duration_seconds: 240,
    billing_increment_seconds: 60,
    timezone: 'Europe/Berlin',
    bot_id: 'clinic',
  });
});
