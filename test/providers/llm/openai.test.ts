import t, { type Test } from 'tap';
import type { LlmRequest } from '../../../src/providers/contract/language-model.ts';
import type { ProviderContext } from '../../../src/providers/contract/provider-context.ts';
import { textOfTokens } from '../../emulators/llm/tokens.ts';
import { startOpenAi } from '../../emulators/openai.ts';
import { type CompatOptions, startCompat } from '../../emulators/openai-compat.ts';
import type { OpenAiOptions } from '../../emulators/openai-house.ts';
import { until } from '../../harness/wait.ts';
import { afterTools, ask, BALANCE_TOOL, listening, ORDER_TOOL, open, user } from './asking.ts';

const MODEL = 'gpt-6-luna';
const TOOLS = [BALANCE_TOOL, ORDER_TOOL];

async function house(
  t: Test,
  options: OpenAiOptions & { config?: Record<string, unknown>; context?: ProviderContext } = {},
) {
  const vendor = await startOpenAi(options);
  t.teardown(() => vendor.close());
  const config = {
    provider: 'openai',
    model: MODEL,
    api_key: vendor.apiKey,
    base_url: vendor.url,
    ...options.config,
  };
  return { vendor, config, llm: await open(t, config, options.context) };
}

function cached(text: string, hints: { key?: string; retention?: string; tokens?: number } = {}): LlmRequest {
  const staticText = textOfTokens(hints.tokens ?? 1_500);
  return {
    system: `${staticText}\n\nThe caller is Asha.`,
    systemParts: {
      staticText,
      dynamicText: 'The caller is Asha.',
      version: 'static-7',
      cacheKey: hints.key ?? 'bot-1-static-7',
      retention: hints.retention ?? null,
      ttlSeconds: null,
    },
    messages: [user(text)],
    tools: [BALANCE_TOOL],
  };
}

t.test('R8 openai: an answer is streamed with the settings of a voice call', async (t) => {
  const { vendor, llm } = await house(t);
  const answer = await ask(llm, { messages: [user('Where is it?')], tools: TOOLS });
  t.match(answer.text, /You said: Where is it\?/);
  t.equal(answer.finish, 'stop');
  t.ok(answer.deltas.filter((delta) => delta.type === 'text').length > 3, 'the text comes in pieces');
  t.match(vendor.desk.served[0]?.body, {
    model: MODEL,
    stream: true,
    stream_options: { include_usage: true, include_obfuscation: false },
    reasoning_effort: 'none',
    max_completion_tokens: 1_024,
  });
  t.match(answer.usage, { cacheReadTokens: 0, cacheCreationTokens: null });
  t.equal(answer.usage?.promptTokens, vendor.desk.served[0]?.usage?.prompt_tokens);
  t.equal(answer.cache, null, 'a bot that caches nothing says nothing of a cache');
  t.same(vendor.violations.list, []);
});

t.test('R8 openai: two calls whose fragments alternate are joined', async (t) => {
  const calls = [
    { name: 'get_balance', args: { account: 'नमस्ते "A" \\ 1' }, fragments: 3 },
    { name: 'get_order', args: { order: '9\n' }, fragments: 2 },
  ];
  for (const splitEvery of [40, undefined]) {
    const script = { toolCalls: calls, interleave: true, ...(splitEvery && { splitEvery }) };
    const { vendor, llm } = await house(t, { answers: [script] });
    const messages = [user('Both')];
    const answer = await ask(llm, { messages, tools: TOOLS });
    t.match(answer.calls, [
      { name: 'get_balance', args: calls[0]?.args },
      { name: 'get_order', args: calls[1]?.args },
    ]);
    t.equal(answer.finish, 'tool_calls');
    const next = await ask(llm, {
      messages: afterTools(messages, answer, [{ amount: 7 }, 'sent']),
      tools: TOOLS,
    });
    t.match(next.text, /7/);
    t.same(vendor.violations.list, []);
  }
});

t.test('R8 openai: arguments cut inside an escape and inside a character are joined', async (t) => {
  const pieces = ['{"account":"\\u0', '9', '28 \\', 'n \\"', '😀'.slice(0, 1), '😀'.slice(1), '"}'];
  const { llm } = await house(t, {
    answers: [{ toolCalls: [{ name: 'get_balance', args: pieces.join(''), fragments: pieces }] }],
  });
  const answer = await ask(llm, { messages: [user('Balance')], tools: TOOLS });
  t.same(answer.calls[0]?.args, JSON.parse(pieces.join('')));
});

