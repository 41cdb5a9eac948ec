import fc from 'fast-check';
import t from 'tap';
import type { ChatMessage, ToolCall } from '../../../src/providers/contract/language-model.ts';
import {
  CALL_STARTED,
  NO_ANSWER_YET,
  repairHistory,
  UNFINISHED_RESULT,
} from '../../../src/providers/llm/history-repair.ts';

const ANY = { opensWithUser: false };

function user(text: string): ChatMessage {
  return { role: 'user', text };
}
function bot(text: string, ...ids: string[]): ChatMessage {
  const toolCalls = ids.map((id): ToolCall => ({ id, name: `tool_${id}`, args: {} }));
  return ids.length > 0 ? { role: 'assistant', text, toolCalls } : { role: 'assistant', text };
}
function result(callId: string, value: unknown = callId): ChatMessage {
  return { role: 'tool', callId, name: `tool_${callId}`, result: value };
}

t.test('RT-86 a sound history passes as it is', (t) => {
  const history = [user('Hi'), bot('Wait', 'a', 'b'), result('a'), result('b'), bot('Done'), user('Thanks')];
  t.same(repairHistory(history, ANY), { messages: history, repairs: [] });
  t.end();
});

t.test('RT-86 a call whose tool was interrupted gets a result that says so', (t) => {
  const { messages, repairs } = repairHistory(
    [user('Hi'), bot('', 'a', 'b'), result('b'), user('Hello?')],
    ANY,
  );
  t.same(messages, [
    user('Hi'),
    bot('', 'a', 'b'),
    result('a', UNFINISHED_RESULT),
    result('b'),
    user('Hello?'),
  ]);
  t.same(repairs, ['result_missing']);
  t.end();
});

t.test('RT-86 a result that came after the caller spoke again goes to its call', (t) => {
  const { messages, repairs } = repairHistory([user('Hi'), bot('', 'a'), user('Hello?'), result('a')], ANY);
  t.same(messages, [user('Hi'), bot('', 'a'), result('a'), user('Hello?')]);
  t.same(repairs, ['result_moved']);
  t.end();
});

t.test('RT-86 results without a call and second results are left out', (t) => {
  const { messages, repairs } = repairHistory(
    [user('Hi'), result('gone'), bot('', 'a'), result('a', 1), result('a', 2), user('So?')],
    ANY,
  );
  t.same(messages, [user('Hi'), bot('', 'a'), result('a', 1), user('So?')]);
  t.same(repairs.sort(), ['result_repeated', 'result_without_call']);
  t.end();
});

t.test('RT-86 two calls of one id are told apart, each with its own result', (t) => {
  const { messages, repairs } = repairHistory(
    [user('Hi'), bot('', 'a'), result('a', 1), user('Again'), bot('', 'a'), result('a', 2), user('So?')],
    ANY,
  );
  const results = messages.filter((message) => message.role === 'tool');
  t.match(results, [
    { callId: 'a', result: 1 },
    { callId: 'a_2', result: 2 },
  ]);
  t.same(repairs, ['call_id_repeated']);
  t.end();
});

t.test("RT-86 empty words are left out, and the last turn is not the bot's", (t) => {
  const { messages, repairs } = repairHistory([user(' '), bot('Hello'), user('Hi'), bot(''), bot('Yes?')], {
    opensWithUser: true,
  });
  t.same(messages, [user(CALL_STARTED), bot('Hello'), user('Hi'), bot('Yes?'), user(NO_ANSWER_YET)]);
  t.same(repairs.sort(), ['empty_text', 'trailing_assistant']);
  t.same(repairHistory([], ANY).messages, [user(CALL_STARTED)]);
  t.end();
});

t.test('RT-86 whatever the history, the vendors get pairs, no empty words and a turn to answer', (t) => {
  const id = fc.constantFrom('a', 'b', 'c');
  const message = fc.oneof(
    fc.constantFrom('', ' ', 'Hi', 'Well').map(user),
    fc
      .tuple(fc.constantFrom('', 'Wait'), fc.array(id, { maxLength: 3 }))
      .map(([text, ids]) => bot(text, ...ids)),
    fc.tuple(id, fc.integer()).map(([callId, value]) => result(callId, value)),
  );
  const property = fc.property(
    fc.array(message, { maxLength: 14 }),
    fc.boolean(),
    (history, opensWithUser) => {
      const before = JSON.stringify(history);
      const { messages, repairs } = repairHistory(history, { opensWithUser });
      if (JSON.stringify(history) !== before) return false;
      const seen = new Set<string>();
      let open: string[] = [];
      for (const entry of messages) {
        if (entry.role === 'tool') {
          if (open.shift() !== entry.callId) return false;
          continue;
        }
        if (open.length > 0) return false;
        if (entry.role === 'user' && entry.text.trim() === '') return false;
        if (entry.role !== 'assistant') continue;
        const calls = entry.toolCalls ?? [];
        if (calls.length === 0 && entry.text.trim() === '') return false;
        open = calls.map((call) => call.id);
        for (const callId of open) {
          if (seen.has(callId)) return false;
          seen.add(callId);
        }
      }
      if (open.length > 0 || messages.at(-1)?.role === 'assistant') return false;
      if (opensWithUser && messages[0]?.role !== 'user') return false;
      // What is repaired once is sound.
      const again = repairHistory(messages, { opensWithUser });
      return (
        again.repairs.length === 0 &&
        JSON.stringify(again.messages) === JSON.stringify(messages) &&
        repairs.length < 8
      );
    },
  );
  fc.assert(property, { seed: 86, numRuns: 2_000 });
  t.pass('2000 histories');
  t.end();
});
