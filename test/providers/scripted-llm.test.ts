import t from 'tap';
import type { ChatMessage, LlmDelta, LlmRequest } from '../../src/providers/contract/language-model.ts';
import { openLlm } from '../../src/providers/open-providers.ts';

const never = new AbortController().signal;

function request(...messages: (string | ChatMessage)[]): LlmRequest {
  return {
    system: 'Be kind.',
    messages: messages.map((message) =>
      typeof message === 'string' ? { role: 'user', text: message } : message,
    ),
    tools: [],
  };
}

const llm = (settings: Record<string, unknown>) => openLlm({ provider: 'scripted', ...settings });

async function collect(deltas: AsyncIterable<LlmDelta>): Promise<LlmDelta[]> {
  const all: LlmDelta[] = [];
  for await (const delta of deltas) all.push(delta);
  return all;
}

function textOf(deltas: LlmDelta[]): string {
  return deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
}

const ORDER = {
  rules: [
    { intent: 'move', pattern: 'go (\\w+) (\\w+)', reply: 'Going {1} {2}, not {3}.' },
    { intent: 'card', pattern: 'card', reply: ['First.', 'Second.'] },
    { intent: 'bye', pattern: '^bye', reply: 'Goodbye then.', end: true },
    {
      intent: 'weather',
      pattern: 'weather in (\\w+)',
      reply: 'Let me see.',
      tool: { name: 'look_up', args: { city: '{1}', days: 2 }, reply: 'It says {result}.' },
    },
  ],
  fallback: { reply: 'What?' },
  no_input: { reply: 'Anyone?' },
};

t.test('an answer is the rule, the words one by one, and the usage', async (t) => {
  const model = await llm(ORDER);
  const deltas = await collect(model.answer(request('please GO forward ten'), never));
  t.same(deltas, [
    { type: 'note', note: 'rule:move' },
    { type: 'text', text: 'Going ' },
    { type: 'text', text: 'forward ' },
    { type: 'text', text: 'ten, ' },
    { type: 'text', text: 'not ' },
    { type: 'text', text: '.' },
    {
      type: 'usage',
      usage: { promptTokens: 6, completionTokens: 5, cacheReadTokens: null, cacheCreationTokens: null },
    },
  ]);
});

t.test('several replies take turns', async (t) => {
  const model = await llm(ORDER);
  const said: string[] = [];
  for (let turn = 0; turn < 3; turn++) said.push(textOf(await collect(model.answer(request('card'), never))));
  t.same(said, ['First.', 'Second.', 'First.']);
});

t.test('what no rule knows gets the fallback, and silence gets no_input', async (t) => {
  const model = await llm(ORDER);
  t.equal(textOf(await collect(model.answer(request('[unclear]'), never))), 'What?');
  t.equal(textOf(await collect(model.answer(request('   '), never))), 'Anyone?');
  t.equal(textOf(await collect(model.answer(request(), never))), 'Anyone?');
});

t.test('only the last thing that the caller said counts', async (t) => {
  const model = await llm(ORDER);
  const deltas = await collect(
    model.answer(request('bye', { role: 'assistant', text: 'card' }, 'card'), never),
  );
  t.same(deltas[0], { type: 'note', note: 'rule:card' });
});

t.test('R11 a rule that ends the call says its words first and then calls end_call', async (t) => {
  const deltas = await collect((await llm(ORDER)).answer(request('bye bye'), never));
  const kinds = deltas.map((delta) => delta.type);
  t.same(kinds, ['note', 'text', 'text', 'tool_call', 'usage']);
  t.match(deltas[3], { call: { name: 'end_call', args: {} } });
});

t.test('a tool of a rule is called with what was said, and its result is spoken', async (t) => {
  const model = await llm(ORDER);
  const question: ChatMessage = { role: 'user', text: 'the weather in pune please' };
  const deltas = await collect(model.answer(request(question), never));
  const called = deltas.find((delta) => delta.type === 'tool_call');
  t.match(called, { call: { name: 'look_up', args: { city: 'pune', days: 2 } } });
  if (called?.type !== 'tool_call') return;
  const { call } = called;
  const spoken = await collect(
    model.answer(
      request(
        question,
        { role: 'assistant', text: 'Let me see.', toolCalls: [call] },
        { role: 'tool', callId: call.id, name: call.name, result: 'rain for $& {1}' },
      ),
      never,
    ),
  );
  t.equal(textOf(spoken), 'It says rain for $& {1}.');
  t.notOk(
    spoken.some((delta) => delta.type === 'tool_call'),
    'a result never calls again',
  );
});