t.test('R8 openai: arguments that are no JSON object fail as content, and no tool runs', async (t) => {
  for (const args of ['{"account":', '[1]', '"text"', 'nonsense']) {
    const { llm } = await house(t, { answers: [{ toolCalls: [{ name: 'get_balance', args }] }] });
    const answer = await ask(llm, { messages: [user('Balance')], tools: TOOLS });
    t.match(answer.failure, { class: 'content', vendorCode: 'invalid_tool_arguments' }, args);
    t.same(answer.calls, []);
  }
  const { llm } = await house(t, { answers: [{ toolCalls: [{ name: 'get_balance', args: '' }] }] });
  const answer = await ask(llm, { messages: [user('Balance')], tools: TOOLS });
  t.same(answer.calls[0]?.args, {}, 'no text at all means no arguments');
});

t.test('R8 openai: comments, obfuscation and a missing [DONE] do no harm', async (t) => {
  for (const script of [
    { text: 'All is well.', noise: true },
    { text: 'All is well.', fault: { kind: 'no_done' } },
    { text: 'All is well.', fault: { kind: 'duplicate_final' } },
  ] as const) {
    const { llm } = await house(t, { answers: [script] });
    const answer = await ask(llm, 'Well?');
    t.equal(answer.text, 'All is well.');
    t.equal(answer.finish, 'stop');
    t.type(answer.usage?.promptTokens, 'number');
  }
});

t.test('R8 openai: what a model would refuse is refused before a call begins', async (t) => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ model: 'gpt-4.1', reasoning: 'low' }, /llm\.reasoning/],
    [{ model: 'gpt-5', temperature: 0.2 }, /llm\.temperature/],
    [{ model: 'gpt-6-luna', reasoning: 'low', temperature: 0.2 }, /llm\.temperature/],
    [{ model: 'gpt-5', reasoning: 'none' }, /llm\.reasoning/],
    [{ reasoning: 'plenty' }, /llm\.reasoning/],
    [{ base_url: 'ftp://host' }, /llm\.base_url/],
    [{ base_url: 'https://user:secret@host/v1' }, /llm\.base_url/],
    [{ profile: 'other' }, /llm\.profile/],
    [{ api_key: null }, /llm\.api_key/],
    [{ max_output_tokens: 0 }, /llm\.max_output_tokens/],
  ];
  const { vendor, config } = await house(t);
  for (const [change, named] of cases) {
    await t.rejects(open(t, { ...config, ...change }), { code: 'bad_provider_config', message: named });
  }
  const llm = await open(t, { ...config, reasoning: 'medium' });
  const answer = await ask(llm, { messages: [user('Hi')], tools: TOOLS });
  t.match(answer.error, { code: 'bad_provider_config', message: /llm\.reasoning must be none/ });
  t.equal(vendor.counters().requests, 0, 'the vendor was never asked');
});

t.test('R8 openai: each family gets the fields that it takes', async (t) => {
  const cases: Record<string, unknown>[] = [
    { model: 'gpt-4.1', temperature: 0.3 },
    { model: 'gpt-4o-mini' },
    { model: 'gpt-5-mini' },
    { model: 'gpt-5.2', temperature: 0.7 },
    { model: 'gpt-5.5', reasoning: 'low' },
    { model: 'gpt-6-luna', temperature: 0.7 },
    { model: 'gpt-6-luna', reasoning: 'high', api: 'responses' },
  ];
  for (const config of cases) {
    const { vendor, llm } = await house(t, { config });
    const answer = await ask(llm, { messages: [user('Hi')], tools: TOOLS });
    t.equal(answer.error, null, JSON.stringify(config));
    t.same(vendor.violations.list, []);
  }
});

