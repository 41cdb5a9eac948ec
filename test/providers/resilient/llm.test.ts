import t from 'tap';
import type { LanguageModel, LlmDelta, LlmRequest } from '../../../src/providers/contract/language-model.ts';
import type { WastedTokens } from '../../../src/providers/contract/provider-context.ts';
import { providerError } from '../../../src/providers/contract/provider-error.ts';
import { createResilientLlm, STALL_MS } from '../../../src/providers/resilient/resilient-llm.ts';
import { chainOf, configInputs } from './bench-call.ts';

t.setTimeout(280_000);

const REQUEST: LlmRequest = { system: '', messages: [{ role: 'user', text: 'hello' }], tools: [] };
const HELLO: LlmDelta = { type: 'text', text: 'hello ' };
const STOP: LlmDelta = { type: 'finish', reason: 'stop' };
const TOOL: LlmDelta = { type: 'tool_call', call: { id: 'c1', name: 'end_call', args: {} } };

/** After so many milliseconds: a delta, a failure, or nothing ever again. */
type Step = [afterMs: number, what: LlmDelta | Error | 'hang'];

type Around = ReturnType<typeof configInputs>;

interface FakeModel extends LanguageModel {
  asked: number;
  aborted: number;
  closed: number;
}

/** A model that answers each request by the next of its scripts, and by the last one again. */
function model(name: string, { clock }: Around, ...scripts: Step[][]): FakeModel {
  const fake: FakeModel = {
    name,
    model: `${name}-1`,
    asked: 0,
    aborted: 0,
    closed: 0,
    async *answer(_request, signal) {
      const script = scripts[Math.min(fake.asked, scripts.length - 1)] ?? [];
      fake.asked += 1;
      signal.addEventListener('abort', () => {
        fake.aborted += 1;
      });
      for (const [afterMs, what] of script) {
        await clock.sleep(afterMs, signal);
        if (what === 'hang') await clock.sleep(1e9, signal);
        else if (what instanceof Error) throw what;
        else yield what;
      }
    },
    async close() {
      fake.closed += 1;
    },
  };
  return fake;
}

function failure(kind: 'transient' | 'rate_limit' | 'config', more: { retryAfterMs?: number } = {}): Error {
  return providerError(
    { provider: 'x', family: 'llm', class: kind, status: kind === 'config' ? 400 : 503, ...more },
    `the vendor said ${kind}`,
  );
}

/** Reads an answer to its end while the clock goes on. */
async function read(
  llm: LanguageModel,
  { clock }: Around,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ deltas: LlmDelta[]; error: unknown; tookMs: number; firstMs: number | null }> {
  const startedMs = clock.nowMs();
  const deltas: LlmDelta[] = [];
  let error: unknown = null;
  let firstMs: number | null = null;
  let over = false;
  void (async () => {
    try {
      for await (const delta of llm.answer(REQUEST, signal)) {
        if (delta.type === 'text') firstMs ??= clock.nowMs() - startedMs;
        deltas.push(delta);
      }
    } catch (caught) {
      error = caught;
    }
    over = true;
  })();
  for (let round = 0; !over && round < 3_000; round += 1) await clock.advance(10, 10);
  return { deltas, error, tookMs: clock.nowMs() - startedMs, firstMs };
}

function build(around: Around, models: FakeModel[], settings: Record<string, unknown> = {}) {
  return createResilientLlm(chainOf<LanguageModel>('llm', models, around, settings), models[0] as FakeModel);
}

const COUNTED: LlmDelta = {
  type: 'usage',
  usage: { promptTokens: 90, completionTokens: 1, cacheReadTokens: 64, cacheCreationTokens: 0 },
};

t.test('RT-58 R109 what the slower provider had counted is told, and what an aborted one had', async (t) => {
  const around = configInputs();
  const wasted: WastedTokens[] = [];
  around.context.wasted = (spent) => wasted.push(spent);
  const slow = model('slow', around, [
    [100, COUNTED],
    [1e6, HELLO],
  ]);
  const quick = model('quick', around, [
    [10, HELLO],
    [10, STOP],
  ]);
  const hedged = await read(build(around, [slow, quick]), around);
  t.same(hedged.deltas.at(-1), STOP);
  t.same(wasted.splice(0), [{ provider: 'slow', model: 'slow-1', usage: COUNTED.usage }]);

  const hangUp = new AbortController();
  const alone = build(around, [
    model('alone', around, [
      [100, COUNTED],
      [1e6, HELLO],
    ]),
  ]);
  const reading = read(alone, around, hangUp.signal);
  void around.clock.sleep(500).then(() => hangUp.abort(new Error('hung up')));
  t.match((await reading).error, { message: 'hung up' });
  t.match(wasted.splice(0), [{ provider: 'alone' }]);

  const refused = model('refused', around, [
    [10, COUNTED],
    [10, { type: 'finish', reason: 'refused' }],
  ]);
  await read(build(around, [refused]), around);
  t.match(wasted, [{ provider: 'refused' }]);
});

