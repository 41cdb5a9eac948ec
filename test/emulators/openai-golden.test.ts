import OpenAI from 'openai';
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import t from 'tap';
import { TEST_KEY } from './llm/llm-emulator.ts';
import { textOfTokens } from './llm/tokens.ts';
import { startOpenAi } from './openai.ts';

/** The vendor's own SDK against the emulated Chat Completions. */
const MODEL = 'gpt-6-luna';

const TOOLS: ChatCompletionCreateParamsStreaming['tools'] = [
  {
    type: 'function',
    function: {
      name: 'find_slots',
      parameters: {
        type: 'object',
        properties: { day: { type: 'string' } },
        required: ['day'],
        additionalProperties: false,
      },
      strict: true,
    },
  },
];

function sdk(url: string): OpenAI {
  return new OpenAI({ apiKey: TEST_KEY, baseURL: url, maxRetries: 0, logLevel: 'off' });
}

interface Heard {
  text: string;
  refusal: string;
  calls: { id: string; name: string; args: string }[];
  finish: string[];
  usage: ChatCompletionChunk['usage'];
}

async function hear(stream: AsyncIterable<ChatCompletionChunk>): Promise<Heard> {
  const heard: Heard = { text: '', refusal: '', calls: [], finish: [], usage: null };
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    heard.text += choice?.delta.content ?? '';
    heard.refusal += choice?.delta.refusal ?? '';
    for (const part of choice?.delta.tool_calls ?? []) {
      heard.calls[part.index] ??= { id: part.id ?? '', name: part.function?.name ?? '', args: '' };
      const call = heard.calls[part.index];
      if (call) call.args += part.function?.arguments ?? '';
    }
    if (choice?.finish_reason) heard.finish.push(choice.finish_reason);
    heard.usage = chunk.usage ?? heard.usage;
  }
  return heard;
}

function request(
  messages: ChatCompletionMessageParam[],
  more: Partial<ChatCompletionCreateParamsStreaming> = {},
): ChatCompletionCreateParamsStreaming {
  return {
    model: MODEL,
    messages,
    stream: true,
    stream_options: { include_usage: true, include_obfuscation: false },
    reasoning_effort: 'none',
    ...more,
  };
}

const hello: ChatCompletionMessageParam = { role: 'user', content: 'Good morning.' };

t.test('D-35 openai: the SDK streams a plain answer, through comments and padding', async (t) => {
  const emulator = await startOpenAi();
  t.teardown(() => emulator.close());
  const { completions } = sdk(emulator.url).chat;
  const plain = await hear(
    await completions.create(request([{ role: 'developer', content: 'Be brief.' }, hello])),
  );
  t.equal(plain.text, 'You said: Good morning. What else can I do?');
  t.same(plain.finish, ['stop']);
  t.equal(
    plain.usage?.total_tokens,
    (plain.usage?.prompt_tokens ?? 0) + (plain.usage?.completion_tokens ?? 0),
  );
  t.equal(plain.usage?.prompt_tokens_details?.cached_tokens, 0);

  emulator.desk.script({ text: 'नमस्ते 😀 दोस्त', noise: true, splitEvery: 11 });
  const split = await hear(
    await completions.create(request([hello], { stream_options: { include_usage: true } })),
  );
  t.equal(split.text, 'नमस्ते 😀 दोस्त');
  t.match(
    emulator.log
      .of('out', 'chunk')
      .map((entry) => entry.text)
      .join(''),
    /"obfuscation"/,
  );

  const whole = await sdk(emulator.url).chat.completions.create({
    model: 'gpt-4.1',
    messages: [hello],
    temperature: 0.3,
    max_tokens: 50,
  });
  t.equal(whole.choices[0]?.message.content, 'You said: Good morning. What else can I do?');
  t.same(emulator.violations.list, []);
});

