import { type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import t from 'tap';
import { startGemini } from './gemini.ts';
import { TEST_KEY } from './llm/llm-emulator.ts';
import { textOfTokens } from './llm/tokens.ts';

/** The vendor's own SDK against the emulator: what it sends must pass, and what it reads must be what was scripted. */
const MODEL = 'gemini-3.5-flash-lite';

const SLOTS = {
  functionDeclarations: [
    {
      name: 'find_slots',
      description: 'Finds free appointments.',
      parametersJsonSchema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
    },
  ],
};

function sdk(url: string, apiVersion?: string): GoogleGenAI {
  return new GoogleGenAI({
    apiKey: TEST_KEY,
    httpOptions: { baseUrl: url, ...(apiVersion ? { apiVersion } : {}) },
  });
}

interface Heard {
  text: string;
  parts: Part[];
  last: GenerateContentResponse | undefined;
  chunks: number;
}

async function hear(stream: AsyncIterable<GenerateContentResponse>): Promise<Heard> {
  const heard: Heard = { text: '', parts: [], last: undefined, chunks: 0 };
  for await (const chunk of stream) {
    const parts = chunk.candidates?.[0]?.content?.parts ?? [];
    heard.parts.push(...parts.filter((part) => part.text !== ''));
    for (const part of parts) if (!part.thought) heard.text += part.text ?? '';
    heard.last = chunk;
    heard.chunks += 1;
  }
  return heard;
}

const says = (text: string): Content => ({ role: 'user', parts: [{ text }] });

t.test('D-35 gemini: the SDK streams a plain answer under v1 and v1beta', async (t) => {
  const emulator = await startGemini();
  t.teardown(() => emulator.close());
  for (const version of [undefined, 'v1', 'v1beta']) {
    const stream = await sdk(emulator.url, version).models.generateContentStream({
      model: MODEL,
      contents: [says('Good morning.')],
      config: {
        systemInstruction: 'You are a receptionist.',
        temperature: 1,
        maxOutputTokens: 200,
        thinkingConfig: { thinkingLevel: 'MINIMAL' as never },
      },
    });
    const heard = await hear(stream);
    t.equal(heard.text, 'You said: Good morning. What else can I do?');
    t.equal(heard.last?.candidates?.[0]?.finishReason, 'STOP');
    const usage = heard.last?.usageMetadata;
    t.equal(usage?.totalTokenCount, (usage?.promptTokenCount ?? 0) + (usage?.candidatesTokenCount ?? 0));
    t.equal(usage?.cachedContentTokenCount, undefined, 'absent without a cache');
  }
  t.same(emulator.violations.list, []);
  t.equal(emulator.desk.served[0]?.system, 'You are a receptionist.');
  t.notMatch(JSON.stringify(emulator.log.entries), TEST_KEY, 'the key stands nowhere in the log');
});

t.test(
  'D-35 gemini: the SDK reads lines with CRLF whose characters are split over TCP segments',
  async (t) => {
    const text = 'नमस्ते, आपका स्वागत है। 😀 कैसे मदद करूँ?';
    const emulator = await startGemini({ answers: [{ text, splitEvery: 37, noise: true }] });
    t.teardown(() => emulator.close());
    const heard = await hear(
      await sdk(emulator.url).models.generateContentStream({ model: MODEL, contents: [says('नमस्ते')] }),
    );
    t.equal(heard.text, text);
    t.match(emulator.log.of('out', 'chunk').at(-1)?.text, /^data: .*\r\n\r\n$/s);
  },
);

t.test(
  'D-35 gemini: the SDK sends a function call back with its signature, and without it is refused',
  async (t) => {
    const emulator = await startGemini();
    t.teardown(() => emulator.close());
    const { models } = sdk(emulator.url);
    const ask = says('use the tool find_slots {"day":"Monday"}');
    const config = { tools: [SLOTS] };
    const heard = await hear(await models.generateContentStream({ model: MODEL, contents: [ask], config }));
    const [called] = heard.parts;
    t.same(called?.functionCall?.args, { day: 'Monday' });
    t.ok(called?.thoughtSignature);
    const { id, name } = called?.functionCall ?? {};
    const result: Content = {
      role: 'user',
      parts: [
        { functionResponse: { ...(id ? { id } : {}), name: name ?? '', response: { output: ['ten'] } } },
      ],
    };
    const call: Content = { role: 'model', parts: [called as Part] };
    const told = await hear(
      await models.generateContentStream({ model: MODEL, contents: [ask, call, result], config }),
    );
    t.match(told.text, 'The tool says {"output":["ten"]}');
    t.same(emulator.violations.take(), []);

    const bare: Content = { role: 'model', parts: [{ functionCall: called?.functionCall ?? {} }] };
    await t.rejects(models.generateContentStream({ model: MODEL, contents: [ask, bare, result], config }), {
      status: 400,
      message: /thought_signature/,
    });
    const forged: Content = { role: 'model', parts: [{ ...called, thoughtSignature: 'Zm9yZ2Vk' }] };
    await t.rejects(models.generateContentStream({ model: MODEL, contents: [ask, forged, result], config }), {
      status: 400,
      message: /Corrupted thought signature/,
    });
    await t.rejects(models.generateContentStream({ model: MODEL, contents: [ask, call], config }), {
      message: /number of function response parts/,
    });
    t.equal(emulator.violations.take().length, 3);
  },
);

t.test('D-35 gemini: the SDK creates, uses, extends and deletes a cache entry', async (t) => {
  const emulator = await startGemini();
  t.teardown(() => emulator.close());
  const { caches, models } = sdk(emulator.url);
  const entry = await caches.create({
    model: `models/${MODEL}`,
    config: {
      systemInstruction: textOfTokens(4_200),
      tools: [SLOTS],
      ttl: '3600s',
      displayName: 'bot 1',
    },
  });
  const tokens = entry.usageMetadata?.totalTokenCount ?? 0;
  t.ok(tokens >= 4_200);
  const name = entry.name ?? '';
  const ask = { model: MODEL, contents: [says('use the tool find_slots')] };
  const hit = await hear(await models.generateContentStream({ ...ask, config: { cachedContent: name } }));
  t.equal(hit.parts[0]?.functionCall?.name, 'find_slots', 'its tools are in the entry');
  t.equal(hit.last?.usageMetadata?.cachedContentTokenCount, tokens);
  t.ok((hit.last?.usageMetadata?.promptTokenCount ?? 0) > tokens, 'the prompt counts the cached part');

  t.equal((await caches.get({ name })).expireTime, entry.expireTime);
  const listed: string[] = [];
  for await (const one of await caches.list()) listed.push(one.name ?? '');
  t.same(listed, [name]);
  emulator.caches.moveTime(3_000_000);
  const extended = await caches.update({ name, config: { ttl: '3600s' } });
  t.ok(Date.parse(extended.expireTime ?? '') > Date.parse(entry.expireTime ?? ''));
  t.same(emulator.caches.counts, { created: 1, extended: 1, deleted: 0, refused: 0 });
  t.same(emulator.violations.take(), []);

  await t.rejects(models.generateContentStream({ ...ask, config: { cachedContent: name, tools: [SLOTS] } }), {
    status: 400,
    message: /CachedContent can not be used with GenerateContent request setting/,
  });
  await t.rejects(
    models.generateContentStream({ ...ask, model: 'gemini-3.8-flash', config: { cachedContent: name } }),
    { status: 400, message: /has to be the same/ },
  );
  t.equal(emulator.violations.take().length, 2);

  emulator.caches.moveTime(3_700_000);
  await t.rejects(models.generateContentStream({ ...ask, config: { cachedContent: name } }), {
    status: 403,
    message: /CachedContent not found/,
  });
  const second = await caches.create({ model: MODEL, config: { systemInstruction: textOfTokens(4_200) } });
  await caches.delete({ name: second.name ?? '' });
  await t.rejects(caches.get({ name: second.name ?? '' }), {
    status: 403,
    message: /CachedContent not found/,
  });
  t.same(emulator.violations.list, [], 'an entry that is gone is nobody’s mistake');
});

t.test('D-35 gemini: an entry below the floor is refused with both counts', async (t) => {
  const emulator = await startGemini();
  t.teardown(() => emulator.close());
  const { caches } = sdk(emulator.url);
  for (const [model, floor] of [
    [MODEL, 4_096],
    ['gemini-2.5-flash', 1_024],
    ['gemini-2.5-flash-lite', 2_048],
  ] as const) {
    await t.rejects(caches.create({ model, config: { systemInstruction: textOfTokens(500) } }), {
      status: 400,
      message: new RegExp(`too small. total_token_count=\\d+, min_total_token_count=${floor}`),
    });
  }
  t.same(emulator.violations.list, []);
});

t.test('D-35 gemini: the SDK reports what the vendor refuses and how a stream breaks', async (t) => {
  const emulator = await startGemini();
  t.teardown(() => emulator.close());
  const { models } = sdk(emulator.url);
  const ask = () => models.generateContentStream({ model: MODEL, contents: [says('Hello.')] });
  emulator.desk.script({ fault: { kind: 'refuse', as: 'rate_limit', retryAfterMs: 2_000 } });
  await t.rejects(ask(), { status: 429, message: /RetryInfo.*"retryDelay":"2s"/ });
  emulator.desk.script({ fault: { kind: 'refuse', as: 'overloaded' } });
  await t.rejects(ask(), { status: 503, message: /UNAVAILABLE/ });
  emulator.desk.script({ fault: { kind: 'reset' } });
  await t.rejects(ask());
  for (const kind of ['cut', 'malformed', 'error_event'] as const) {
    emulator.desk.script({ text: ['One ', 'two ', 'three.'], fault: { kind, after: 2 } });
    await t.rejects(ask().then(hear), kind);
    t.equal(emulator.desk.served.at(-1)?.contentEvents === 2 || kind === 'malformed', true);
  }
  t.same(emulator.violations.list, []);
});

t.test(
  'D-35 gemini: the SDK hears filtered, blocked and malformed answers and thoughts as such',
  async (t) => {
    const emulator = await startGemini({
      answers: [
        { finish: 'refused' },
        { blockReason: 'SAFETY' },
        { finishWord: 'MALFORMED_FUNCTION_CALL' },
        { thoughts: ['They greet me.'], text: 'Hello!' },
        { text: 'Twice.', fault: { kind: 'duplicate_final' } },
      ],
    });
    t.teardown(() => emulator.close());
    const { models } = sdk(emulator.url);
    const ask = async () =>
      hear(await models.generateContentStream({ model: MODEL, contents: [says('Hello.')] }));
    const filtered = await ask();
    t.equal(filtered.last?.candidates?.[0]?.finishReason, 'SAFETY');
    t.equal(filtered.last?.candidates?.[0]?.content, undefined);
    const blocked = await ask();
    t.equal(blocked.last?.promptFeedback?.blockReason, 'SAFETY');
    t.equal(blocked.last?.candidates, undefined);
    t.equal((await ask()).last?.candidates?.[0]?.finishReason, 'MALFORMED_FUNCTION_CALL');
    const thoughtful = await ask();
    t.equal(thoughtful.text, 'Hello!');
    t.equal(thoughtful.parts[0]?.thought, true);
    t.ok((thoughtful.last?.usageMetadata?.thoughtsTokenCount ?? 0) > 0);
    t.equal((await ask()).text, 'Twice.');
  },
);

t.test('D-35 gemini: the SDK stops a stalled answer, and the emulator sees the connection go', async (t) => {
  const emulator = await startGemini({
    answers: [{ text: ['One ', 'two.'], fault: { kind: 'stall', after: 1 } }],
  });
  t.teardown(() => emulator.close());
  const abort = new AbortController();
  const stream = await sdk(emulator.url).models.generateContentStream({
    model: MODEL,
    contents: [says('Hello.')],
    config: { abortSignal: abort.signal },
  });
  const reader = stream[Symbol.asyncIterator]();
  t.equal((await reader.next()).value?.text, 'One ');
  const rest = reader.next();
  abort.abort();
  await t.rejects(rest);
  const served = emulator.desk.served[0];
  for (let wait = 0; wait < 500 && !served?.aborted; wait += 1) await new Promise((go) => setTimeout(go, 20));
  t.equal(served?.aborted, true);
});

t.test('D-35 gemini: keys and unknown fields are refused as the vendor does', async (t) => {
  const emulator = await startGemini();
  t.teardown(() => emulator.close());
  const ask = (headers: Record<string, string>, body: object, model = MODEL) =>
    fetch(`${emulator.url}/v1beta/models/${model}:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const contents = [says('Hi')];
  t.equal((await ask({}, { contents })).status, 401);
  const wrong = await ask({ 'x-goog-api-key': 'no' }, { contents });
  t.equal(wrong.status, 400);
  t.match(await wrong.json(), { error: { details: [{ reason: 'API_KEY_INVALID' }] } });
  t.same(emulator.violations.list, []);
  const key = { 'x-goog-api-key': TEST_KEY };
  for (const body of [
    { contents, temperature: 1 },
    { contents, generationConfig: { maxTokens: 5 } },
    { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] },
    { contents: [{ role: 'user', parts: [{ text: '' }] }] },
    { contents: [] },
    { contents, toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['x'] } } },
    { contents, generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 0 } } },
    {
      contents,
      tools: [
        {
          functionDeclarations: [{ name: 'x', parameters: { type: 'object', additionalProperties: false } }],
        },
      ],
    },
  ]) {
    const response = await ask(key, body);
    t.equal(response.status, 400, JSON.stringify(body));
    t.match(await response.json(), { error: { code: 400, status: 'INVALID_ARGUMENT' } });
  }
  t.equal(emulator.violations.take().length, 8);

  const thinking = (level: string) => ({
    contents,
    generationConfig: { thinkingConfig: { thinkingLevel: level } },
  });
  t.equal((await ask(key, thinking('MINIMAL'), 'gemini-3.6-flash')).status, 200);
  t.equal((await ask(key, thinking('LOW'), 'gemini-3.8-flash')).status, 200);
  t.equal((await ask(key, thinking('MINIMAL'), 'gemini-3.8-flash')).status, 400);
  t.equal((await ask(key, thinking('LOW'), 'gemini-2.5-flash')).status, 400);
  t.equal(emulator.violations.take().length, 2);
  t.equal((await ask(key, { contents }, 'gemini-9-flash')).status, 404);
});