const textOf = (deltas: readonly LlmDelta[]) =>
  deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');

t.test('an answer that goes well passes through unchanged, and nobody else is asked', async (t) => {
  const around = configInputs();
  const note: LlmDelta = { type: 'note', note: 'rule:x' };
  const first = model('gemini', around, [
    [0, note],
    [100, HELLO],
    [10, HELLO],
    [10, STOP],
  ]);
  const second = model('openai', around, [[0, HELLO]]);
  const { deltas, error } = await read(build(around, [first, second]), around);
  t.equal(error, null);
  t.same(deltas, [note, HELLO, HELLO, STOP]);
  t.equal(second.asked, 0);
  t.same(around.troubles, []);
  t.match(around.providerHealth.admits('llm:gemini:'), true);
});

t.test('RT-58 a model that fails before its first word is followed by the fallback at once', async (t) => {
  const around = configInputs();
  const first = model('gemini', around, [[50, failure('transient')]]);
  const second = model('openai', around, [
    [100, HELLO],
    [0, STOP],
  ]);
  const { deltas, error, firstMs } = await read(build(around, [first, second]), around);
  t.equal(error, null);
  t.same(deltas, [{ type: 'served_by', provider: 'openai', model: 'openai-1' }, HELLO, STOP]);
  t.ok((firstMs ?? 9_999) <= 200);
  t.equal(first.asked, 1, 'no retry where somebody else can answer');
  t.match(around.named('provider_failed'), [{ provider: 'gemini', class: 'transient', status: 503 }]);
  t.match(around.named('provider_switched'), [{ from: 'gemini', provider: 'openai' }]);
});

t.test(
  'RT-58 a model that is late by its own measure races with the fallback; the first that speaks wins',
  async (t) => {
    const around = configInputs();
    const first = model(
      'gemini',
      around,
      ...Array.from({ length: 10 }, (): Step[] => [
        [400, HELLO],
        [0, STOP],
      ]),
      [[5_000, HELLO]],
    );
    const second = model('openai', around, [
      [200, { type: 'text', text: 'quick' }],
      [0, STOP],
    ]);
    const llm = build(around, [first, second]);
    for (let answer = 0; answer < 10; answer += 1) await read(llm, around);
    t.equal(second.asked, 0);
    const { deltas, firstMs } = await read(llm, around);
    t.equal(textOf(deltas), 'quick');
    t.ok(
      firstMs !== null && firstMs >= 790 && firstMs <= 850,
      `p95 400 x 1.5 + 200, so some 800 ms: ${firstMs}`,
    );
    t.equal(first.aborted, 11, 'the slower one is stopped');
    t.match(around.named('provider_hedged'), [{ provider: 'openai', late: 'gemini' }]);
    t.same(around.named('provider_failed'), [], 'being late is no failure');
  },
);

t.test('a hedge is lost when the first speaks after all', async (t) => {
  const around = configInputs();
  const first = model('gemini', around, [
    [1_500, HELLO],
    [0, STOP],
  ]);
  const second = model('openai', around, [[2_000, { type: 'text', text: 'late' }]]);
  const { deltas } = await read(build(around, [first, second]), around);
  t.equal(textOf(deltas), 'hello ');
  t.equal(second.asked, 1);
  t.equal(second.aborted, 1);
  t.same(around.named('provider_switched'), []);
});

t.test('a model that keeps losing races is not waited for in each turn', async (t) => {
  const around = configInputs();
  const first = model('gemini', around, [[0, 'hang']]);
  const second = model('openai', around, [
    [100, HELLO],
    [0, STOP],
  ]);
  const llm = build(around, [first, second]);
  const slow = await read(llm, around);
  t.ok((slow.firstMs ?? 0) >= 1_000, 'the first time it is');
  const quick = await read(llm, around);
  t.ok((quick.firstMs ?? 9_999) <= 150, 'the next answer begins with the other');
  t.equal(first.asked, 1);
});

