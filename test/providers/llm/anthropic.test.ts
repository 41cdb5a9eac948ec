import t, { type Test } from 'tap';
import type { LlmDelta, LlmRequest } from '../../../src/providers/contract/language-model.ts';
import type { ProviderContext } from '../../../src/providers/contract/provider-context.ts';
import { type AnthropicOptions, startAnthropic } from '../../emulators/anthropic.ts';
import { textOfTokens } from '../../emulators/llm/tokens.ts';
import { until } from '../../harness/wait.ts';
import { afterTools, ask, BALANCE_TOOL, listening, ORDER_TOOL, open, user } from './asking.ts';

const MODEL = 'claude-haiku-5-5';
const TOOLS = [BALANCE_TOOL, ORDER_TOOL];

async function house(
  t: Test,
  options: AnthropicOptions & { config?: Record<string, unknown>; context?: ProviderContext } = {},
) {
  const vendor = await startAnthropic(options);
  t.teardown(() => vendor.close());
  const config = {
    provider: 'anthropic',
    model: MODEL,
    api_key: vendor.apiKey,
    base_url: vendor.url,
    ...options.config,
  };
  return { vendor, config, llm: await open(t, config, options.context) };
}

function cached(text: string, tokens = 700, tools = TOOLS): LlmRequest {
  const staticText = textOfTokens(tokens);
  return {
    system: `${staticText}\n\nThe caller is Asha.`,
    systemParts: {
      staticText,
      dynamicText: 'The caller is Asha.',
      version: 'static-7',
      cacheKey: null,
      retention: null,
      ttlSeconds: null,
    },
    messages: [user(text)],
    tools,
  };
}

t.test('R8 anthropic: an answer is streamed, thinking off, at low effort', async (t) => {
  const { vendor, llm } = await house(t);
  const answer = await ask(llm, { messages: [user('Where is it?')], tools: TOOLS });
  t.match(answer.text, /You said: Where is it\?/);
  t.equal(answer.finish, 'stop');
  t.match(vendor.desk.served[0]?.body, {
    model: MODEL,
    max_tokens: 1_024,
    thinking: { type: 'disabled' },
    output_config: { effort: 'low' },
  });
  const request = vendor.log.entries.find((entry) => entry.kind === 'request');
  t.equal(request?.headers?.['anthropic-version'], '2026-10-21');
  t.equal(answer.cache, null);
  t.same(vendor.violations.list, []);
});

t.test('R8 anthropic: the older version of the API is spoken where a bot says so', async (t) => {
  const config = { model: 'claude-haiku-4-5', temperature: 0.3 };
  const { config: same, vendor } = await house(t);
  await t.rejects(open(t, { ...same, ...config }), { code: 'bad_provider_config', message: /api_version/ });
  const llm = await open(t, { ...same, ...config, api_version: '2023-06-01' });
  const answer = await ask(llm, 'Hello');
  t.equal(answer.error, null);
  t.same(vendor.violations.list, []);
  await t.rejects(open(t, { ...same, temperature: 0.3 }), { message: /llm\.temperature/ });
});

t.test('R8 anthropic: calls and their results go back and forth, results first', async (t) => {
  const { vendor, llm } = await house(t);
  vendor.desk.script({
    text: 'One moment.',
    toolCalls: [
      { name: 'get_balance', args: { account: 'नमस्ते "A"' }, fragments: 3 },
      { name: 'get_order', args: {}, fragments: [] },
    ],
    splitEvery: 11,
  });
  const messages = [user('Both')];
  const first = await ask(llm, { messages, tools: TOOLS });
  t.equal(first.text, 'One moment.');
  t.match(first.calls, [
    { name: 'get_balance', args: { account: 'नमस्ते "A"' } },
    { name: 'get_order', args: {} },
  ]);
  t.equal(first.finish, 'tool_calls');
  const history = [...afterTools(messages, first, [{ amount: 7 }, { error: 'no such order' }]), user('And?')];
  t.equal((await ask(llm, { messages: history, tools: TOOLS })).error, null);
  const sent = vendor.desk.served[1]?.body.messages as { role: string; content: { type: string }[] }[];
  t.same(
    sent.at(-1)?.content.map((block) => block.type),
    ['tool_result', 'tool_result', 'text'],
  );
  t.match(sent.at(-1)?.content[1], { is_error: true });
  t.same(vendor.violations.list, []);
});

