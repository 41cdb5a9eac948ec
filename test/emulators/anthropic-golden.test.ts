import Anthropic from '@anthropic-ai/sdk';
import type {
  MessageCreateParamsBase,
  MessageParam,
  MessageStreamEvent,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import t from 'tap';
import { startAnthropic } from './anthropic.ts';
import { TEST_KEY } from './llm/llm-emulator.ts';
import { textOfTokens } from './llm/tokens.ts';

/** The vendor's own SDK against the emulator. */
const MODEL = 'claude-haiku-5-5';

function sdk(url: string): Anthropic {
  return new Anthropic({ apiKey: TEST_KEY, baseURL: url, maxRetries: 0, logLevel: 'off' });
}

const TOOLS: MessageCreateParamsBase['tools'] = [
  {
    name: 'find_slots',
    description: 'Finds free appointments.',
    input_schema: { type: 'object', properties: { day: { type: 'string' } } },
  },
  { name: 'end_call', input_schema: { type: 'object' } },
];

const hello: MessageParam = { role: 'user', content: 'Good morning.' };

function request(more: Partial<MessageCreateParamsBase> = {}): MessageCreateParamsBase {
  return {
    model: MODEL,
    max_tokens: 200,
    system: 'You are a receptionist.',
    messages: [hello],
    thinking: { type: 'disabled' },
    output_config: { effort: 'low' },
    ...more,
  };
}

t.test(
  'D-35 anthropic: the SDK streams a plain answer through pings, thinking and unknown events',
  async (t) => {
    const emulator = await startAnthropic();
    t.teardown(() => emulator.close());
    const client = sdk(emulator.url);
    const plain = await client.messages.stream(request()).finalMessage();
    t.match(plain, {
      content: [{ type: 'text', text: 'You said: Good morning. What else can I do?' }],
      stop_reason: 'end_turn',
      usage: { cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    });
    emulator.desk.script({ thoughts: ['A greeting.'], text: 'नमस्ते 😀!', noise: true, splitEvery: 11 });
    const events: MessageStreamEvent['type'][] = [];
    const stream = client.messages.stream(request({ thinking: { type: 'adaptive' } }));
    stream.on('streamEvent', (event) => events.push(event.type));
    const thoughtful = await stream.finalMessage();
    t.equal(thoughtful.content[0]?.type, 'thinking', 'the thinking block comes first');
    t.match(thoughtful.content[1], { type: 'text', text: 'नमस्ते 😀!' });
    t.match(
      emulator.log
        .of('out', 'chunk')
        .map((entry) => entry.text)
        .join(''),
      /event: ping.*something_new/s,
    );
    const whole = await client.messages.create({ ...request(), stream: false });
    t.match(whole.content, [{ text: 'You said: Good morning. What else can I do?' }]);
    t.same(emulator.violations.list, []);
  },
);

t.test('D-35 anthropic: the SDK joins the pieces of a tool’s input and returns the result', async (t) => {
  const emulator = await startAnthropic();
  t.teardown(() => emulator.close());
  const { messages } = sdk(emulator.url);
  emulator.desk.script({
    text: 'One moment.',
    toolCalls: [
      { name: 'find_slots', args: { day: 'सोमवार "early"' }, fragments: 3 },
      { name: 'end_call', args: {}, fragments: [] },
    ],
  });
  const called = await messages.stream(request({ tools: TOOLS })).finalMessage();
  t.equal(called.stop_reason, 'tool_use');
  const uses = called.content.filter((block) => block.type === 'tool_use');
  t.same(
    uses.map((use) => use.input),
    [{ day: 'सोमवार "early"' }, {}],
  );
  const results = uses.map((use) => ({
    type: 'tool_result' as const,
    tool_use_id: use.id,
    content: '["ten"]',
  }));
  const history = (...last: MessageParam[]) =>
    request({ tools: TOOLS, messages: [hello, { role: 'assistant', content: called.content }, ...last] });
  const told = await messages.stream(history({ role: 'user', content: results })).finalMessage();
  t.match(told.content, [{ text: /The tool says \["ten"\]/ }]);
  t.same(emulator.violations.take(), []);

  const wrong: [MessageCreateParamsBase, RegExp][] = [
    [history({ role: 'user', content: results.slice(1) }), /ids were found without `tool_result` blocks/],
    [
      history({ role: 'user', content: [{ type: 'text', text: 'And?' }, ...results] }),
      /without `tool_result`/,
    ],
    [history(), /must end with a user message/],
    [request({ messages: [{ role: 'user', content: results }] }), /unexpected `tool_use_id`/],
    [request({ messages: [{ role: 'assistant', content: 'Welcome!' }, hello] }), /first message must use/],
    [request({ messages: [hello, { role: 'assistant', content: 'Well' }] }), /must end with a user message/],
  ];
  for (const [body, message] of wrong) {
    await t.rejects(messages.stream(body).finalMessage(), { status: 400, message });
  }
  t.equal(emulator.violations.take().length, wrong.length);
});

t.test('D-35 anthropic: thoughts may be asked for in short, and redacted ones go back', async (t) => {
  const emulator = await startAnthropic();
  t.teardown(() => emulator.close());
  const { messages } = sdk(emulator.url);
  const assistant: MessageParam = {
    role: 'assistant',
    content: [
      { type: 'redacted_thinking', data: 'c2VjcmV0' },
      { type: 'text', text: 'Yes?' },
    ],
  };
  for (const display of ['summarized', 'omitted'] as const) {
    const history = [hello, assistant, hello];
    const more = request({ thinking: { type: 'adaptive', display }, messages: history });
    t.equal((await messages.stream(more).finalMessage()).stop_reason, 'end_turn');
  }
  t.same(emulator.violations.list, []);
});

t.test('D-35 anthropic: versions, keys and settings are checked as the vendor does', async (t) => {
  const emulator = await startAnthropic();
  t.teardown(() => emulator.close());
  const ask = async (headers: Record<string, string>, more: object = {}) => {
    const response = await fetch(`${emulator.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: MODEL, max_tokens: 10, messages: [hello], ...more }),
    });
    return { status: response.status, body: (await response.json()) as { error?: { message: string } } };
  };
  const version = { 'anthropic-version': '2026-10-21' };
  const old = { 'anthropic-version': '2023-06-01' };
  const key = { 'x-api-key': TEST_KEY };
  t.equal((await ask({ ...version, authorization: `Bearer ${TEST_KEY}` })).status, 200);
  t.equal((await ask({ ...version, ...key })).status, 200);
  t.equal((await ask(version)).status, 401);
  t.equal((await ask({ ...version, 'x-api-key': 'nobody' })).status, 401);
  t.same(emulator.violations.list, []);

  t.match((await ask(key)).body.error?.message, 'anthropic-version: header is required');
  const refused: [object, object][] = [
    [version, { temperature: 1 }],
    [version, { model: 'claude-haiku-4-5', temperature: 0.3 }],
    [old, { temperature: 0.3 }],
    [version, { max_tokens: undefined }],
    [version, { frequency_penalty: 1 }],
    [version, { thinking: { type: 'disabled' }, output_config: { effort: 'max' } }],
    [version, { model: 'claude-haiku-4-5', output_config: { effort: 'low' } }],
    [version, { thinking: { type: 'enabled', budget_tokens: 2_000 } }],
    [version, { messages: [{ role: 'user', content: '' }] }],
    [version, { tool_choice: { type: 'auto' } }],
    [version, { messages: [{ role: 'system', content: 'x' }] }],
  ];
  for (const [headers, more] of refused) {
    const answer = await ask({ ...key, ...headers }, more);
    t.equal(answer.status, 400, JSON.stringify(more));
  }
  t.equal(emulator.violations.take().length, refused.length + 1);
  t.equal((await ask({ ...key, ...old }, { model: 'claude-haiku-4-5', temperature: 0.3 })).status, 200);
  t.equal((await ask({ ...key, ...version }, { model: 'claude-2' })).status, 404);
  const warmed = await ask({ ...key, ...version }, { max_tokens: 0 });
  t.match(warmed.body, { content: [], usage: { output_tokens: 0 } });
  t.same(emulator.violations.list, []);
});

t.test(
  'D-35 anthropic: prefixes that end at a mark are written, read, and forgotten after their time',
  async (t) => {
    const emulator = await startAnthropic();
    t.teardown(() => emulator.close());
    const { messages } = sdk(emulator.url);
    const system = (words: string, ttl?: '5m' | '1h'): TextBlockParam[] => [
      { type: 'text', text: words, cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } },
      { type: 'text', text: 'Today is Friday.' },
    ];
    const usageOf = async (more: Partial<MessageCreateParamsBase>) =>
      (await messages.stream(request({ tools: TOOLS, ...more })).finalMessage()).usage;
    const long = textOfTokens(700);
    const first = await usageOf({ system: system(long) });
    t.ok((first.cache_creation_input_tokens ?? 0) >= 700);
    t.equal(first.cache_creation?.ephemeral_5m_input_tokens, first.cache_creation_input_tokens);
    t.equal(first.cache_read_input_tokens, 0);
    const second = await usageOf({
      system: system(long),
      messages: [{ role: 'user', content: 'Something else.' }],
    });
    t.equal(second.cache_read_input_tokens, first.cache_creation_input_tokens);
    t.equal(second.cache_creation_input_tokens, 0);
    t.ok(second.input_tokens < 30, 'what stands behind the mark counts apart');
    const reordered = await usageOf({ system: system(long), tools: [...(TOOLS ?? [])].reverse() });
    t.equal(reordered.cache_read_input_tokens, 0, 'tools in another order are another prefix');

    emulator.moveCacheTime(250_000);
    t.ok((await usageOf({ system: system(long) })).cache_read_input_tokens, 'a hit refreshes the time');
    emulator.moveCacheTime(250_000);
    t.ok((await usageOf({ system: system(long) })).cache_read_input_tokens);
    emulator.moveCacheTime(310_000);
    t.equal((await usageOf({ system: system(long) })).cache_read_input_tokens, 0);
    const hour = await usageOf({ system: system(textOfTokens(700, 'hour'), '1h') });
    t.ok((hour.cache_creation?.ephemeral_1h_input_tokens ?? 0) >= 700);
    emulator.moveCacheTime(3_000_000);
    t.ok((await usageOf({ system: system(textOfTokens(700, 'hour'), '1h') })).cache_read_input_tokens);

    const short = await usageOf({ system: system(textOfTokens(300, 'short')) });
    t.same([short.cache_creation_input_tokens, short.cache_read_input_tokens], [0, 0], 'below the floor');
    t.same(emulator.violations.take(), []);

    const mark = { type: 'ephemeral' as const };
    const text = (index: number, ttl: '5m' | '1h'): TextBlockParam => ({
      type: 'text',
      text: `Block ${index}.`,
      cache_control: { ...mark, ttl },
    });
    await t.rejects(usageOf({ system: [1, 2, 3, 4, 5].map((index) => text(index, '5m')) }), {
      status: 400,
      message: /A maximum of 4 blocks/,
    });
    await t.rejects(usageOf({ system: [text(1, '5m'), text(2, '1h')] }), {
      status: 400,
      message: /must not come after a ttl='5m'/,
    });
    t.equal(emulator.violations.take().length, 2);
  },
);

t.test('D-35 anthropic: a conversation that grows reads its last mark within the lookback', async (t) => {
  const emulator = await startAnthropic({ cacheFloorTokens: 10 });
  t.teardown(() => emulator.close());
  const { messages } = sdk(emulator.url);
  const turns = (count: number): MessageParam[] => {
    const list: MessageParam[] = [];
    for (let index = 0; index < count; index += 1) {
      const text = `This is the text of turn number ${index}.`;
      const marked: TextBlockParam = { type: 'text', text, cache_control: { type: 'ephemeral' } };
      list.push({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: index === count - 1 ? [marked] : text,
      });
    }
    return list;
  };
  const readAfter = async (count: number) =>
    (await messages.stream(request({ messages: turns(count) })).finalMessage()).usage.cache_read_input_tokens;
  t.equal(await readAfter(3), 0);
  t.ok(((await readAfter(5)) ?? 0) > 0);
  t.equal(await readAfter(61), 0, 'more than twenty blocks further on it is not found');
  t.same(emulator.violations.list, []);
});

t.test('D-35 anthropic: the SDK reports what the vendor refuses and how a stream breaks', async (t) => {
  const emulator = await startAnthropic();
  t.teardown(() => emulator.close());
  const { messages } = sdk(emulator.url);
  const ask = () => messages.stream(request()).finalMessage();
  emulator.desk.script({ fault: { kind: 'refuse', as: 'rate_limit', retryAfterMs: 3_000 } });
  const limited = await ask().catch((error: unknown) => error);
  t.ok(limited instanceof Anthropic.RateLimitError);
  t.equal((limited as InstanceType<typeof Anthropic.APIError>).headers?.get('retry-after'), '3');
  for (const [as, status, type] of [
    ['overloaded', 529, 'overloaded_error'],
    ['quota', 402, 'billing_error'],
    ['server_error', 500, 'api_error'],
    ['too_large', 413, 'request_too_large'],
    ['context_too_large', 400, 'invalid_request_error'],
  ] as const) {
    emulator.desk.script({ fault: { kind: 'refuse', as } });
    await t.rejects(ask(), { status, type, message: /./ });
  }
  emulator.desk.script({
    text: ['One ', 'two.'],
    fault: { kind: 'error_event', after: 1, as: 'overloaded' },
  });
  await t.rejects(ask(), { type: 'overloaded_error', message: /Overloaded/ });
  for (const kind of ['cut', 'malformed'] as const) {
    emulator.desk.script({ text: ['One ', 'two ', 'three.'], fault: { kind, after: 2 } });
    await t.rejects(ask(), kind);
  }
  emulator.desk.script({ finish: 'refused' }, { text: textOfTokens(90), finish: 'length' });
  t.match(await ask(), { stop_reason: 'refusal', content: [] });
  t.match(await ask(), { stop_reason: 'max_tokens' });
  t.same(emulator.violations.list, []);
});

t.test(
  'D-35 anthropic: the SDK stops a stalled answer, and the emulator sees the connection go',
  async (t) => {
    const emulator = await startAnthropic({
      answers: [{ text: ['One ', 'two.'], fault: { kind: 'stall', after: 1 } }],
    });
    t.teardown(() => emulator.close());
    const stream = sdk(emulator.url).messages.stream(request());
    stream.on('text', () => stream.abort());
    await t.rejects(stream.finalMessage());
    const served = emulator.desk.served[0];
    for (let wait = 0; wait < 500 && !served?.aborted; wait += 1)
      await new Promise((go) => setTimeout(go, 20));
    t.equal(served?.aborted, true);
  },
);