t.test(
  'no hedge is started where the bot forbids it, nor towards a provider that the host leaves alone',
  async (t) => {
    for (const settings of [{ hedge: false }, {}]) {
      const around = configInputs();
      const first = model('gemini', around, [
        [3_000, HELLO],
        [0, STOP],
      ]);
      const second = model('openai', around, [[10, HELLO]]);
      if (settings.hedge === undefined) {
        for (let count = 0; count < 3; count += 1)
          around.providerHealth.ended('llm:openai:', { result: 'failed', ms: null });
      }
      const { deltas } = await read(build(around, [first, second], settings), around);
      t.equal(textOf(deltas), 'hello ');
      t.equal(second.asked, 0);
    }
  },
);

t.test('RT-58 an answer of tool calls alone is a good answer', async (t) => {
  const around = configInputs();
  const first = model('gemini', around, [
    [100, TOOL],
    [0, { type: 'finish', reason: 'tool_calls' }],
  ]);
  const second = model('openai', around, [[0, HELLO]]);
  const { deltas, error } = await read(build(around, [first, second]), around);
  t.equal(error, null);
  t.equal(deltas[0], TOOL);
  t.equal(second.asked, 0);
  t.same(around.troubles, []);
});

t.test('an answer that ends at once and well, without a word, is not asked for again', async (t) => {
  for (const script of [[[10, STOP]], []] as Step[][]) {
    const around = configInputs();
    const first = model('gemini', around, script);
    const second = model('openai', around, [[0, HELLO]]);
    const { error } = await read(build(around, [first, second]), around);
    t.equal(error, null);
    t.equal(second.asked, 0);
    t.same(around.troubles, []);
  }
});

t.test(
  'a content filter that stops everything, or an end for no reason, is answered by somebody else',
  async (t) => {
    for (const reason of ['refused', 'other'] as const) {
      const around = configInputs();
      const first = model('gemini', around, [[10, { type: 'finish', reason }]]);
      const second = model('openai', around, [
        [10, HELLO],
        [0, STOP],
      ]);
      const { deltas, error } = await read(build(around, [first, second]), around);
      t.equal(error, null);
      t.equal(textOf(deltas), 'hello ');
      t.match(around.named('provider_failed'), [{ class: reason === 'refused' ? 'content' : 'transient' }]);
    }
  },
);

t.test('without a fallback a quick passing failure is tried once more, and only once', async (t) => {
  const around = configInputs();
  const flaky = model(
    'gemini',
    around,
    [[10, failure('transient')]],
    [
      [10, HELLO],
      [0, STOP],
    ],
  );
  t.equal(textOf((await read(build(around, [flaky]), around)).deltas), 'hello ');
  t.match(around.named('provider_retried'), [{ provider: 'gemini', class: 'transient' }]);

  const down = model('openai', around, [[10, failure('transient')]]);
  const { error } = await read(build(around, [down]), around);
  t.match(error, { code: 'provider_failed', message: 'the vendor said transient' });
  t.equal(down.asked, 2);

  const wrong = model('anthropic', around, [[10, failure('config')]]);
  t.match((await read(build(around, [wrong]), around)).error, { details: { class: 'config' } });
  t.equal(wrong.asked, 1, 'a wrong setting is wrong the second time too');
});

t.test(
  'RT-58 a 429 without a fallback is waited out, unless it asks for more than a caller can bear',
  async (t) => {
    const around = configInputs();
    const short = model(
      'gemini',
      around,
      [[10, failure('rate_limit', { retryAfterMs: 700 })]],
      [[10, HELLO]],
    );
    const { deltas, firstMs } = await read(build(around, [short]), around);
    t.equal(textOf(deltas), 'hello ');
    t.ok((firstMs ?? 0) >= 700);
    t.match(around.named('provider_retried'), [{ provider: 'gemini', class: 'rate_limit', family: 'llm' }]);
    const busy = model(
      'anthropic',
      around,
      [[10, failure('rate_limit', { retryAfterMs: 6_000 })]],
      [[10, failure('rate_limit')]],
      [[10, HELLO]],
    );
    const waited = await read(build(around, [busy]), around);
    t.equal(textOf(waited.deltas), 'hello ');
    t.ok((waited.firstMs ?? 0) >= 7_000, `the six seconds that it names, then one that it does not`);
    const long = model('openai', around, [[10, failure('rate_limit', { retryAfterMs: 20_000 })]]);
    t.match((await read(build(around, [long]), around)).error, { details: { class: 'rate_limit' } });
    t.equal(long.asked, 1);
    t.equal(around.providerHealth.admits('llm:openai:'), false, 'and the host leaves it alone meanwhile');
  },
);

