import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, type Part, ThinkingLevel } from '@google/genai';
import OpenAI from 'openai';
import t from 'tap';
import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { startAnthropic } from '../../emulators/anthropic.ts';
import { startGemini } from '../../emulators/gemini.ts';
import type { LlmEmulator } from '../../emulators/llm/llm-emulator.ts';
import { startOpenAi } from '../../emulators/openai.ts';
import { afterTools, ask, BALANCE_TOOL, open, user } from './asking.ts';

/**
 * One conversation, a tool call and its result, held twice against the same vendor: by the vendor's SDK, used as its
 * guide says, and by the platform's client. What reaches the vendor must be the same, line by line.
 */
const SYSTEM = 'You answer the phone.';
const SAID = 'use the tool get_balance {"account":"A"}';
const RESULT = { amount: 12 };
const { name, description, parameters } = BALANCE_TOOL.function;

type Golden = (vendor: LlmEmulator & { url: string }) => Promise<void>;

const gemini: Golden = async (vendor) => {
  const client = new GoogleGenAI({
    apiKey: vendor.apiKey,
    vertexai: false,
    httpOptions: { baseUrl: vendor.url, apiVersion: 'v1' },
  });
  const config = {
    systemInstruction: { parts: [{ text: SYSTEM }] },
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
    maxOutputTokens: 1_024,
    thinkingConfig: { thinkingLevel: ThinkingLevel.MINIMAL },
  };
  const contents: { role: string; parts: Part[] }[] = [{ role: 'user', parts: [{ text: SAID }] }];
  const model = 'gemini-3.5-flash-lite';
  const parts: Part[] = [];
  for await (const chunk of await client.models.generateContentStream({ model, contents, config })) {
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []).filter((part) => part.functionCall));
  }
  const call = parts[0]?.functionCall;
  const functionResponse = { id: call?.id ?? '', name: call?.name ?? '', response: { output: RESULT } };
  contents.push({ role: 'model', parts }, { role: 'user', parts: [{ functionResponse }] });
  for await (const _ of await client.models.generateContentStream({ model, contents, config }));
};

const openAiChat: Golden = async (vendor) => {
  const client = new OpenAI({ apiKey: vendor.apiKey, baseURL: vendor.url, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: SAID },
  ];
  const settings = {
    model: 'gpt-6-luna',
    stream_options: { include_usage: true, include_obfuscation: false },
    max_completion_tokens: 1_024,
    reasoning_effort: 'none',
    tools: [{ type: 'function', function: { name, description, parameters } }],
  } as const;
  const runner = client.chat.completions.stream({ ...settings, tools: [...settings.tools], messages });
  const { message } = (await runner.finalChatCompletion()).choices[0] ?? {};
  const calls = (message?.tool_calls ?? []).map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: {
      name: call.type === 'function' ? call.function.name : '',
      arguments: call.type === 'function' ? JSON.stringify(JSON.parse(call.function.arguments)) : '',
    },
  }));
  messages.push({ role: 'assistant', content: null, tool_calls: calls });
  messages.push({ role: 'tool', tool_call_id: calls[0]?.id ?? '', content: JSON.stringify(RESULT) });
  await client.chat.completions.stream({ ...settings, tools: [...settings.tools], messages }).done();
};

const anthropic: Golden = async (vendor) => {
  const client = new Anthropic({ apiKey: vendor.apiKey, baseURL: vendor.url, maxRetries: 0 });
  const settings = {
    model: 'claude-haiku-5-5',
    max_tokens: 1_024,
    thinking: { type: 'disabled' },
    output_config: { effort: 'low' },
    system: [{ type: 'text', text: SYSTEM }],
    tools: [{ name, description, input_schema: { ...parameters, type: 'object' } }],
  } as const;
  const body = () => ({
    ...settings,
    system: [...settings.system],
    tools: settings.tools.map((tool) => ({ ...tool, input_schema: { ...tool.input_schema } })),
    messages,
  });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: [{ type: 'text', text: SAID }] }];
  const { content } = await client.messages.stream(body()).finalMessage();
  const use = content.find((block) => block.type === 'tool_use');
  messages.push({
    role: 'assistant',
    content: [{ type: 'tool_use', id: use?.id ?? '', name: use?.name ?? '', input: use?.input ?? {} }],
  });
  messages.push({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: JSON.stringify(RESULT) }],
  });
  await client.messages.stream(body()).done();
};

const CASES: {
  title: string;
  start: () => Promise<LlmEmulator & { url: string }>;
  config: ProviderConfig;
  golden: Golden;
}[] = [
  {
    title: 'R8 gemini: the SDK and our client send the same',
    start: startGemini,
    config: { provider: 'gemini', model: 'gemini-3.5-flash-lite' },
    golden: gemini,
  },
  {
    title: 'R8 openai: the SDK and our client send the same',
    start: startOpenAi,
    config: { provider: 'openai', model: 'gpt-6-luna' },
    golden: openAiChat,
  },
  {
    title: 'R8 anthropic: the SDK and our client send the same',
    start: startAnthropic,
    config: { provider: 'anthropic', model: 'claude-haiku-5-5' },
    golden: anthropic,
  },
];

for (const { title, start, config, golden } of CASES) {
  t.test(title, async (t) => {
    const byName = await start();
    t.teardown(() => byName.close());
    await golden(byName);
    t.same(byName.violations.list, [], 'the vendor has nothing against the golden client');

    const vendor = await start();
    t.teardown(() => vendor.close());
    const llm = await open(t, { ...config, api_key: vendor.apiKey, base_url: vendor.url });
    const messages = [user(SAID)];
    const first = await ask(llm, { system: SYSTEM, messages, tools: [BALANCE_TOOL] });
    const second = await ask(llm, {
      system: SYSTEM,
      messages: afterTools(messages, first, [RESULT]),
      tools: [BALANCE_TOOL],
    });
    t.match(second.text, /12/);
    t.same(vendor.violations.list, [], 'and nothing against ours');

    const lines = (emulator: LlmEmulator) => emulator.log.normalise({ only: 'client' }).map(canonical);
    t.ok(lines(byName).length >= 6, 'two requests were written down');
    t.same(lines(vendor), lines(byName));
  });
}

/** The vendor makes up ids and signatures anew for each conversation. */
function canonical(line: string): string {
  return line
    .replace(/"(id|call_id|tool_call_id|tool_use_id)":"[^"]*"/g, '"$1":"*"')
    .replace(/"thoughtSignature":"[^"]*"/g, '"thoughtSignature":"*"');
}
