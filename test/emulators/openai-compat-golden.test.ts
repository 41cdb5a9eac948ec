import OpenAI from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import t, { type Test } from 'tap';
import { TEST_KEY } from './llm/llm-emulator.ts';
import { textOfTokens } from './llm/tokens.ts';
import { COMPAT_MODEL, type CompatOptions, startCompat } from './openai-compat.ts';

/** The SDK against local servers, asking only for what they all know. */
async function started(t: Test, options: CompatOptions) {
  const emulator = await startCompat(options);
  t.teardown(() => emulator.close());
  const client = new OpenAI({ apiKey: TEST_KEY, baseURL: emulator.url, maxRetries: 0, logLevel: 'off' });
  return { emulator, client };
}

const TOOLS: ChatCompletionCreateParamsStreaming['tools'] = [
  { type: 'function', function: { name: 'find_slots', parameters: { type: 'object', properties: {} } } },
];

function request(
  more: Partial<ChatCompletionCreateParamsStreaming> = {},
): ChatCompletionCreateParamsStreaming {
  return {
    model: COMPAT_MODEL,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'use the tool find_slots' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 100,
    temperature: 0.2,
    ...more,
  };
}

async function hear(client: OpenAI, body: ChatCompletionCreateParamsStreaming) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of await client.chat.completions.create(body)) chunks.push(chunk);
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  return {
    chunks,
    text: deltas.map((delta) => delta.content ?? '').join(''),
    calls: deltas.flatMap((delta) => delta.tool_calls ?? []),
    finish: chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason)).filter(Boolean),
    usage: chunks.map((chunk) => chunk.usage).findLast(Boolean),
  };
}

t.test('D-35 compat: each server has its own habits, and the SDK reads them all', async (t) => {
  const vllm = await started(t, { server: 'vllm', cachedTokens: true });
  const fragments = await hear(vllm.client, request({ tools: TOOLS }));
  t.ok(fragments.calls.length > 1, 'fragments');
  t.ok(fragments.calls[0]?.id);
  t.same(fragments.finish, ['tool_calls']);
  t.equal(fragments.usage?.prompt_tokens_details?.cached_tokens, 0);

  const llama = await started(t, { server: 'llama.cpp', usage: 'last', callIds: false });
  const timed = await hear(llama.client, request({ tools: TOOLS }));
  t.equal(timed.calls[0]?.id, undefined, 'a call without an id');
  t.ok(timed.usage, 'usage stands on the chunk with the finish');
  t.match(timed.chunks.at(-1), { timings: { prompt_n: 12 } });

  const ollama = await started(t, { server: 'ollama', usage: 'none', finishForCalls: 'stop' });
  const whole = await hear(ollama.client, request({ tools: TOOLS }));
  t.match(whole.calls, [{ function: { name: 'find_slots', arguments: '{}' } }]);
  t.equal(whole.calls.length, 1, 'the whole call in one chunk');
  t.same(whole.finish, ['stop']);
  t.equal(whole.usage, undefined, 'no usage at all');
  for (const { emulator } of [vllm, llama, ollama]) t.same(emulator.violations.list, []);
});

t.test('D-35 compat: thoughts come under their own key and not as text', async (t) => {
  const { client } = await started(t, { answers: [{ thoughts: ['Hm.'], text: 'Hello!' }] });
  const heard = await hear(client, request());
  t.equal(heard.text, 'Hello!');
  t.match(JSON.stringify(heard.chunks), /"reasoning_content":"Hm."/);
});

t.test('D-35 compat: fields outside the reduced list and late system messages are refused', async (t) => {
  const { client, emulator } = await started(t, { server: 'vllm' });
  const wrong: Partial<ChatCompletionCreateParamsStreaming>[] = [
    { max_completion_tokens: 5 },
    { reasoning_effort: 'none' },
    { verbosity: 'low' },
    { prompt_cache_key: 'x' },
    { store: false },
    { service_tier: 'auto' },
    { stream_options: { include_usage: true, include_obfuscation: false } },
    { tools: [{ type: 'function', function: { name: 'x', strict: true } }] },
    { messages: [{ role: 'developer', content: 'Be brief.' }] },
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
      ],
    },
  ];
  for (const more of wrong) {
    await t.rejects(client.chat.completions.create(request(more)), { status: 400, message: /./ });
  }
  t.equal(emulator.violations.take().length, wrong.length);
  t.equal(emulator.desk.served.length, 0);
});

t.test('D-35 compat: servers that were started without tools, key or cache say so', async (t) => {
  const vllm = await started(t, { server: 'vllm', toolsEnabled: false });
  await t.rejects(vllm.client.chat.completions.create(request({ tools: TOOLS })), {
    status: 400,
    message: /--enable-auto-tool-choice/,
  });
  const llama = await started(t, { server: 'llama.cpp', toolsEnabled: false });
  await t.rejects(llama.client.chat.completions.create(request({ tools: TOOLS })), {
    status: 500,
    type: undefined,
    message: /--jinja/,
  });
  const keyed = await started(t, { server: 'vllm', apiKey: 'another-key' });
  await t.rejects(keyed.client.chat.completions.create(request()), { status: 401, message: /Unauthorized/ });
  const cached = await started(t, { server: 'vllm', cachedTokens: true });
  const messages = [{ role: 'user' as const, content: textOfTokens(1_300) }];
  await hear(cached.client, request({ messages }));
  const again = await hear(cached.client, request({ messages }));
  t.ok((again.usage?.prompt_tokens_details?.cached_tokens ?? 0) >= 1_152);
  for (const { emulator } of [vllm, llama, keyed, cached]) t.same(emulator.violations.list, []);
});
