import { argumentObject, argumentPieces, finishOf, piecesOf, type ScriptedAnswer } from './llm/answer.ts';
import { completionTokens } from './llm/answer-tokens.ts';
import type { BreakpointUse } from './llm/breakpoint-cache.ts';
import { frame, type StreamFrame } from './llm/stream-frames.ts';

export interface ClaudeTurn {
  id: string;
  model: string;
  cache: BreakpointUse;
}

type Json = Record<string, unknown>;

const STOP = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', refused: 'refusal' } as const;

/** Events of a streamed message and the message whole: thinking, text, then tool uses, a block each. */
export function claudeAnswer(
  answer: ScriptedAnswer,
  turn: ClaudeTurn,
): { frames: StreamFrame[]; whole: Json } {
  const { completion } = completionTokens(answer);
  const input = inputUsage(answer, turn);
  const stop = answer.finishWord ?? STOP[finishOf(answer)];
  const base = { id: turn.id, type: 'message', role: 'assistant', model: turn.model };
  const frames: StreamFrame[] = [];
  const add = (kind: StreamFrame['kind'], type: string, fields: Json) => {
    frames.push(frame(kind, { type, ...fields }, type));
  };
  add('head', 'message_start', {
    message: {
      ...base,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...input, output_tokens: 1, service_tier: 'standard' },
    },
  });
  const content = blocksOf(answer, turn);
  for (const [index, block] of content.entries()) {
    add(block.kind, 'content_block_start', { index, content_block: block.start });
    if (index === 0) add('noise', 'ping', {});
    for (const delta of block.deltas) add(delta.kind, 'content_block_delta', { index, delta: delta.delta });
    add('head', 'content_block_stop', { index });
  }
  add('end', 'message_delta', {
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { ...(answer.usage === false ? {} : input), output_tokens: completion },
  });
  add('end', 'message_stop', {});
  const whole = {
    ...base,
    content: content.map((block) => block.whole),
    stop_reason: stop,
    stop_sequence: null,
    usage: { ...input, output_tokens: completion, service_tier: 'standard' },
  };
  return { frames: answer.noise ? noisy(frames) : frames, whole };
}

interface StreamedBlock {
  kind: StreamFrame['kind'];
  start: Json;
  deltas: { kind: StreamFrame['kind']; delta: Json }[];
  whole: Json;
}

function blocksOf(answer: ScriptedAnswer, turn: ClaudeTurn): StreamedBlock[] {
  const blocks: StreamedBlock[] = [];
  if (answer.thoughts !== undefined) {
    const signature = Buffer.from(`thinking of ${turn.id}`).toString('base64');
    const pieces = piecesOf(answer.thoughts);
    blocks.push({
      kind: 'head',
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces.map((thinking) => ({ kind: 'head' as const, delta: { type: 'thinking_delta', thinking } })),
        { kind: 'head', delta: { type: 'signature_delta', signature } },
      ],
      whole: { type: 'thinking', thinking: pieces.join(''), signature },
    });
  }
  const pieces = piecesOf(answer.text);
  if (pieces.length > 0) {
    blocks.push({
      kind: 'head',
      start: { type: 'text', text: '' },
      deltas: pieces.map((text) => ({ kind: 'content', delta: { type: 'text_delta', text } })),
      whole: { type: 'text', text: pieces.join('') },
    });
  }
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const use = { type: 'tool_use', id: call.id ?? `toolu_${turn.id}_${index}`, name: call.name };
    // The vendor begins with an empty piece; an input without any other piece is {}.
    blocks.push({
      kind: 'content',
      start: { ...use, input: {} },
      deltas: ['', ...argumentPieces(call)].map((partial_json) => ({
        kind: 'content',
        delta: { type: 'input_json_delta', partial_json },
      })),
      whole: { ...use, input: argumentObject(call) },
    });
  }
  return blocks;
}

/** The disjoint parts of the prompt: read from the cache, written to it, and neither. */
function inputUsage(answer: ScriptedAnswer, turn: ClaudeTurn): Json {
  const { cache } = turn;
  return {
    input_tokens: (answer.usage ? answer.usage.promptTokens : undefined) ?? cache.plainTokens,
    cache_creation_input_tokens: cache.created5mTokens + cache.created1hTokens,
    cache_read_input_tokens: cache.readTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cache.created5mTokens,
      ephemeral_1h_input_tokens: cache.created1hTokens,
    },
  };
}

/** Pings and an event of a kind that does not exist, between all others. */
function noisy(frames: readonly StreamFrame[]): StreamFrame[] {
  const unknown = frame('noise', { type: 'something_new', detail: { text: 'noise' } }, 'something_new');
  const [start, ...rest] = frames;
  if (!start) return [];
  return [start, ...rest.flatMap((one) => [frame('noise', { type: 'ping' }, 'ping'), unknown, one])];
}