t.test(
  'D-35 openai: the SDK reads two calls whose fragments alternate and sends their results',
  async (t) => {
    const emulator = await startOpenAi();
    t.teardown(() => emulator.close());
    const { completions } = sdk(emulator.url).chat;
    const args = JSON.stringify({ day: 'सोमवार "early"\n' });
    emulator.desk.script({
      interleave: true,
      splitEvery: 7,
      toolCalls: [
        // One piece ends inside an escape, and the segments end inside characters.
        { name: 'find_slots', args, fragments: [args.slice(0, 16), args.slice(16, 17), args.slice(17)] },
        { name: 'find_slots', args: { day: 'Tuesday' }, fragments: 3 },
      ],
    });
    const tools = { tools: TOOLS, parallel_tool_calls: true };
    const heard = await hear(await completions.create(request([hello], tools)));
    t.same(heard.finish, ['tool_calls']);
    t.same(
      heard.calls.map((call) => JSON.parse(call.args)),
      [{ day: 'सोमवार "early"\n' }, { day: 'Tuesday' }],
    );
    const called: ChatCompletionMessageParam = {
      role: 'assistant',
      content: null,
      tool_calls: heard.calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.args },
      })),
    };
    const results = heard.calls.map(
      (call): ChatCompletionMessageParam => ({
        role: 'tool',
        tool_call_id: call.id,
        content: '["ten"]',
      }),
    );
    const told = await hear(await completions.create(request([hello, called, ...results], tools)));
    t.match(told.text, 'The tool says ["ten"]');
    t.same(emulator.violations.take(), []);

    await t.rejects(completions.create(request([hello, called, ...results.slice(1)], tools)), {
      status: 400,
      message: /did not have response messages/,
    });
    await t.rejects(completions.create(request([hello, ...results], tools)), {
      status: 400,
      message: /must be a response to a preceding message/,
    });
    t.equal(emulator.violations.take().length, 2);
  },
);

t.test('D-35 openai: every model refuses what it does not take', async (t) => {
  const emulator = await startOpenAi();
  t.teardown(() => emulator.close());
  const { completions } = sdk(emulator.url).chat;
  const { reasoning_effort: _, ...bare } = request([hello]);
  const wrong: [ChatCompletionCreateParamsStreaming, string | null, RegExp][] = [
    [{ ...bare, reasoning_effort: 'low', tools: TOOLS }, 'tools', /set reasoning_effort to none/],
    [{ ...bare, tools: TOOLS }, 'tools', /set reasoning_effort to none/],
    [{ ...bare, model: 'gpt-4.1', reasoning_effort: 'low' }, 'reasoning_effort', /not supported/],
    [{ ...bare, reasoning_effort: 'low', temperature: 0.2 }, 'temperature', /does not support 0.2/],
    [
      { ...bare, model: 'gpt-5-mini', reasoning_effort: 'none' },
      'reasoning_effort',
      /does not support "none"/,
    ],
    [{ ...bare, max_tokens: 10 }, 'max_tokens', /not supported/],
    [{ ...bare, seed: 1 }, 'seed', /Unknown parameter: 'seed'/],
    [{ ...bare, tool_choice: 'auto' }, 'tool_choice', /only allowed when 'tools'/],
    [{ ...bare, stream: false } as never, 'stream_options', /only allowed when 'stream'/],
  ];
  for (const [body, param, message] of wrong) {
    await t.rejects(completions.create(body), { status: 400, param, message });
  }
  t.equal(emulator.violations.take().length, wrong.length);

  await t.rejects(completions.create({ ...bare, model: 'gpt-4.1-nano' }), {
    status: 404,
    code: 'model_not_found',
    message: /does not exist/,
  });
  for (const model of [MODEL, 'gpt-5.5']) {
    await t.rejects(completions.create({ ...bare, model, prompt_cache_retention: 'in_memory' }), {
      status: 400,
      param: 'prompt_cache_retention',
      message: /not supported/,
    });
  }
  await t.rejects(completions.create({ ...bare, model: 'gpt-4.1', prompt_cache_options: { ttl: '30m' } }), {
    param: 'prompt_cache_options',
    message: /not supported/,
  });
  t.same(emulator.violations.list, [], 'what even a good client may meet is no mistake');
  t.equal(emulator.desk.served.length, 0);
});

