import t from 'tap';
import type { RuntimeConfig } from '../../../src/contracts/runtime-config.ts';
import { maskArgs } from '../../../src/slot/tools/mask-args.ts';
import { KNOWLEDGE_BUDGET_MS, searchKnowledgeTool } from '../../../src/slot/tools/search-knowledge.ts';
import { createToolBox } from '../../../src/slot/tools/tool-box.ts';
import { argsHash, idempotencyKey } from '../../../src/slot/tools/tool-runner.ts';
import { localHttp } from '../../harness/receiver.ts';

t.test(
  'RT-49 a key is one of call, turn, tool and arguments, in whatever order they are written',
  async (t) => {
    const act = { sessionId: 's', turnId: 1, tool: 'book', args: { a: 1, b: { c: [1, 2], d: null } } };
    const key = idempotencyKey(act);
    t.match(key, /^[0-9a-f]{32}$/);
    t.equal(idempotencyKey({ ...act, args: { b: { d: null, c: [1, 2] }, a: 1 } }), key);
    for (const other of [
      { ...act, sessionId: 't' },
      { ...act, turnId: 2 },
      { ...act, tool: 'cancel' },
      { ...act, args: { ...act.args, a: '1' } },
      { ...act, args: { a: 1, b: { c: [2, 1], d: null } } },
    ]) {
      t.not(idempotencyKey(other), key);
    }
    t.not(argsHash({ a: 1, b: 2 }), argsHash({ a: 2, b: 1 }));
  },
);

t.test('R169 arguments in events show no secret, no card and no endless text', async (t) => {
  const schema = {
    properties: {
      code: { type: 'string', writeOnly: true },
      inner: { properties: { k: { format: 'password' } } },
    },
  };
  const masked = maskArgs(
    {
      day: 'Monday',
      otp: '123456',
      password: 'x',
      api_key: 'k',
      cvv: 123,
      aadhaar: '1234 5678 9012',
      pincode: '411001',
      code: 'abc',
      inner: { k: 'v', keep: 1 },
      text: 'my card is 4111 1111 1111 1111 thanks',
      card: 4111111111111111,
      order: '1234567890123',
      long: 'a'.repeat(2_000),
      list: Array.from({ length: 99 }, (_, n) => n),
      deep: { a: { b: { c: { d: { e: { f: 1 } } } } } },
    },
    schema,
  ) as Record<string, unknown>;
  t.match(masked, {
    day: 'Monday',
    otp: '***',
    password: '***',
    api_key: '***',
    cvv: '***',
    aadhaar: '***',
    pincode: '411001',
    code: '***',
    inner: { k: '***', keep: 1 },
    text: 'my card is *** thanks',
    card: '***',
    order: '1234567890123',
  });
  t.ok((masked.long as string).length < 600);
  t.equal((masked.list as unknown[]).length, 50);
  t.match(JSON.stringify(masked.deep), /\[nested\]/);
});

t.test('search_knowledge: passages, a slow base, a base that is down', async (t) => {
  const context = { signal: new AbortController().signal, idempotencyKey: '' };
  const settings = { enabled: true, knowledge_base_ids: ['kb'], top_k: 2, min_score: 0.3 };
  const passage = { text: 'Rs. 99 a month.', source: 'tariffs.pdf', score: 0.8 };
  let asked = 0;
  let mode: 'ok' | 'down' | 'slow' = 'ok';
  const tool = searchKnowledgeTool({}, settings, {
    search: async (question, signal) => {
      asked++;
      t.match(question, { query: 'price', knowledgeBaseIds: ['kb'], topK: 2, minScore: 0.3 });
      if (mode === 'down') throw new Error('down');
      if (mode === 'slow') {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      return [passage, passage, passage];
    },
  });
  const ask = () => tool.run({ query: ' price ' }, context);
  t.match(await ask(), {
    status: 'ok',
    result: { passages: [{ text: passage.text, source: 'tariffs.pdf' }, {}] },
  });
  t.match(await tool.run({ query: ' ' }, context), { status: 'bad_arguments' });
  mode = 'slow';
  const startedAtMs = performance.now();
  t.match(await ask(), { status: 'timeout' });
  t.ok(performance.now() - startedAtMs >= KNOWLEDGE_BUDGET_MS - 20, 'it had its budget');
  mode = 'down';
  for (let count = 0; count < 4; count++) t.match(await ask(), { status: 'not_available' });
  const before = asked;
  t.match(await ask(), { status: 'not_available' });
  t.equal(asked, before, 'a base that is down is left alone for a while');
});

t.test(
  'R11 R12 R13 R15 the tools of a config keep their order; what serves no tool is left out',
  async (t) => {
    const builtIn = (name: string) => ({
      type: 'built_in',
      name,
      description: name,
      parameters: { type: 'object' },
    });
    const own = { type: 'function', function: { name: 'foreign', description: 'x', parameters: {} } };
    const http = {
      ...builtIn('book'),
      type: 'http',
      url: 'https://crm.example.test/',
      method: 'POST',
      side_effect: true,
    };
    const config = {
      tools: [
        builtIn('transfer_call'),
        http,
        own,
        builtIn('transfer_call'),
        { type: 'built_in' },
        builtIn('end_call'),
      ],
    } as unknown as RuntimeConfig;
    const box = createToolBox(config, { http: localHttp() });
    const names = box.declarations.map((tool) => (tool.function as { name: string }).name);
    t.same(names, ['transfer_call', 'book', 'foreign', 'end_call']);
    t.notMatch(JSON.stringify(box.declarations), /crm\.example/, 'the model is told no address');
    t.match(box.get('book'), { isBuiltIn: false, isSideEffect: true, timeoutMs: 6_000 });
    t.match(box.get('end_call'), { isBuiltIn: true, isSideEffect: true });
    t.equal(box.get('search_knowledge'), null);
    t.ok(createToolBox({ tools: [] } as unknown as RuntimeConfig, { http: localHttp() }).get('end_call'));
  },
);