t.test('R8 anthropic: thoughts come first, are not spoken, and go back with the call', async (t) => {
  const { vendor, llm } = await house(t, { config: { reasoning: 'low' } });
  vendor.desk.script({
    thoughts: 'Look it up.',
    toolCalls: [{ name: 'get_balance', args: { account: 'A' } }],
  });
  const messages = [user('Balance')];
  const first = await ask(llm, { messages, tools: TOOLS });
  t.equal(first.text, '');
  const next = await ask(llm, { messages: afterTools(messages, first, [{ amount: 3 }]), tools: TOOLS });
  t.match(next.text, /3/);
  const sent = vendor.desk.served[1]?.body.messages as { content: { type: string }[] }[];
  t.same(
    sent[1]?.content.map((block) => block.type),
    ['thinking', 'tool_use'],
  );
  t.match(vendor.desk.served[0]?.body, { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } });
  t.same(vendor.violations.list, []);
});

t.test('R8 anthropic: pings and unknown events do no harm, and neither does a repeated end', async (t) => {
  for (const script of [
    { text: 'All is well.', noise: true },
    { text: 'All is well.', fault: { kind: 'duplicate_final' } },
  ] as const) {
    const { llm } = await house(t, { answers: [script] });
    const answer = await ask(llm, 'Well?');
    t.equal(answer.text, 'All is well.');
    t.equal(answer.finish, 'stop');
    t.equal(answer.deltas.filter((delta) => delta.type === 'finish').length, 1);
  }
});

t.test('R8 anthropic: refusal and the limit of tokens are told', async (t) => {
  const cases = [
    [{ text: 'I will', finish: 'refused' }, 'refused'],
    [{ text: 'Yes, and', finish: 'length' }, 'length'],
    [{ text: 'Yes', finishWord: 'model_context_window_exceeded' }, 'length'],
    [{ text: 'Yes', finishWord: 'pause_turn' }, 'other'],
  ] as const;
  for (const [script, finish] of cases) {
    const { llm } = await house(t, { answers: [script] });
    const answer = await ask(llm, 'Hello');
    t.equal(answer.finish, finish);
    t.equal(answer.error, null);
  }
});

t.test('R8 anthropic: errors are told by class, at once and without the key', async (t) => {
  const cases = [
    [
      { kind: 'refuse', as: 'rate_limit', retryAfterMs: 3_000 },
      { class: 'rate_limit', status: 429, retryAfterMs: 3_000 },
    ],
    [
      { kind: 'refuse', as: 'quota' },
      { class: 'quota', status: 402 },
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
      { kind: 'refuse', as: 'too_large' },
      { class: 'content', status: 413 },
    ],
    [
      { kind: 'refuse', as: 'server_error' },
      { class: 'transient', status: 500 },
    ],
    [
      { kind: 'refuse', as: 'overloaded' },
      { class: 'transient', status: 529, vendorCode: 'overloaded_error' },
    ],
    [
      { kind: 'refuse', as: 'timeout' },
      { class: 'transient', status: 504 },
    ],
    [{ kind: 'reset' }, { class: 'transient', status: null }],
  ] as const;
  for (const [fault, expected] of cases) {
    const { vendor, llm } = await house(t, { answers: [{ fault }] });
    const answer = await ask(llm, 'Hello');
    t.match(answer.failure, { ...expected, provider: 'anthropic', family: 'llm' }, JSON.stringify(fault));
    t.equal(vendor.desk.served.length, 1, 'asked once');
    t.notMatch(String(answer.error) + JSON.stringify(answer.failure), new RegExp(vendor.apiKey));
  }
});