t.test('D-35 openai: tokens count as cached only where key and prefix repeat from 1024 on', async (t) => {
  const emulator = await startOpenAi();
  t.teardown(() => emulator.close());
  const { completions } = sdk(emulator.url).chat;
  const cachedOf = async (system: string, key: string, user = 'Hello.') => {
    const heard = await hear(
      await completions.create(
        request(
          [
            { role: 'developer', content: system },
            { role: 'user', content: user },
          ],
          { prompt_cache_key: key },
        ),
      ),
    );
    return heard.usage?.prompt_tokens_details;
  };
  const long = textOfTokens(1_500);
  const first = await cachedOf(long, 'bot-1');
  t.equal(first?.cached_tokens, 0);
  t.ok((first?.cache_write_tokens ?? 0) >= 1_408, 'newer models tell what they wrote');
  const second = await cachedOf(long, 'bot-1', 'Something else.');
  t.equal((second?.cached_tokens ?? 0) % 128, 0);
  t.ok((second?.cached_tokens ?? 0) >= 1_408);
  t.equal((await cachedOf(long, 'bot-2'))?.cached_tokens, 0, 'another key');
  t.equal((await cachedOf(`Changed. ${long}`, 'bot-1'))?.cached_tokens, 0, 'another prefix');
  const short = textOfTokens(800, 'short');
  await cachedOf(short, 'bot-1');
  t.equal((await cachedOf(short, 'bot-1'))?.cached_tokens, 0, 'below the floor');
  t.same(emulator.violations.list, []);
});

t.test('D-35 openai: the SDK reports what the vendor refuses and how a stream breaks', async (t) => {
  const emulator = await startOpenAi();
  t.teardown(() => emulator.close());
  const { completions } = sdk(emulator.url).chat;
  const ask = () => completions.create(request([hello]));
  emulator.desk.script({ fault: { kind: 'refuse', as: 'rate_limit', retryAfterMs: 150 } });
  const limited = await ask().catch((error: unknown) => error);
  t.ok(limited instanceof OpenAI.RateLimitError);
  t.match(limited, { status: 429, code: 'rate_limit_exceeded' });
  t.equal((limited as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after-ms'), '150');
  for (const [as, status, code] of [
    ['quota', 429, 'insufficient_quota'],
    ['context_too_large', 400, 'context_length_exceeded'],
    ['server_error', 500, null],
    ['unavailable', 503, null],
  ] as const) {
    emulator.desk.script({ fault: { kind: 'refuse', as } });
    await t.rejects(ask(), { status, code, message: /./ });
  }
  for (const kind of ['cut', 'malformed', 'error_event'] as const) {
    emulator.desk.script({ text: ['One ', 'two ', 'three.'], fault: { kind, after: 2 } });
    await t.rejects(ask().then(hear), kind);
  }
  emulator.desk.script(
    { text: 'Complete.', fault: { kind: 'no_done' } },
    { text: 'Twice.', fault: { kind: 'duplicate_final' } },
    { refusal: 'I cannot help with that.' },
    { finish: 'refused', text: 'Part' },
    { text: textOfTokens(90) },
  );
  t.match(await ask().then(hear), { text: 'Complete.', finish: ['stop'] });
  t.match(await ask().then(hear), { text: 'Twice.', finish: ['stop', 'stop'] });
  t.match(await ask().then(hear), { refusal: 'I cannot help with that.', text: '' });
  t.match(await ask().then(hear), { finish: ['content_filter'] });
  const cut = await completions.create(request([hello], { max_completion_tokens: 20 })).then(hear);
  t.same(cut.finish, ['length']);
  t.ok((cut.usage?.completion_tokens ?? 99) <= 20);

  const stranger = new OpenAI({ apiKey: 'nobody', baseURL: emulator.url, maxRetries: 0, logLevel: 'off' });
  await t.rejects(stranger.chat.completions.create(request([hello])), { status: 401, message: /API key/ });
  t.same(emulator.violations.list, []);
});

t.test('D-35 openai: the SDK stops a stalled answer, and the emulator sees the connection go', async (t) => {
  const emulator = await startOpenAi({
    answers: [{ text: ['One ', 'two.'], fault: { kind: 'stall', after: 1 } }],
  });
  t.teardown(() => emulator.close());
  const stream = await sdk(emulator.url).chat.completions.create(request([hello]));
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content === 'One ') stream.controller.abort();
  }
  const served = emulator.desk.served[0];
  for (let wait = 0; wait < 500 && !served?.aborted; wait += 1) await new Promise((go) => setTimeout(go, 20));
  t.equal(served?.aborted, true);
  t.equal(served?.contentEvents, 1);
});