for (const api of ['chat', 'responses']) {
  t.test(`R8 R113 openai ${api}: hit and miss follow the real cached tokens`, async (t) => {
    const { vendor, llm } = await house(t, { config: { api } });
    const first = await ask(llm, cached('Hello'));
    t.same(first.cache, { enabled: true, status: 'miss', version: 'static-7', reason: null });
    const second = await ask(llm, cached('Hello again'));
    t.same(second.cache, { enabled: true, status: 'hit', version: 'static-7', reason: null });
    t.ok((second.usage?.cacheReadTokens ?? 0) >= 1_024);
    t.ok(
      (second.usage?.promptTokens ?? 0) > (second.usage?.cacheReadTokens ?? 0),
      'the prompt includes them',
    );
    const otherKey = await ask(llm, cached('Hello', { key: 'bot-2' }));
    t.equal(otherKey.cache?.status, 'miss', 'another key, another cache');
    const small = await ask(llm, cached('Hello', { tokens: 200 }));
    t.match(small.cache, { status: 'miss', reason: 'too_small' });
    t.equal(vendor.desk.served[0]?.body.prompt_cache_key, 'bot-1-static-7');
    t.same(vendor.violations.list, []);
  });

  t.test(`R8 openai ${api}: retention goes where the model takes it`, async (t) => {
    const cases: [string, string, unknown][] = [
      ['gpt-4.1', 'in_memory', { prompt_cache_retention: 'in_memory' }],
      ['gpt-5.5', '24h', { prompt_cache_retention: '24h' }],
      ['gpt-6-luna', '24h', { prompt_cache_retention: '24h' }],
      ['gpt-6-luna', 'in_memory', { prompt_cache_options: { mode: 'implicit', ttl: '30m' } }],
    ];
    for (const [model, retention, expected] of cases) {
      const { vendor, llm } = await house(t, { config: { api, model } });
      t.equal((await ask(llm, cached('Hello', { retention }))).error, null);
      t.match(vendor.desk.served[0]?.body, expected as object);
      t.same(vendor.desk.refused, []);
    }
  });

  t.test(`R8 openai ${api}: a refused hint is dropped, remembered, and the turn goes on`, async (t) => {
    // A model of its own for each API, since the process remembers.
    const model = `gpt-5.${api === 'chat' ? 2 : 3}`;
    const { vendor, llm } = await house(t, {
      config: { api, model },
      refuseParameters: ['prompt_cache_retention'],
    });
    const first = await ask(llm, cached('Hello', { retention: '24h' }));
    t.equal(first.error, null);
    t.match(first.text, /Hello/);
    t.equal(vendor.desk.refused.length, 1);
    const second = await ask(llm, cached('Hello again', { retention: '24h' }));
    t.equal(second.cache?.status, 'hit', 'the key is still sent');
    t.equal(vendor.desk.refused.length, 1, 'not asked twice');
  });
}

t.test('R8 openai: errors are told by class, at once and without the key', async (t) => {
  const cases = [
    [
      { kind: 'refuse', as: 'rate_limit', retryAfterMs: 1_500 },
      { class: 'rate_limit', status: 429 },
    ],
    [
      { kind: 'refuse', as: 'quota' },
      { class: 'quota', status: 429, vendorCode: 'insufficient_quota' },
    ],
    [
      { kind: 'refuse', as: 'auth' },
      { class: 'auth', status: 401 },
    ],
    [
      { kind: 'refuse', as: 'permission' },
      { class: 'auth', status: 403 },
    ],
    [
      { kind: 'refuse', as: 'not_found' },
      { class: 'config', status: 404 },
    ],
    [
      { kind: 'refuse', as: 'bad_request' },
      { class: 'config', status: 400 },
    ],
    [
      { kind: 'refuse', as: 'context_too_large' },
      { class: 'content', status: 400 },
    ],
    [
      { kind: 'refuse', as: 'server_error' },
      { class: 'transient', status: 500 },
    ],
    [
      { kind: 'refuse', as: 'unavailable' },
      { class: 'transient', status: 503 },
    ],
    [
      { kind: 'status', status: 502, body: '<html>Bad gateway</html>' },
      { class: 'transient', status: 502 },
    ],
    [{ kind: 'reset' }, { class: 'transient', status: null }],
  ] as const;
  for (const api of ['chat', 'responses']) {
    for (const [fault, expected] of cases) {
      const { vendor, llm } = await house(t, { config: { api }, answers: [{ fault }] });
      const answer = await ask(llm, 'Hello');
      t.match(answer.failure, { ...expected, provider: 'openai', family: 'llm' }, JSON.stringify(fault));
      t.equal(vendor.desk.served.length, 1, 'asked once');
      t.notMatch(String(answer.error) + JSON.stringify(answer.failure), new RegExp(vendor.apiKey));
    }
  }
});