t.test('R8 anthropic: a stream that breaks gives what came and then an error', async (t) => {
  const cases = [
    [
      { kind: 'error_event', after: 2, as: 'overloaded' },
      { class: 'transient', vendorCode: 'overloaded_error' },
    ],
    [{ kind: 'error_event', after: 2, as: 'rate_limit' }, { class: 'rate_limit' }],
    [{ kind: 'cut', after: 2 }, { class: 'transient' }],
    [{ kind: 'no_end' }, { class: 'transient' }],
  ] as const;
  for (const [fault, expected] of cases) {
    const { llm } = await house(t, { answers: [{ text: ['One ', 'two ', 'three '], fault }] });
    const answer = await ask(llm, 'Count');
    t.match(answer.text, /^One two /, fault.kind);
    t.match(answer.failure, expected, JSON.stringify(fault));
    t.equal(answer.finish, null);
    t.notMatch(String(answer.error), /One|two/, 'what was said stays out of the error');
  }
});

t.test(
  'R8 R110 anthropic: what is written and read of the cache is told, and the prompt is the sum',
  async (t) => {
    const { vendor, llm } = await house(t);
    const first = await ask(llm, cached('Hello'));
    t.same(first.cache, { enabled: true, status: 'miss', version: 'static-7', reason: 'created' });
    t.ok((first.usage?.cacheCreationTokens ?? 0) > 512);
    t.equal(first.usage?.cacheReadTokens, 0);
    const second = await ask(llm, cached('Hello again'));
    t.same(second.cache, { enabled: true, status: 'hit', version: 'static-7', reason: null });
    t.ok((second.usage?.cacheReadTokens ?? 0) > 512);
    const said = vendor.desk.served[1]?.usage as Record<string, number>;
    t.equal(
      second.usage?.promptTokens,
      (said.input_tokens ?? 0) +
        (said.cache_read_input_tokens ?? 0) +
        (said.cache_creation_input_tokens ?? 0),
      'R109 the parts are disjoint',
    );
    t.equal(second.usage?.completionTokens, said.output_tokens);
    t.match(vendor.desk.served[0]?.body, {
      system: [{ cache_control: { type: 'ephemeral' } }, { text: 'The caller is Asha.' }],
      messages: [{ content: [{ cache_control: { type: 'ephemeral' } }] }],
    });
    t.match(
      vendor.desk.served[0]?.body.tools,
      [{ name: 'get_balance' }, { name: 'get_order' }],
      'tools always stay',
    );
    t.same(vendor.violations.list, []);
  },
);

t.test('R109 R110 R113 anthropic: of an answer that is cut the prompt and its cache are known', async (t) => {
  const { vendor, llm } = await house(t);
  await ask(llm, cached('Hello'));
  vendor.desk.script({ text: ['One ', 'two '], fault: { kind: 'stall', after: 1 } });
  const bargeIn = new AbortController();
  const cut: LlmDelta[] = [];
  await t.rejects(async () => {
    for await (const delta of llm.answer(cached('Hello again'), bargeIn.signal)) {
      cut.push(delta);
      if (delta.type === 'text') bargeIn.abort(new Error('barge-in'));
    }
  }, /barge-in/);
  t.match(cut, [
    { type: 'usage', usage: { promptTokens: Number, cacheReadTokens: Number } },
    { type: 'cache', cache: { enabled: true, status: 'hit', version: 'static-7', reason: null } },
    { type: 'text', text: 'One ' },
  ]);
  t.equal(cut.length, 3);
  const [first] = cut;
  t.ok(first?.type === 'usage' && (first.usage.cacheReadTokens ?? 0) > 512);
});

