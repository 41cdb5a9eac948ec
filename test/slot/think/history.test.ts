import fc from 'fast-check';
import t from 'tap';
import { repairHistory } from '../../../src/providers/llm/history-repair.ts';
import { History } from '../../../src/slot/think/history.ts';
import { estimateTokens, messageTokens } from '../../../src/slot/think/token-estimate.ts';

const call = (id: string) => ({ id, name: 'look_up', args: { q: id } });

t.test('RT-54 the oldest exchanges go first and whole; the last words of the caller stay', async (t) => {
  const heard = new Map<number, string>();
  const history = new History({ heardText: (id) => heard.get(id) ?? '', budgetTokens: 400 });
  for (let turn = 1; turn <= 40; turn++) {
    history.userSaid(turn, `question number ${turn} with some words to it`);
    const reply = history.beginReply(turn);
    reply.replyId = turn;
    const id = `c${turn}`;
    reply.steps.push({ text: '', calls: [call(id)], results: new Map([[id, { answer: turn }]]) });
    reply.steps.push({ text: `answer number ${turn}.`, calls: [], results: new Map() });
    heard.set(turn, `answer number ${turn}.`);
    reply.isLive = false;
    const messages = history.messages();
    const tokens = messages.reduce((sum, message) => sum + messageTokens(message), 0);
    t.ok(tokens <= 400, `${tokens} tokens after turn ${turn}`);
    t.equal(messages[0]?.role, 'user', 'it begins with a question');
    t.ok(messages.some((message) => message.role === 'user' && message.text.includes(`number ${turn} `)));
    t.same(
      repairHistory(messages, { opensWithUser: false }).repairs.filter(
        (kind) => kind !== 'trailing_assistant',
      ),
      [],
    );
  }
  t.notOk(
    history.messages().some((message) => message.role === 'user' && message.text.includes('number 1 ')),
    'the oldest went',
  );
});

t.test('RT-54 a single turn larger than the budget is still told', async (t) => {
  const history = new History({ heardText: () => '', budgetTokens: 50 });
  history.userSaid(1, 'first');
  history.userSaid(2, 'long '.repeat(500));
  t.equal(history.messages().length, 1);
});

t.test('the beginning of the history stays the same for many turns, as prompt caches need it', async (t) => {
  const history = new History({ heardText: () => '', budgetTokens: 600 });
  const starts = new Set<string>();
  for (let turn = 1; turn <= 60; turn++) {
    history.userSaid(turn, `question number ${turn} with some words`);
    starts.add(JSON.stringify(history.messages()[0]));
  }
  t.ok(starts.size < 15, `${starts.size} beginnings in 60 turns`);
});

t.test('RT-86 whatever comes when, the history is one that every vendor takes', async (t) => {
  const event = fc.record({
    kind: fc.constantFrom('user', 'reply', 'step', 'call', 'result', 'heard', 'withdraw', 'done'),
    n: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const heard = new Map<number, string>();
      const history = new History({ heardText: (id) => heard.get(id) ?? '', budgetTokens: 300 });
      const replies: ReturnType<History['beginReply']>[] = [];
      let calls = 0;
      for (const { kind, n } of events) {
        const reply = replies[n % Math.max(1, replies.length)];
        if (kind === 'user') history.userSaid(n, `said ${n}`);
        if (kind === 'reply') replies.push(history.beginReply(n));
        if (kind === 'step')
          reply?.steps.push({ text: n % 2 ? `words ${n}.` : '', calls: [], results: new Map() });
        if (kind === 'call') reply?.steps.at(-1)?.calls.push(call(`c${++calls}`));
        const open = reply?.steps.at(-1);
        if (kind === 'result' && open?.calls[0]) open.results.set(open.calls[0].id, n);
        if (kind === 'heard' && reply) {
          reply.replyId = n;
          heard.set(n, `words ${n}. more`);
        }
        if (kind === 'withdraw') history.withdraw(n);
        if (kind === 'done' && reply) reply.isLive = false;
        const { repairs } = repairHistory(history.messages(), { opensWithUser: false });
        const faults = repairs.filter((repair) => repair !== 'trailing_assistant');
        if (faults.length > 0) throw new Error(faults.join());
      }
    }),
    { numRuns: 500, seed: 54 },
  );
  t.pass('500 histories');
});

t.test('an estimate of tokens counts scripts apart and never falls far short', async (t) => {
  // Counted with a vendor's tokenizer: 10 tokens, and at least one for each two letters of Devanagari.
  t.ok(estimateTokens('The quick brown fox jumps over the lazy dog.') >= 10);
  t.ok(estimateTokens('नमस्ते, आप कैसे हैं') >= 9);
  t.equal(estimateTokens(''), 0);
});
