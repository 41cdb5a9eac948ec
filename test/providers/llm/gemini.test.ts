import t, { type Test } from 'tap';
import type { LlmRequest, LlmUsage } from '../../../src/providers/contract/language-model.ts';
import type { ProviderContext } from '../../../src/providers/contract/provider-context.ts';
import { type GeminiOptions, startGemini } from '../../emulators/gemini.ts';
import { textOfTokens } from '../../emulators/llm/tokens.ts';
import { until } from '../../harness/wait.ts';
import {
  afterTools,
  ask,
  BALANCE_TOOL,
  HostCache,
  listening,
  NEVER,
  ORDER_TOOL,
  open,
  user,
} from './asking.ts';

const MODEL = 'gemini-3.5-flash-lite';

/** An emulator and a client of it, both gone when the test ends; the test fails where the vendor would have objected. */
async function house(
  t: Test,
  options: GeminiOptions & { config?: Record<string, unknown>; context?: ProviderContext } = {},
) {
  const vendor = await startGemini(options);
  t.teardown(() => vendor.close());
  const config = {
    provider: 'gemini',
    model: MODEL,
    api_key: vendor.apiKey,
    base_url: vendor.url,
    ...options.config,
  };
  return { vendor, config, llm: await open(t, config, options.context) };
}

function cached(dynamicText: string, text: string, tokens = 5_000): Partial<LlmRequest> {
  const staticText = textOfTokens(tokens);
  return {
    system: `${staticText}\n\n${dynamicText}`,
    systemParts: {
      staticText,
      dynamicText,
      version: 'static-7',
      cacheKey: null,
      retention: null,
      ttlSeconds: null,
    },
    messages: [user(text)],
    tools: [BALANCE_TOOL],
  };
}

t.test('R8 gemini: an answer is streamed over v1 and v1beta with the key in its header', async (t) => {
  for (const version of ['v1', 'v1beta']) {
    const { vendor, llm } = await house(t, { config: { api_version: version } });
    const answer = await ask(llm, 'What time is it?');
    t.equal(answer.text, 'You said: What time is it? What else can I do?');
    t.equal(answer.finish, 'stop');
    t.ok(answer.deltas.filter((delta) => delta.type === 'text').length > 3, 'the text comes in pieces');
    t.match(vendor.desk.served[0]?.path, new RegExp(`^/${version}/models/${MODEL}:streamGenerateContent`));
    const request = vendor.log.entries.find((entry) => entry.kind === 'request');
    t.same(request?.query, [['alt', 'sse']], 'nothing but alt stands in the address');
    t.same(vendor.violations.list, []);
  }
});

t.test('R8 gemini: CRLF lines and characters cut between TCP segments arrive whole', async (t) => {
  const text = 'नमस्ते, आपका खाता ₹१२०० का है — धन्यवाद! 😀';
  for (const splitEvery of [2, 5]) {
    const { llm } = await house(t, { answers: [{ text: [text.slice(0, 11), text.slice(11)], splitEvery }] });
    const answer = await ask(llm, 'नमस्ते');
    t.equal(answer.text, text, `${splitEvery} bytes a segment`);
    t.equal(answer.error, null);
  }
});

t.test('R8 gemini: thoughts are never spoken and count as output', async (t) => {
  const { llm } = await house(t, {
    answers: [
      {
        thoughts: 'The caller wants the time.',
        text: 'It is noon.',
        usage: { promptTokens: 20, completionTokens: 4, thoughtTokens: 9 },
      },
    ],
  });
  const answer = await ask(llm, 'What time is it?');
  t.equal(answer.text, 'It is noon.');
  t.match(answer.usage, { promptTokens: 20, completionTokens: 13, cacheReadTokens: 0 });
});