t.test('the first word must come in time, also without a fallback', async (t) => {
  const around = configInputs();
  const silent = model('gemini', around, [[0, 'hang']]);
  const { error, tookMs } = await read(build(around, [silent], { first_token_timeout_ms: 2_000 }), around);
  t.match(error, { code: 'provider_timeout', details: { provider: 'gemini' } });
  t.ok(tookMs >= 2_000 && tookMs <= 2_100, `${tookMs}`);
  t.equal(silent.asked, 1, 'after so long nobody asks again');
  t.equal(silent.aborted, 1);
});

t.test('RT-58 never a second voice: after the first word a break or a stall ends the answer', async (t) => {
  for (const how of ['break', 'stall'] as const) {
    const around = configInputs();
    const first = model('gemini', around, [
      [10, HELLO],
      [100, how === 'stall' ? 'hang' : failure('transient')],
    ]);
    const second = model('openai', around, [[0, { type: 'text', text: 'other' }]]);
    const { deltas, error, tookMs } = await read(build(around, [first, second]), around);
    t.same(deltas, [HELLO], 'what there is stays');
    t.match(error, { code: how === 'stall' ? 'provider_timeout' : 'provider_failed' });
    t.equal(second.asked, 0);
    if (how === 'stall') t.ok(tookMs >= STALL_MS && tookMs <= STALL_MS + 300, `${tookMs}`);
    t.match(around.named('provider_failed'), [{ provider: 'gemini', in_answer: true }]);
    t.ok(first.aborted >= 1, 'its stream is ended');
  }
});

t.test('a caller who interrupts gets its own reason, and no provider is blamed', async (t) => {
  for (const script of [
    [[0, 'hang']],
    [
      [10, HELLO],
      [0, 'hang'],
    ],
  ] as Step[][]) {
    const around = configInputs();
    const first = model('gemini', around, script);
    const second = model('openai', around, [[0, 'hang']]);
    const abort = new AbortController();
    around.clock.after(300, () => abort.abort(new Error('barge-in')));
    const { error } = await read(build(around, [first, second]), around, abort.signal);
    t.match(error, { message: 'barge-in' });
    t.equal(first.aborted, 1);
    t.same(around.troubles, []);
    t.equal(around.clock.pendingTimers, 0, 'nothing is left running');
  }
});

t.test('when everybody fails the first failure is told', async (t) => {
  const around = configInputs();
  const first = model('gemini', around, [[10, failure('transient')]]);
  const second = model('openai', around, [[10, failure('config')]]);
  const { error, deltas } = await read(build(around, [first, second]), around);
  t.match(error, { details: { class: 'transient' } });
  t.same(deltas, []);
  t.equal(around.named('provider_failed').length, 2);
});

t.test(
  'after three failed answers the fallback is asked first, and after a while the bot’s own again',
  async (t) => {
    const around = configInputs();
    const scripts = Array.from({ length: 3 }, (): Step[] => [[10, failure('transient')]]);
    const first = model('gemini', around, ...scripts, [
      [10, HELLO],
      [0, STOP],
    ]);
    const second = model('openai', around, [
      [10, { type: 'text', text: 'second' }],
      [0, STOP],
    ]);
    const llm = build(around, [first, second]);
    for (let answer = 0; answer < 3; answer += 1) {
      await read(llm, around);
      await around.clock.advance(31_000, 1_000);
    }
    t.equal(first.asked, 3, 'failures half a minute apart: each answer tries the bot’s own first');
    t.equal(textOf((await read(llm, around)).deltas), 'hello ');
    t.equal(first.asked, 4);
  },
);

t.test('close ends every client that was opened, and no other', async (t) => {
  const around = configInputs();
  const first = model('gemini', around, [[10, HELLO]]);
  const second = model('openai', around, [[0, HELLO]]);
  const llm = build(around, [first, second]);
  await read(llm, around);
  await llm.close();
  t.equal(first.closed, 1);
  t.equal(second.closed, 0);
});