t.test('R8 anthropic: the static prompt is shared, the part of one call is not', async (t) => {
  const { llm } = await house(t);
  await ask(llm, cached('Hello'));
  const other = cached('Hello');
  const dynamicText = 'The caller is Bela.';
  const parts = { ...(other.systemParts as NonNullable<LlmRequest['systemParts']>), dynamicText };
  const answer = await ask(llm, { ...other, systemParts: parts });
  t.equal(answer.cache?.status, 'hit');
});

t.test(
  'R8 anthropic: another order of the tools misses, an old entry is gone, a small prompt is not cached',
  async (t) => {
    const { vendor, llm } = await house(t);
    await ask(llm, cached('Hello'));
    const turned = await ask(llm, cached('Hello', 700, [ORDER_TOOL, BALANCE_TOOL]));
    t.match(turned.cache, { status: 'miss', reason: 'created' });
    vendor.moveCacheTime(301_000);
    const late = await ask(llm, cached('Hello'));
    t.match(late.cache, { status: 'miss', reason: 'created' }, 'after 5 minutes of disuse');
    const small = await ask(llm, cached('Hello', 20));
    t.match(small.cache, { status: 'miss', reason: 'too_small' });
    t.match(small.usage, { cacheReadTokens: 0, cacheCreationTokens: 0 });
  },
);

t.test('R8 anthropic: a busy bot keeps its static prompt for an hour', async (t) => {
  const { vendor, llm } = await house(t, { config: { cache_ttl: '1h' } });
  await ask(llm, cached('Hello'));
  vendor.moveCacheTime(1_800_000);
  t.equal((await ask(llm, cached('Hello again'))).cache?.status, 'hit');
  t.same(vendor.violations.list, []);
});

t.test('R8 anthropic: a bot that switched the cache off sets no marks', async (t) => {
  const { vendor, llm } = await house(t, { config: { cache: { enabled: false } } });
  const answer = await ask(llm, cached('Hello'));
  t.equal(answer.cache, null);
  t.notMatch(JSON.stringify(vendor.desk.served[0]?.body), /cache_control/);
  t.match(vendor.desk.served[0]?.system, /Asha/, 'nothing of the prompt is lost');
});

t.test(
  'R8 RT-86 anthropic: a call that the bot opened, and tools that were interrupted, are no trouble',
  async (t) => {
    const context = listening();
    const { vendor, llm } = await house(t, { context });
    const opened = await ask(llm, {
      messages: [{ role: 'assistant', text: 'Good morning!' }, user('Hello')],
    });
    t.equal(opened.error, null);
    t.same(context.troubles, [], 'most calls begin so; it is no repair');
    const answer = await ask(llm, {
      messages: [
        user('Balance'),
        { role: 'assistant', text: '', toolCalls: [{ id: 'call.1:x', name: 'get_balance', args: {} }] },
        user('Hello? Are you there?'),
        { role: 'assistant', text: 'Yes.' },
      ],
      tools: TOOLS,
    });
    t.equal(answer.error, null);
    t.match(context.troubles, [
      { event: 'history_repaired', repairs: ['result_missing', 'trailing_assistant'] },
    ]);
    t.same(vendor.violations.list, []);
  },
);

t.test('R8 anthropic: an aborted answer closes the connection, and the next one works', async (t) => {
  const { vendor, llm } = await house(t, {
    answers: [{ text: ['One ', 'two '], fault: { kind: 'stall', after: 1 } }],
  });
  const bargeIn = new AbortController();
  const reason = new Error('barge-in');
  const asked = ask(llm, 'Hello', bargeIn.signal);
  await until(() => vendor.desk.served[0]?.contentEvents === 1, 'the first word leaves');
  bargeIn.abort(reason);
  t.equal((await asked).error, reason);
  await until(() => vendor.desk.served[0]?.aborted === true, 'the vendor sees the connection close');
  t.equal((await ask(llm, 'Again')).error, null);
});