t.test('R8 gemini: a call and its signature go back unchanged, with id and name', async (t) => {
  const { vendor, llm } = await house(t);
  vendor.desk.script({ text: 'One moment.', toolCalls: [{ name: 'get_balance', args: { account: 'A-1' } }] });
  const messages = [user('My balance?')];
  const first = await ask(llm, { messages, tools: [BALANCE_TOOL] });
  t.match(first.calls, [{ name: 'get_balance', args: { account: 'A-1' } }]);
  t.equal(first.finish, 'tool_calls');
  const second = await ask(llm, {
    messages: afterTools(messages, first, [{ amount: 12 }]),
    tools: [BALANCE_TOOL],
  });
  t.equal(second.error, null);
  t.match(second.text, /12/, 'the model saw the result');
  t.same(vendor.violations.list, []);

  const body = vendor.desk.served[1]?.body as { contents: { parts: Record<string, unknown>[] }[] };
  const parts = body.contents.flatMap((content) => content.parts);
  t.ok(
    parts.some((part) => part.thoughtSignature && part.functionCall),
    'the signature stands beside the call',
  );

  // Without it the vendor refuses: the proof that the emulator would have told.
  const bare = {
    ...first,
    calls: first.calls.map((call) => ({ ...call, opaque: { ...(call.opaque as object) } })),
  };
  for (const call of bare.calls) delete (call.opaque as { thoughtSignature?: string }).thoughtSignature;
  const refused = await ask(llm, {
    messages: afterTools(messages, bare, [{ amount: 12 }]),
    tools: [BALANCE_TOOL],
  });
  t.match(refused.failure, { class: 'config', status: 400, provider: 'gemini' });
});

t.test('R8 gemini: two calls at once get their results in one turn', async (t) => {
  const { vendor, llm } = await house(t);
  vendor.desk.script({
    toolCalls: [
      { name: 'get_balance', args: { account: 'A' } },
      { name: 'get_order', args: {}, id: null },
    ],
  });
  const messages = [user('Both, please')];
  const tools = [BALANCE_TOOL, ORDER_TOOL];
  const first = await ask(llm, { messages, tools });
  t.equal(first.calls.length, 2);
  const second = await ask(llm, { messages: afterTools(messages, first, [{ a: 1 }, 'sent']), tools });
  t.equal(second.error, null);
  t.same(vendor.violations.list, []);
});

t.test('R8 gemini: calls that another vendor made are told in words', async (t) => {
  const { vendor, llm } = await house(t);
  const answer = await ask(llm, {
    messages: [
      user('My balance?'),
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 'call_1', name: 'get_balance', args: { account: 'A' } }],
      },
      { role: 'tool', callId: 'call_1', name: 'get_balance', result: { amount: 99 } },
    ],
    tools: [BALANCE_TOOL],
  });
  t.equal(answer.error, null);
  t.match(answer.text, /99/);
  t.same(vendor.violations.list, []);
});

t.test('R8 gemini: a safety stop and a blocked prompt end the answer as refused', async (t) => {
  for (const script of [
    { text: '', finishWord: 'SAFETY' },
    { blockReason: 'PROHIBITED_CONTENT' },
    { text: 'I will', finishWord: 'SPII' },
  ]) {
    const { llm } = await house(t, { answers: [script] });
    const answer = await ask(llm, 'Something odd');
    t.equal(answer.finish, 'refused', JSON.stringify(script));
    t.equal(answer.error, null);
  }
});

t.test('R8 gemini: a broken function call is an error of the content', async (t) => {
  for (const finishWord of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE']) {
    const { llm } = await house(t, { answers: [{ text: '', finishWord }] });
    const answer = await ask(llm, 'My balance?');
    t.match(answer.failure, { class: 'content', vendorCode: finishWord });
  }
});

t.test('R8 gemini: 429 tells how long to wait, from RetryInfo', async (t) => {
  const { vendor, llm } = await house(t, {
    answers: [{ fault: { kind: 'refuse', as: 'rate_limit', retryAfterMs: 7_000 } }],
  });
  const answer = await ask(llm, 'Hello');
  t.match(answer.failure, { class: 'rate_limit', status: 429, retryAfterMs: 7_000 });
  t.equal(vendor.desk.served.length, 1, 'the client does not ask again by itself');
});