t.test('words keep their deadlines from the start of the answer', async (t) => {
  const model = await llm({ fallback: { reply: 'a b c d e' }, first_token_ms: 40, tokens_per_second: 50 });
  const startMs = performance.now();
  const atMs: number[] = [];
  let loopTurned = false;
  for await (const delta of model.answer(request('x'), never)) {
    if (delta.type !== 'text') continue;
    atMs.push(performance.now() - startMs);
    // A consumer that was slow at the second word finds the third and the fourth due: no timer lies between them.
    if (atMs.length === 2) await new Promise((resolve) => setTimeout(resolve, 60));
    if (atMs.length === 3) setImmediate(() => (loopTurned = true));
    if (atMs.length === 4) t.notOk(loopTurned, 'a late word does not delay the next');
  }
  t.equal(atMs.length, 5);
  for (const [index, ms] of atMs.entries()) t.ok(ms >= 38 + index * 20, `word ${index} is not early: ${ms}`);
});

t.test('an abort ends the answer at once with its own reason, in a wait and between words', async (t) => {
  const slow = await llm({ fallback: { reply: 'never said' }, first_token_ms: 60_000 });
  const leaving = new AbortController();
  const reason = new Error('interrupted');
  const waiting = collect(slow.answer(request('x'), leaving.signal));
  setTimeout(() => leaving.abort(reason), 10);
  await t.rejects(waiting, reason);

  const quick = await llm({ fallback: { reply: 'one two three' } });
  const stopping = new AbortController();
  const seen: LlmDelta[] = [];
  const read = async () => {
    for await (const delta of quick.answer(request('x'), stopping.signal)) {
      seen.push(delta);
      if (delta.type === 'text') stopping.abort(reason);
    }
  };
  await t.rejects(read(), reason);
  t.equal(seen.filter((delta) => delta.type === 'text').length, 1, 'no delta follows an abort');
});

t.test('a scripted failure comes in its turn after its words, and the next turn is served', async (t) => {
  const model = await llm({
    fallback: { reply: 'one two three' },
    fail: { on_turn: 2, after_tokens: 1, kind: 'error' },
  });
  t.equal(textOf(await collect(model.answer(request('x'), never))), 'one two three');
  const seen: LlmDelta[] = [];
  const read = async () => {
    for await (const delta of model.answer(request('x'), never)) seen.push(delta);
  };
  await t.rejects(read(), { code: 'provider_failed' });
  t.equal(textOf(seen), 'one ');
  t.equal(textOf(await collect(model.answer(request('x'), never))), 'one two three');
});

t.test('a scripted stall gives nothing until it is aborted', async (t) => {
  const model = await llm({
    fallback: { reply: 'one two' },
    fail: { on_turn: 1, after_tokens: 1, kind: 'stall' },
  });
  const reason = new Error('enough');
  const leaving = new AbortController();
  const seen: LlmDelta[] = [];
  const read = async () => {
    for await (const delta of model.answer(request('x'), leaving.signal)) seen.push(delta);
  };
  setTimeout(() => leaving.abort(reason), 30);
  await t.rejects(read(), reason);
  t.equal(textOf(seen), 'one ');
});

t.test('a wrong rule is refused by its place and reason', async (t) => {
  const rule = (over: Record<string, unknown>) => ({
    rules: [{ intent: 'a', pattern: 'a', reply: 'b', ...over }],
  });
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ rules: {} }, /^llm\.rules must be a list/],
    [rule({ pattern: '(' }), /^llm\.rules\[0\]\.pattern is no regular expression/],
    [rule({ pattern: 7 }), /^llm\.rules\[0\]\.pattern must be/],
    [rule({ intent: 'a b' }), /^llm\.rules\[0\]\.intent /],
    [rule({ reply: [] }), /^llm\.rules\[0\]\.reply /],
    [rule({ reply: 'x'.repeat(4_001) }), /^llm\.rules\[0\]\.reply /],
    [rule({ end: 1 }), /^llm\.rules\[0\]\.end /],
    [rule({ tool: { args: {} } }), /^llm\.rules\[0\]\.tool\.name /],
    [{ fallback: 'x' }, /^llm\.fallback must be an object/],
    [{ fail: { kind: 'burn' } }, /^llm\.fail\.kind /],
    [{ tokens_per_second: 'fast' }, /^llm\.tokens_per_second /],
  ];
  for (const [settings, message] of wrong) {
    await t.rejects(llm(settings), { code: 'bad_provider_config', message });
  }
});
