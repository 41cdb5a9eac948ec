import OpenAI from 'openai';
import type {
  ResponseCreateParamsStreaming,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import t from 'tap';
import { TEST_KEY } from './llm/llm-emulator.ts';
import { textOfTokens } from './llm/tokens.ts';
import { startOpenAi } from './openai.ts';

/** The vendor's own SDK against the emulated Responses API. */
function sdk(url: string): OpenAI {
  return new OpenAI({ apiKey: TEST_KEY, baseURL: url, maxRetries: 0, logLevel: 'off' });
}

function request(more: Partial<ResponseCreateParamsStreaming> = {}): ResponseCreateParamsStreaming {
  return {
    model: 'gpt-6-luna',
    instructions: 'You are a receptionist.',
    input: [{ role: 'user', content: 'Good morning.' }],
    reasoning: { effort: 'low' },
    store: false,
    stream: true,
    ...more,
  };
}

const TOOLS: ResponseCreateParamsStreaming['tools'] = [
  {
    type: 'function',
    name: 'find_slots',
    description: 'Finds free appointments.',
    parameters: { type: 'object', properties: { day: { type: 'string' } } },
    strict: false,
  },
];

async function hear(stream: AsyncIterable<ResponseStreamEvent>) {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  const text = events
    .map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
    .join('');
  const last = events.at(-1);
  const response = last && 'response' in last ? last.response : undefined;
  return { events, text, last, response };
}

t.test('D-35 openai responses: the SDK streams text after reasoning, through unknown events', async (t) => {
  const emulator = await startOpenAi({
    answers: [{ thoughts: ['A greeting.'], text: 'Hello there!', noise: true }],
  });
  t.teardown(() => emulator.close());
  const heard = await hear(
    await sdk(emulator.url).responses.create(request({ include: ['reasoning.encrypted_content'] })),
  );
  t.equal(heard.text, 'Hello there!');
  t.equal(heard.last?.type, 'response.completed');
  const [reasoning, message] = heard.response?.output ?? [];
  t.match(reasoning, { type: 'reasoning', encrypted_content: /./ });
  t.match(message, { type: 'message', content: [{ type: 'output_text', text: 'Hello there!' }] });
  const usage = heard.response?.usage;
  t.equal(usage?.total_tokens, (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
  t.ok((usage?.output_tokens_details.reasoning_tokens ?? 0) > 0);
  const numbers = heard.events.map((event) => event.sequence_number);
  t.ok(
    numbers.some((number, index) => index > 0 && number > (numbers[index - 1] ?? 0) + 1),
    'with gaps',
  );
  t.same(emulator.violations.list, []);
});

t.test('D-35 openai responses: the SDK returns the output of a function call', async (t) => {
  const emulator = await startOpenAi();
  t.teardown(() => emulator.close());
  const { responses } = sdk(emulator.url);
  const user = { role: 'user' as const, content: 'use the tool find_slots {"day":"Monday"}' };
  const first = await hear(await responses.create(request({ input: [user], tools: TOOLS })));
  const call = first.response?.output.find((item) => item.type === 'function_call');
  t.match(call, { name: 'find_slots', arguments: '{"day":"Monday"}' });
  if (!call) return;
  const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '["ten"]' };
  const second = await hear(await responses.create(request({ input: [user, call, output], tools: TOOLS })));
  t.match(second.text, 'The tool says ["ten"]');
  t.same(emulator.violations.take(), []);
  await t.rejects(responses.create(request({ input: [user, call], tools: TOOLS })), {
    status: 400,
    message: /No tool output found for function call/,
  });
  await t.rejects(responses.create(request({ input: [user, output], tools: TOOLS })), {
    status: 400,
    message: /No tool call found for function call output/,
  });
  t.equal(emulator.violations.take().length, 2);
});

t.test('D-35 openai responses: every way to end is told in the last event', async (t) => {
  const emulator = await startOpenAi();
  t.teardown(() => emulator.close());
  const { responses } = sdk(emulator.url);
  const ask = async (more: Partial<ResponseCreateParamsStreaming> = {}) =>
    hear(await responses.create(request(more)));
  emulator.desk.script(
    { text: 'Part', finishWord: 'failed' },
    { text: 'Part', finish: 'refused' },
    { text: textOfTokens(90) },
    { refusal: 'I cannot help with that.' },
    { text: 'Never complete.', fault: { kind: 'no_end' } },
  );
  const failed = await ask();
  t.equal(failed.last?.type, 'response.failed');
  t.match(failed.response?.error, { code: 'server_error' });
  const filtered = await ask();
  t.match(filtered.response, { status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
  const long = await ask({ max_output_tokens: 16 });
  t.match(long.response, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  const refused = await ask();
  t.ok(refused.events.some((event) => event.type === 'response.refusal.delta'));
  t.equal((await ask()).response?.status, undefined, 'the stream ended without a last event');
  for (const kind of ['cut', 'malformed', 'error_event'] as const) {
    emulator.desk.script({ text: ['One ', 'two ', 'three.'], fault: { kind, after: 2 } });
    await t.rejects(ask(), kind);
  }
  t.same(emulator.violations.list, []);
});

t.test(
  'D-35 openai responses: cached tokens follow key and prefix, and unknown fields are refused',
  async (t) => {
    const emulator = await startOpenAi();
    t.teardown(() => emulator.close());
    const { responses } = sdk(emulator.url);
    const cached = async (key: string) => {
      const heard = await hear(
        await responses.create(
          request({ instructions: textOfTokens(1_500), prompt_cache_key: key, tools: TOOLS }),
        ),
      );
      return heard.response?.usage?.input_tokens_details.cached_tokens;
    };
    t.equal(await cached('a'), 0);
    t.ok(((await cached('a')) ?? 0) >= 1_408);
    t.equal(await cached('b'), 0);
    t.same(emulator.violations.take(), []);
    await t.rejects(responses.create(request({ temperature: 0.4 })), {
      status: 400,
      param: 'temperature',
      message: /./,
    });
    await t.rejects(responses.create(request({ truncation: 'auto' })), {
      status: 400,
      param: 'truncation',
      message: /./,
    });
    await t.rejects(responses.create(request({ max_output_tokens: 4 })), {
      status: 400,
      message: /below 16/,
    });
    t.equal(emulator.violations.take().length, 3);
  },
);