t.test('R8 gemini: a connection cut after some chunks gives what came and then an error', async (t) => {
  for (const fault of [
    { kind: 'cut', after: 2 },
    { kind: 'no_end' },
    { kind: 'malformed', after: 2 },
    { kind: 'error_event', after: 2, as: 'unavailable' },
  ] as const) {
    const { llm } = await house(t, { answers: [{ text: ['One ', 'two ', 'three '], fault }] });
    const answer = await ask(llm, 'Count');
    t.match(answer.text, /^One two /, fault.kind);
    t.equal(answer.failure?.class, 'transient', fault.kind);
    t.equal(answer.finish, null);
  }
});

t.test('R8 gemini: the last events coming twice change nothing', async (t) => {
  const { llm } = await house(t, { answers: [{ text: 'Yes.', fault: { kind: 'duplicate_final' } }] });
  const answer = await ask(llm, 'Sure?');
  t.equal(answer.finish, 'stop');
  t.equal(answer.text, 'Yes.');
  const counts = answer.deltas.flatMap((delta) => (delta.type === 'usage' ? [delta.usage] : []));
  const { promptTokens, completionTokens } = counts.at(-2) ?? {};
  t.match(counts.at(-1), { promptTokens, completionTokens }, 'a count takes the place of the one before');
});