t.test('R8 openai: a rate limit tells the wait exactly and names the request', async (t) => {
  const { llm } = await house(t, {
    answers: [{ fault: { kind: 'refuse', as: 'rate_limit', retryAfterMs: 1_250 } }],
  });
  const { failure } = await ask(llm, 'Hello');
  t.equal(failure?.retryAfterMs, 1_250);
  t.type(failure?.requestId, 'string');
});

t.test('R8 openai: a stream that breaks gives what came and then an error', async (t) => {
  for (const api of ['chat', 'responses']) {
    for (const fault of [
      { kind: 'cut', after: 2 },
      { kind: 'no_end' },
      { kind: 'malformed', after: 2 },
      { kind: 'error_event', after: 2, as: 'server_error' },
    ] as const) {
      const { llm } = await house(t, {
        config: { api },
        answers: [{ text: ['One ', 'two ', 'three '], fault }],
      });
      const answer = await ask(llm, 'Count');
      t.match(answer.text, /^One two /, `${api} ${fault.kind}`);
      t.equal(answer.failure?.class, 'transient', `${api} ${fault.kind}`);
      t.equal(answer.finish, null);
      t.notMatch(String(answer.error), /One|two/, 'what was said stays out of the error');
    }
  }
});

t.test('R8 openai responses: calls, thoughts and their results', async (t) => {
  const { vendor, llm } = await house(t, { config: { api: 'responses', reasoning: 'low' } });
  vendor.desk.script({
    thoughts: 'Look it up.',
    toolCalls: [{ name: 'get_balance', args: { account: 'A' } }],
  });
  const messages = [user('Balance')];
  const first = await ask(llm, { messages, tools: TOOLS });
  t.match(first.calls, [{ name: 'get_balance', args: { account: 'A' } }]);
  t.equal(first.text, '', 'thoughts are not spoken');
  t.equal(first.finish, 'tool_calls');
  const next = await ask(llm, { messages: afterTools(messages, first, [{ amount: 3 }]), tools: TOOLS });
  t.match(next.text, /3/);
  const input = vendor.desk.served[1]?.body.input as { type?: string }[];
  t.same(
    input.map((item) => item.type ?? 'message'),
    ['message', 'reasoning', 'function_call', 'function_call_output'],
    'the thoughts stand in front of the call that they led to',
  );
  t.same(vendor.violations.list, []);
});

t.test('R8 openai: each way to end is told', async (t) => {
  for (const api of ['chat', 'responses']) {
    const cases = [
      [{ text: 'Yes.', finish: 'stop' }, 'stop'],
      [{ text: 'Yes, and', finish: 'length' }, 'length'],
      [{ text: 'Yes', finish: 'refused' }, 'refused'],
      [{ refusal: 'I can not help with that.' }, 'refused'],
    ] as const;
    for (const [script, finish] of cases) {
      const { llm } = await house(t, { config: { api }, answers: [script] });
      const answer = await ask(llm, 'Hello');
      t.equal(answer.finish, finish, `${api} ${JSON.stringify(script)}`);
      t.equal(answer.error, null);
    }
  }
});

t.test('R8 openai: JSON mode is asked for with the word that it needs', async (t) => {
  for (const api of ['chat', 'responses']) {
    const { vendor, llm } = await house(t, { config: { api } });
    const answer = await ask(llm, { messages: [user('Sum up')], json: true });
    t.type(JSON.parse(answer.text), 'object');
    t.match(vendor.desk.served[0]?.system, /JSON/);
    t.same(vendor.violations.list, []);
  }
});

t.test('R8 openai: an aborted answer closes the connection, and the next one works', async (t) => {
  for (const api of ['chat', 'responses']) {
    const stall = { text: ['One ', 'two '], fault: { kind: 'stall', after: 1 } } as const;
    const { vendor, llm } = await house(t, { config: { api }, answers: [stall] });
    const bargeIn = new AbortController();
    const reason = new Error('barge-in');
    const asked = ask(llm, 'Hello', bargeIn.signal);
    await until(() => vendor.desk.served[0]?.contentEvents === 1, 'the first word leaves');
    bargeIn.abort(reason);
    const answer = await asked;
    t.equal(answer.error, reason);
    await until(() => vendor.desk.served[0]?.aborted === true, 'the vendor sees the connection close');
    t.equal((await ask(llm, 'Again')).error, null);
  }
});

