import t from 'tap';
import { HandClock } from '../harness/hand-clock.ts';
import { type AskedRequest, plainResponder } from './llm/answer.ts';
import { BreakpointCache, type PromptBlock } from './llm/breakpoint-cache.ts';
import { PrefixCache } from './llm/prefix-cache.ts';
import { countTokens, textOfTokens } from './llm/tokens.ts';
import { COMPAT_MODEL, startCompat } from './openai-compat.ts';

/** What all emulated language models share, seen through the simplest of them. */
const WAIT_MS = 15_000;

function ask(url: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: COMPAT_MODEL,
      stream: true,
      messages: [{ role: 'user', content: 'Hello.' }],
    }),
    ...(signal ? { signal } : {}),
  });
}

async function until(holds: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += 10) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the condition did not come about');
}

t.test('an emulated model delays its answer on the clock of the test', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await startCompat({
    clock,
    answers: [{ text: ['a', 'b'], firstByteMs: 4_000, betweenMs: 1_000 }],
  });
  t.teardown(() => emulator.close());
  const response = ask(emulator.url);
  await until(() => emulator.desk.served.length === 1 && clock.pendingTimers === 1);
  const served = emulator.desk.served[0];
  t.equal(served?.firstContentAtMs, null);
  // Head, two texts, the finish and the mark that nothing follows: four pauses between them.
  for (const stepMs of [4_000, 1_000, 1_000, 1_000, 1_000]) {
    await until(() => clock.pendingTimers === 1);
    await clock.advance(stepMs, stepMs);
  }
  t.match(await (await response).text(), /"content":"a".*"content":"b".*\[DONE\]/s);
  t.equal((served?.firstContentAtMs ?? 0) - (served?.receivedAtMs ?? 0), 5_000);
  t.equal((served?.endedAtMs ?? 0) - (served?.receivedAtMs ?? 0), 8_000);
  t.equal(served?.aborted, false);
});

t.test('scripted answers come in order, then the responder answers', async (t) => {
  const emulator = await startCompat({ answers: [{ text: 'First.' }, { text: 'Second.' }] });
  t.teardown(() => emulator.close());
  emulator.desk.respondWith((request) => ({ text: `Number ${request.index}.` }));
  t.equal(emulator.desk.waiting, 2);
  const texts: string[] = [];
  for (let round = 0; round < 3; round += 1) texts.push(await (await ask(emulator.url)).text());
  t.match(texts[0], /First\./);
  t.match(texts[1], /Second\./);
  t.match(texts[2], /"2\."/);
});

t.test('an emulated model that stays silent notices when the client goes', async (t) => {
  const emulator = await startCompat({
    answers: [{ fault: { kind: 'silent' } }, { fault: { kind: 'reset' } }],
  });
  t.teardown(() => emulator.close());
  const abort = new AbortController();
  const silent = ask(emulator.url, abort.signal);
  await emulator.desk.asked(0);
  abort.abort();
  await t.rejects(silent);
  await until(() => emulator.desk.served[0]?.aborted === true);
  await t.rejects(ask(emulator.url), 'reset');
  t.equal(emulator.desk.served[1]?.aborted, false, 'a reset is not the client’s doing');
  const ahead = await fetch(emulator.url, { method: 'HEAD' });
  t.equal(ahead.status, 404);
  t.equal(emulator.counters().warm, 1, 'a connection opened ahead is counted and no violation');
  t.same(emulator.violations.list, []);
});

t.test(
  'without a script a model repeats the caller, tells results, uses tools and writes JSON',
  async (t) => {
    const request: AskedRequest = {
      index: 0,
      model: 'x',
      system: '',
      lastUserText: 'Good morning.',
      toolResults: [],
      toolNames: ['end_call'],
      json: false,
      maxTokens: null,
      body: {},
    };
    t.same(plainResponder(request), { text: 'You said: Good morning. What else can I do?' });
    t.same(plainResponder({ ...request, lastUserText: '' }), { text: 'Hello, how can I help?' });
    t.match(plainResponder({ ...request, toolResults: [{ ok: true }] }), {
      text: /The tool says \{"ok":true\}/,
    });
    for (const text of [
      'Please use the tool end_call.',
      'use the tool end_call',
      'Use the tool end_call now',
    ]) {
      t.same(plainResponder({ ...request, lastUserText: text }), {
        toolCalls: [{ name: 'end_call', args: {} }],
      });
    }
    const withInput = { ...request, lastUserText: 'use the tool end_call {"a":1}' };
    t.same(plainResponder(withInput), { toolCalls: [{ name: 'end_call', args: '{"a":1}' }] });
    t.match(plainResponder({ ...request, lastUserText: 'use the tool unknown' }), { text: /You said/ });
    t.type(JSON.parse(String(plainResponder({ ...request, json: true }).text)), 'object');
  },
);

t.test('the cache by prefix forgets after its time, and a hit makes it last', async (t) => {
  const cache = new PrefixCache();
  const prompt = textOfTokens(1_400);
  t.same(cache.use('g', prompt, 1_000, 0), { cachedTokens: 0, writtenTokens: 1_280 });
  t.equal(cache.use('g', `${prompt} more`, 1_000, 900).cachedTokens, 1_280);
  t.equal(cache.use('g', prompt, 1_000, 1_800).cachedTokens, 1_280);
  t.equal(cache.use('g', prompt, 1_000, 4_000).cachedTokens, 0);
  t.equal(cache.use('other', prompt, 1_000, 4_000).cachedTokens, 0);
});

t.test('the cache by marks counts each token once, however many marks there are', async (t) => {
  const cache = new BreakpointCache();
  const block = (text: string, ttl?: '5m' | '1h'): PromptBlock => ({ text, mark: ttl ? { ttl } : null });
  const [a, b, c] = [textOfTokens(100, 'a'), textOfTokens(50, 'b'), textOfTokens(20, 'c')];
  const blocks = [block(a, '1h'), block(b, '5m'), block(c)];
  const sizes = [a, b, c].map(countTokens);
  const first = cache.use('m', blocks, 10, 0);
  t.same(first, {
    readTokens: 0,
    created1hTokens: sizes[0],
    created5mTokens: sizes[1],
    plainTokens: sizes[2],
  });
  const longer = cache.use('m', [...blocks, block(c, '5m')], 10, 1_000);
  t.same(longer, {
    readTokens: (sizes[0] ?? 0) + (sizes[1] ?? 0),
    created1hTokens: 0,
    created5mTokens: 2 * (sizes[2] ?? 0),
    plainTokens: 0,
  });
  const late = cache.use('m', blocks, 10, 1_000_000);
  t.equal(late.readTokens, sizes[0], 'of the two marks the one of an hour is left');
  t.equal(cache.use('another', blocks, 10, 1_000).readTokens, 0);
});