t.test('R8 gemini: reasoning becomes a level or a budget that the model has', async (t) => {
  const cases: [string, string | undefined, unknown][] = [
    ['gemini-3.5-flash-lite', undefined, { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.6-flash', 'high', { thinkingLevel: 'HIGH' }],
    ['gemini-3.8-flash', undefined, { thinkingLevel: 'LOW' }],
    ['gemini-2.5-flash', undefined, { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1_024 }],
  ];
  for (const [model, reasoning, expected] of cases) {
    const { vendor, llm } = await house(t, { config: { model, ...(reasoning && { reasoning }) } });
    const answer = await ask(llm, 'Hello');
    t.equal(answer.error, null, `${model} ${reasoning}`);
    const body = vendor.desk.served[0]?.body as { generationConfig: { thinkingConfig: unknown } };
    t.same(body.generationConfig.thinkingConfig, expected);
    t.same(vendor.violations.list, []);
  }
});

t.test('R8 R16 R112 gemini: prompt and tools are served from a cache entry, none per request', async (t) => {
  const host = new HostCache();
  const context = listening({ promptCache: host.port() });
  const { vendor, llm } = await house(t, { context });
  const first = await ask(llm, cached('The caller is Asha.', 'Hello'));
  t.equal(first.error, null);
  t.match(first.cache, { enabled: true, status: 'miss', version: 'static-7' });
  t.match(first.cache?.reason, /^creat/);
  await until(() => host.created.length === 1, 'an entry is made');
  const second = await ask(llm, cached('The caller is Asha.', 'And my balance?'));
  t.same(second.cache, { enabled: true, status: 'hit', version: 'static-7', reason: null });

  const body = vendor.desk.served[1]?.body as Record<string, unknown>;
  t.equal(body.cachedContent, host.entry?.name);
  for (const key of ['systemInstruction', 'tools', 'toolConfig']) t.notOk(key in body, `no ${key}`);
  t.match(body.contents, [
    { role: 'user', parts: [{ text: 'The caller is Asha.' }, { text: 'And my balance?' }] },
  ]);
  const entry = vendor.caches.live[0];
  t.equal(entry?.model, `models/${MODEL}`);
  t.match(JSON.stringify(entry?.body.tools), /get_balance/, 'the tools lie in the entry');
  t.notMatch(JSON.stringify(entry?.body), /Asha/, 'nothing of this call does');
  t.equal(vendor.caches.counts.created, 1);
  t.same(vendor.violations.list, []);

  const tokens = entry?.tokens ?? 0;
  t.equal(second.usage?.cacheReadTokens, tokens, "R110 the count is the vendor's");
  t.ok((second.usage?.promptTokens ?? 0) > tokens, 'R109 the prompt includes what was cached');
  t.equal(first.usage?.cacheReadTokens, 0, 'absent on a miss');
  t.equal((first.usage?.cacheCreationTokens ?? 0) + (second.usage?.cacheCreationTokens ?? 0), tokens);
});

t.test('R8 gemini: tools work from the cache entry', async (t) => {
  const host = new HostCache();
  const { vendor, llm } = await house(t, { context: listening({ promptCache: host.port() }) });
  const request = cached('Be short.', 'use the tool get_balance {"account":"B"}');
  await llm.warm?.(request as LlmRequest);
  t.equal(host.created.length, 1, 'warm made the entry before the first turn');
  const first = await ask(llm, request);
  t.match(first.calls, [{ name: 'get_balance', args: { account: 'B' } }]);
  t.equal(first.cache?.status, 'hit');
  const messages = afterTools(request.messages ?? [], first, [{ amount: 5 }]);
  const second = await ask(llm, { ...request, messages });
  t.match(second.text, /5/);
  t.same(vendor.violations.list, []);
});

t.test(
  'R8 RT-52 gemini: a lost entry is not heard of, the turn goes uncached and a new one is made',
  async (t) => {
    for (const lostCacheStatus of [403, 404] as const) {
      const host = new HostCache();
      const context = listening({ promptCache: host.port() });
      const { vendor, llm } = await house(t, { context, lostCacheStatus });
      await llm.warm?.(cached('', 'x') as LlmRequest);
      const lost = host.entry?.name;
      vendor.caches.moveTime(4_000_000);
      const answer = await ask(llm, cached('The caller is Asha.', 'Hello'));
      t.equal(answer.error, null);
      t.match(answer.text, /You said: Hello/);
      t.match(answer.cache, { status: 'miss', reason: 'expired' });
      t.same(host.lost, [lost]);
      const uncached = vendor.desk.served.at(-1)?.body as Record<string, unknown>;
      t.match(JSON.stringify(uncached.systemInstruction), /Asha/, 'with the whole prompt');
      await until(() => host.created.length === 2, 'the entry is made anew');
      const next = await ask(llm, cached('The caller is Asha.', 'Again'));
      t.match(next.cache, { status: 'hit', reason: 'recreated' });
      t.ok(context.troubles.some((one) => one.event === 'provider_cache' && one.action === 'lost'));
    }
  },
);

t.test('R8 gemini: an entry with less than a quarter of its life left is extended', async (t) => {
  const host = new HostCache();
  const { vendor, llm } = await house(t, {
    context: listening({ promptCache: host.port({ ttlSeconds: 3_600 }) }),
  });
  await llm.warm?.(cached('', 'x') as LlmRequest);
  await ask(llm, cached('', 'Hello'));
  t.equal(vendor.caches.counts.extended, 0, 'not while it is fresh');
  vendor.caches.moveTime(3_000_000);
  if (host.entry) host.entry = { ...host.entry, expiresAtMs: Date.now() + 600_000 };
  const before = host.entry?.name;
  const answer = await ask(llm, cached('', 'Hello'));
  t.equal(answer.cache?.status, 'hit');
  await until(() => host.extended.length === 1, 'the entry is extended');
  t.equal(host.entry?.name, before);
  t.ok((host.entry?.expiresAtMs ?? 0) > Date.now() + 3_000_000);
  vendor.caches.moveTime(1_000_000);
  const late = await ask(llm, cached('', 'Hello'));
  t.match(late.cache, { status: 'hit', reason: 'extended' }, 'it lives on after its first end');
  t.same(vendor.violations.list, []);
});

t.test('R8 gemini: a prompt below the size floor is asked for once in a call', async (t) => {
  const host = new HostCache();
  const context = listening({ promptCache: host.port() });
  const { vendor, llm } = await house(t, { context });
  await ask(llm, cached('', 'One', 100));
  await until(() => host.failures.length === 1, 'the vendor refuses');
  const second = await ask(llm, cached('', 'Two', 100));
  const third = await ask(llm, cached('', 'Three', 100));
  t.match(second.cache, { status: 'miss', reason: 'too_small' });
  t.match(third.cache, { status: 'miss', reason: 'too_small' });
  t.equal(vendor.caches.counts.refused, 1);
  t.same(host.failures, ['too_small']);
});

t.test('R8 gemini: another slot makes the entry, this one goes without and then uses it', async (t) => {
  const host = new HostCache();
  const config = {};
  const {
    vendor,
    llm,
    config: same,
  } = await house(t, { context: listening({ promptCache: host.port() }), config });
  const other = await open(t, same, listening({ promptCache: host.port() }));
  const [one, two] = await Promise.all([ask(llm, cached('', 'Hello')), ask(other, cached('', 'Hello'))]);
  t.equal(one.error ?? two.error, null);
  await until(() => host.created.length > 0, 'one of them makes it');
  const [three, four] = await Promise.all([ask(llm, cached('', 'Hi')), ask(other, cached('', 'Hi'))]);
  t.equal(three.cache?.status, 'hit');
  t.equal(four.cache?.status, 'hit');
  t.equal(vendor.caches.counts.created, 1);
});

t.test('R8 gemini: an entry of another version is left alone', async (t) => {
  const host = new HostCache();
  host.entry = { name: 'cachedContents/old', expiresAtMs: Date.now() + 1_000_000, version: 'v0' };
  const { vendor, llm } = await house(t, {
    context: listening({ promptCache: host.port({ version: 'v1' }) }),
  });
  const answer = await ask(llm, cached('', 'Hello'));
  t.equal(answer.cache?.status, 'miss');
  t.notOk('cachedContent' in (vendor.desk.served[0]?.body ?? {}));
});

t.test('R8 gemini: a wrong key is told as such, also where it fails at the cache', async (t) => {
  const { config } = await house(t);
  const host = new HostCache();
  const context = listening({ promptCache: host.port() });
  const llm = await open(t, { ...config, api_key: 'AIzaWrongKey123456' }, context);
  const answer = await ask(llm, cached('', 'Hello'));
  t.match(answer.failure, { class: 'auth', status: 400 });
  await until(() => host.failures.length === 1, 'the entry fails too');
  t.notMatch(JSON.stringify([context.troubles, String(answer.error), answer.failure]), /AIzaWrong/);
});

t.test('R8 gemini: JSON is asked for where after-call work needs it', async (t) => {
  const { vendor, llm } = await house(t);
  const answer = await ask(llm, { messages: [user('Sum up')], json: true, maxOutputTokens: 300 });
  t.type(JSON.parse(answer.text), 'object');
  t.match(vendor.desk.served[0], { json: true, maxTokens: 300 });
  t.same(vendor.violations.list, []);
});

t.test('R8 gemini: an aborted answer gives its own reason and closes the connection', async (t) => {
  const { vendor, llm } = await house(t, {
    answers: [{ text: ['One ', 'two '], fault: { kind: 'stall', after: 1 } }],
  });
  const bargeIn = new AbortController();
  const reason = new Error('barge-in');
  const seen: string[] = [];
  let usage: LlmUsage | null = null;
  const failed = (async () => {
    for await (const delta of llm.answer({ system: '', messages: [user('Hi')], tools: [] }, bargeIn.signal)) {
      if (delta.type === 'usage') usage = delta.usage;
      else seen.push(delta.type);
      setTimeout(() => bargeIn.abort(reason), 5);
    }
  })();
  await t.rejects(failed, reason);
  t.same(seen, ['text']);
  t.match(usage, { promptTokens: Number, cacheReadTokens: null }, 'R109 what was counted by then is known');
  await until(() => vendor.desk.served[0]?.aborted === true, 'the vendor sees the connection close');
  await t.rejects(
    llm
      .answer({ system: '', messages: [], tools: [] }, AbortSignal.abort(reason))
      [Symbol.asyncIterator]()
      .next(),
    reason,
  );
  t.not(NEVER.aborted, true);
});
