import {
  argumentPieces,
  argumentText,
  finishOf,
  piecesOf,
  type ScriptedAnswer,
  type ScriptedToolCall,
} from './llm/answer.ts';
import { completionTokens } from './llm/answer-tokens.ts';
import { frame, type StreamFrame } from './llm/stream-frames.ts';

/** How a server words a chat answer: OpenAI's way, or a habit of a local server. */
export interface ChatStyle {
  id: string;
  model: string;
  /** Where the usage stands: in an extra last chunk without choices, on the chunk with the finish, or nowhere. */
  usage: 'extra' | 'last' | 'none';
  /** Random padding on every chunk with text. */
  obfuscation: boolean;
  wholeCalls: boolean;
  callIds: boolean;
  finishForCalls: 'tool_calls' | 'stop';
  /** Delta key of thoughts; null keeps them back as OpenAI does. */
  thoughtsKey: 'reasoning_content' | 'reasoning' | null;
  /** More keys on the last chunk, such as the timings of llama.cpp. */
  lastChunk: Record<string, unknown>;
}

export interface ChatUsage {
  promptTokens: number;
  cachedTokens: number | null;
  /** Null on models whose cache writes cost nothing extra. */
  writtenTokens: number | null;
}

type Json = Record<string, unknown>;

const FINISH = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  refused: 'content_filter',
} as const;

/** Chunks of a streamed chat answer and the same answer whole. */
export function chatAnswer(
  answer: ScriptedAnswer,
  style: ChatStyle,
  counted: ChatUsage,
): { frames: StreamFrame[]; whole: Json } {
  const usage = usageOf(answer, counted);
  const common = { id: style.id, created: 1_790_000_000, model: style.model };
  const chunk = (delta: Json, finish: string | null = null, more: Json = {}): Json => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(style.usage === 'extra' && usage ? { usage: null } : {}),
    ...more,
  });
  const padded = (delta: Json) =>
    frame('content', chunk(delta, null, style.obfuscation ? { obfuscation: 'x7Kq'.repeat(3) } : {}));

  const frames: StreamFrame[] = [frame('head', chunk({ role: 'assistant', content: '' }))];
  if (style.thoughtsKey) {
    for (const piece of piecesOf(answer.thoughts))
      frames.push(frame('head', chunk({ [style.thoughtsKey]: piece })));
  }
  for (const piece of piecesOf(answer.text)) frames.push(padded({ content: piece }));
  for (const piece of piecesOf(answer.refusal)) frames.push(padded({ refusal: piece }));
  for (const delta of callDeltas(answer, style)) frames.push(padded({ tool_calls: [delta] }));
  const finish = finishWord(answer, style);
  const onLast = style.usage === 'last' && usage ? { usage } : {};
  frames.push(frame('end', chunk({}, finish, { ...onLast, ...style.lastChunk })));
  if (style.usage === 'extra' && usage) {
    frames.push(frame('end', { ...common, object: 'chat.completion.chunk', choices: [], usage }));
  }
  frames.push(frame('done', '[DONE]'));
  const whole = {
    ...common,
    object: 'chat.completion',
    choices: [{ index: 0, message: wholeMessage(answer, style), finish_reason: finish, logprobs: null }],
    ...(usage ? { usage } : {}),
  };
  return { frames: answer.noise ? noisy(frames) : frames, whole };
}

function callDeltas(answer: ScriptedAnswer, style: ChatStyle): Json[] {
  const lists = (answer.toolCalls ?? []).map((call, index) => oneCall(call, index, style));
  if (!answer.interleave) return lists.flat();
  const deltas: Json[] = [];
  for (let at = 0; lists.some((list) => at < list.length); at += 1) {
    for (const list of lists) {
      const delta = list[at];
      if (delta) deltas.push(delta);
    }
  }
  return deltas;
}

function oneCall(call: ScriptedToolCall, index: number, style: ChatStyle): Json[] {
  const head = { index, ...idOf(call, index, style), type: 'function' };
  if (style.wholeCalls) return [{ ...head, function: { name: call.name, arguments: argumentText(call) } }];
  return [
    { ...head, function: { name: call.name, arguments: '' } },
    ...argumentPieces(call).map((piece) => ({ index, function: { arguments: piece } })),
  ];
}

function idOf(call: ScriptedToolCall, index: number, style: ChatStyle): Json {
  if (call.id === null || (!style.callIds && call.id === undefined)) return {};
  return { id: call.id ?? `call_${style.id.replace(/^\w+-/, '')}_${index}` };
}

function wholeMessage(answer: ScriptedAnswer, style: ChatStyle): Json {
  const calls = answer.toolCalls ?? [];
  const text = piecesOf(answer.text).join('');
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: answer.refusal === undefined ? null : piecesOf(answer.refusal).join(''),
    ...(calls.length > 0
      ? {
          tool_calls: calls.map((call, index) => ({
            ...idOf(call, index, style),
            type: 'function',
            function: { name: call.name, arguments: argumentText(call) },
          })),
        }
      : {}),
  };
}

function finishWord(answer: ScriptedAnswer, style: ChatStyle): string {
  if (answer.finishWord !== undefined) return answer.finishWord;
  const finish = finishOf(answer);
  return finish === 'tool_calls' ? style.finishForCalls : FINISH[finish];
}

function usageOf(answer: ScriptedAnswer, counted: ChatUsage): Json | null {
  if (answer.usage === false) return null;
  const prompt = answer.usage?.promptTokens ?? counted.promptTokens;
  const { thoughts, completion } = completionTokens(answer);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(counted.cachedTokens === null
      ? {}
      : {
          prompt_tokens_details: {
            cached_tokens: counted.cachedTokens,
            audio_tokens: 0,
            ...(counted.writtenTokens === null ? {} : { cache_write_tokens: counted.writtenTokens }),
          },
        }),
    completion_tokens_details: { reasoning_tokens: thoughts },
  };
}

/** Comment lines and a chunk with nothing in it, which every client must pass over. */
function noisy(frames: readonly StreamFrame[]): StreamFrame[] {
  const [head, ...rest] = frames;
  if (!head) return [];
  const empty = frame('noise', {
    ...JSON.parse(head.data),
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  });
  return [frame('comment', 'ping'), head, empty, ...rest.flatMap((one) => [frame('comment', 'ping'), one])];
}
