import { deepStrictEqual, partialDeepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import type { LlmDelta } from '../../../src/providers/contract/language-model.ts';
import { MAX_ARGUMENTS_LENGTH, MAX_CALLS, ToolCallJoiner } from '../../../src/providers/llm/tool-calls.ts';
import { readAnthropicStream } from '../../../src/providers/vendors/anthropic/stream.ts';
import { readChatStream } from '../../../src/providers/vendors/openai/chat.ts';

const SEED = 87;

/** Calls with arguments, and a cut of each argument text into pieces, some of them empty. */
const callsInPieces = fc.array(
  fc
    .tuple(
      fc.constantFrom('get_balance', 'get_order', 'end_call'),
      fc.dictionary(
        fc.string({ maxLength: 6 }),
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean()),
        {
          maxKeys: 4,
        },
      ),
      fc.array(fc.nat(60), { maxLength: 6 }),
    )
    .map(([name, args, cuts]) => {
      const given = { ...args };
      const text = JSON.stringify(given);
      const at = [...new Set(cuts.map((cut) => Math.min(cut, text.length)))].sort((a, b) => a - b);
      const pieces = [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
      return { name, args: JSON.parse(text) as Record<string, unknown>, pieces };
    }),
  { minLength: 1, maxLength: 4 },
);

/** Deals the pieces of several calls out in the order that `order` says, each call's own order kept. */
function interleave(
  pieces: readonly string[][],
  order: readonly number[],
): { index: number; text: string; first: boolean }[] {
  const left = pieces.map((list) => [...list]);
  const dealt: { index: number; text: string; first: boolean }[] = [];
  const started = new Set<number>();
  for (let step = 0; left.some((list) => list.length > 0); step++) {
    const filled = left.map((list, index) => ({ list, index })).filter(({ list }) => list.length > 0);
    const pick = filled[(order[step % Math.max(1, order.length)] ?? 0) % filled.length];
    if (!pick) break;
    dealt.push({ index: pick.index, text: pick.list.shift() ?? '', first: !started.has(pick.index) });
    started.add(pick.index);
  }
  return dealt;
}

async function deltasOf(stream: AsyncIterable<LlmDelta>): Promise<LlmDelta[]> {
  const deltas: LlmDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

async function* each<T>(items: readonly unknown[]): AsyncGenerator<T> {
  for (const item of items) yield item as T;
}

t.test('R8 openai: however the fragments of calls are cut and mixed, the calls come out whole', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      callsInPieces,
      fc.array(fc.nat(7), { maxLength: 9 }),
      fc.string(),
      async (calls, order, text) => {
        const fragments = interleave(
          calls.map((call) => call.pieces),
          order,
        );
        const chunks = [
          { choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] },
          ...fragments.map(({ index, text: piece, first }) => ({
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [
                    {
                      index,
                      ...(first && { id: `call_${index}`, type: 'function' }),
                      function: { ...(first && { name: calls[index]?.name }), arguments: piece },
                    },
                  ],
                },
                finish_reason: null,
              },
            ],
          })),
          { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
          { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
        ];
        const deltas = await deltasOf(readChatStream(each(chunks)));
        const said = deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : [])).join('');
        const made = deltas.flatMap((delta) => (delta.type === 'tool_call' ? [delta.call] : []));
        deepStrictEqual(said, text);
        deepStrictEqual(
          made,
          calls.map(({ name, args }, index) => ({ id: `call_${index}`, name, args })),
        );
      },
    ),
    { seed: SEED, numRuns: 200 },
  );
  t.pass('200 answers');
});

t.test('R8 anthropic: however input_json_delta is cut, the calls come out whole and in order', async (t) => {
  await fc.assert(
    fc.asyncProperty(callsInPieces, fc.array(fc.nat(7), { maxLength: 9 }), async (calls, order) => {
      const start = calls.map(({ name }, index) => ({
        type: 'content_block_start',
        index: index + 2,
        content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
      }));
      const pieces = interleave(
        calls.map((call) => call.pieces),
        order,
      ).map(({ index, text }) => ({
        type: 'content_block_delta',
        index: index + 2,
        delta: { type: 'input_json_delta', partial_json: text },
      }));
      const events = [
        { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 0 } } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Wait.' } },
        ...start,
        { type: 'brand_new_event', index: 9 },
        ...pieces,
        {
          type: 'message_delta',
          delta: { stop_reason: 'tool_use' },
          usage: { output_tokens: 9, input_tokens: null },
        },
        { type: 'message_stop' },
      ];
      const deltas = await deltasOf(readAnthropicStream(each(events)));
      deepStrictEqual(
        deltas.find((delta) => delta.type !== 'usage'),
        { type: 'text', text: 'Wait.' },
        'the thought is not spoken',
      );
      const made = deltas.flatMap((delta) => (delta.type === 'tool_call' ? [delta.call] : []));
      deepStrictEqual(
        made.map(({ id, name, args }) => ({ id, name, args })),
        calls.map(({ name, args }, index) => ({ id: `toolu_${index}`, name, args })),
      );
      partialDeepStrictEqual(made[0]?.opaque, {
        vendor: 'anthropic',
        thinking: [{ thinking: 'Hm.', signature: 'sig' }],
      });
    }),
    { seed: SEED, numRuns: 200 },
  );
  t.pass('200 answers');
});

t.test('R8 compat: fragments without a number belong to the call before them', async (t) => {
  const chunk = (call: Record<string, unknown>, finish: string | null = null) => ({
    choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: finish }],
  });
  const deltas = await deltasOf(
    readChatStream(
      each([
        chunk({ id: 'x', function: { name: 'one', arguments: '{"a"' } }),
        chunk({ function: { arguments: ':1}' } }),
        chunk({ id: 'y', function: { name: 'two', arguments: '{}' } }, 'stop'),
      ]),
    ),
  );
  t.match(deltas, [
    { type: 'tool_call', call: { id: 'x', name: 'one', args: { a: 1 } } },
    { type: 'tool_call', call: { id: 'y', name: 'two', args: {} } },
    { type: 'usage' },
    { type: 'finish', reason: 'tool_calls' },
  ]);
});

t.test("R8 an answer cannot fill a slot's memory with calls", (t) => {
  const long = new ToolCallJoiner('openai');
  t.throws(() => long.add(0, { name: 'a', text: 'x'.repeat(MAX_ARGUMENTS_LENGTH + 1) }), {
    code: 'provider_failed',
  });
  const many = new ToolCallJoiner('openai');
  for (let index = 0; index < MAX_CALLS; index++) many.add(index, { name: 'a' });
  t.throws(() => many.add(MAX_CALLS, { name: 'a' }), { code: 'provider_failed' });
  t.end();
});

t.test('R8 openai: a call cut by the limit of tokens says what to raise', async (t) => {
  const chunks = [
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'x', function: { name: 'one', arguments: '{"a":' } }] },
          finish_reason: 'length',
        },
      ],
    },
  ];
  await t.rejects(deltasOf(readChatStream(each(chunks))), {
    message: /max_output_tokens/,
    details: { class: 'content' },
  });
});