async function local(t: Test, options: CompatOptions & { config?: Record<string, unknown> } = {}) {
  const server = await startCompat(options);
  t.teardown(() => server.close());
  const config = {
    provider: 'openai',
    profile: 'compat',
    model: 'local-model',
    base_url: server.url,
    ...options.config,
  };
  return { server, config, llm: await open(t, { ...config, api_key: server.apiKey }) };
}

t.test('R8 compat: local servers get the reduced list of fields and nothing else', async (t) => {
  for (const name of ['vllm', 'llama.cpp', 'ollama'] as const) {
    const { server, llm } = await local(t, {
      server: name,
      config: { temperature: 0.2, max_output_tokens: 200 },
    });
    const messages = [user('use the tool get_balance {"account":"A"}')];
    const first = await ask(llm, { messages, tools: TOOLS });
    t.match(first.calls, [{ name: 'get_balance', args: { account: 'A' } }], name);
    t.equal(first.finish, 'tool_calls');
    const next = await ask(llm, { messages: afterTools(messages, first, [{ amount: 8 }]), tools: TOOLS });
    t.match(next.text, /8/);
    t.match(server.desk.served[0]?.body, { max_tokens: 200, temperature: 0.2 });
    t.same(server.violations.list, []);
  }
});

t.test('R8 compat: no usage, no id, a whole call with finish stop, usage on the last chunk', async (t) => {
  const plain = await local(t, { usage: 'none' });
  const told = await ask(plain.llm, 'Hello');
  t.match(told.text, /Hello/);
  t.same(told.usage, {
    promptTokens: null,
    completionTokens: null,
    cacheReadTokens: null,
    cacheCreationTokens: null,
  });

  const whole = await local(t, { callIds: false, wholeCalls: true, finishForCalls: 'stop' });
  const messages = [user('use the tool get_balance {"account":"A"}')];
  const first = await ask(whole.llm, { messages, tools: TOOLS });
  t.match(first.calls, [{ id: /^call_/, name: 'get_balance' }]);
  t.equal(first.finish, 'tool_calls');
  t.equal((await ask(whole.llm, { messages: afterTools(messages, first, [1]), tools: TOOLS })).error, null);

  const last = await local(t, { usage: 'last' });
  t.type((await ask(last.llm, 'Hello')).usage?.promptTokens, 'number');
});

t.test('R8 compat: no cache hints, and the bot is told so', async (t) => {
  const { server, llm } = await local(t, { cachedTokens: true });
  const answer = await ask(llm, cached('Hello'));
  t.match(answer.cache, { enabled: false, status: 'miss', reason: 'unsupported' });
  t.same(server.violations.list, []);
});

t.test('R8 compat: a server without a key gets no key', async (t) => {
  const { server, config } = await local(t);
  const llm = await open(t, config);
  await ask(llm, 'Hello');
  const request = server.log.entries.find((entry) => entry.kind === 'request');
  t.equal(request?.headers?.authorization, undefined);
  await t.rejects(open(t, { ...config, base_url: null } as never), /llm\.base_url/);
});

t.test(
  'R8 compat: tools that the server was not started for are an error of the configuration',
  async (t) => {
    const { llm } = await local(t, { toolsEnabled: false });
    const answer = await ask(llm, { messages: [user('Hi')], tools: TOOLS });
    t.equal(answer.failure?.class, 'config');
  },
);

t.test('RT-86 openai: an interrupted tool does not spoil the rest of the call', async (t) => {
  for (const api of ['chat', 'responses']) {
    const context = listening();
    const { vendor, llm } = await house(t, { config: { api }, context });
    const answer = await ask(llm, {
      messages: [
        user('Balance'),
        { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'get_balance', args: {} }] },
        user('Hello? Are you there?'),
      ],
      tools: TOOLS,
    });
    t.match(answer.text, /Are you there/);
    t.same(vendor.violations.list, []);
    t.match(context.troubles, [{ event: 'history_repaired', repairs: ['result_missing'] }]);
  }
});
