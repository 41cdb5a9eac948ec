import type { IssuedCall } from './gemini-turns.ts';
import { argumentObject, argumentText, finishOf, piecesOf, type ScriptedAnswer } from './llm/answer.ts';
import { frame, type StreamFrame } from './llm/stream-frames.ts';
import { countTokens } from './llm/tokens.ts';

/** What an answer of the emulated model needs to know about its request. */
export interface GeminiTurn {
  responseId: string;
  model: string;
  promptTokens: number;
  /** Null without a cached content. */
  cachedTokens: number | null;
  /** Signs calls, as the 3 family does. */
  signs: boolean;
  streamed: boolean;
}

export interface GeminiAnswer {
  frames: StreamFrame[];
  /** The answer of generateContent, without a stream. */
  whole: Record<string, unknown>;
  calls: IssuedCall[];
}

type Json = Record<string, unknown>;

/** Vendor's words for how an answer ends; a call of a function ends with STOP as well. */
const FINISH = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' } as const;

/** Puts an answer into chunks: thoughts, text, calls as one part each, and the end with the finish and full usage. */
export function geminiAnswer(answer: ScriptedAnswer, turn: GeminiTurn): GeminiAnswer {
  const parts: Json[] = piecesOf(answer.thoughts).map((text) => ({ text, thought: true }));
  for (const text of piecesOf(answer.text)) parts.push({ text });
  const calls: IssuedCall[] = [];
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const id = call.id === undefined ? `call-${turn.responseId}-${index}` : call.id;
    const signature = turn.signs
      ? Buffer.from(`signature ${turn.responseId} ${index}`).toString('base64')
      : null;
    calls.push({ id, name: call.name, signature });
    parts.push({
      functionCall: { ...(id === null ? {} : { id }), name: call.name, args: argumentObject(call) },
      ...(signature === null ? {} : { thoughtSignature: signature }),
    });
  }
  const usage = usageOf(answer, turn);
  const common = { modelVersion: turn.model, responseId: turn.responseId };
  const early = usage && {
    promptTokenCount: usage.promptTokenCount,
    totalTokenCount: usage.promptTokenCount,
  };
  const finishReason = answer.finishWord ?? FINISH[finishOf(answer)];
  if (answer.blockReason !== undefined) {
    const blocked = {
      promptFeedback: { blockReason: answer.blockReason },
      ...(early && { usageMetadata: early }),
      ...common,
    };
    return { frames: [frame('end', blocked)], whole: blocked, calls: [] };
  }
  const frames = parts.map((part) =>
    frame('content', {
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }],
      ...(early && { usageMetadata: early }),
      ...common,
    }),
  );
  // A filtered answer ends with a candidate that has no content at all.
  const empty = finishOf(answer) === 'refused' || answer.finishWord !== undefined;
  frames.push(
    frame('end', {
      candidates: [
        { ...(empty ? {} : { content: { role: 'model', parts: [{ text: '' }] } }), finishReason, index: 0 },
      ],
      ...(usage && { usageMetadata: usage }),
      ...common,
    }),
  );
  const whole = {
    candidates: [
      {
        ...(parts.length > 0 ? { content: { role: 'model', parts: joined(parts) } } : {}),
        finishReason,
        index: 0,
      },
    ],
    ...(usage && { usageMetadata: usage }),
    ...common,
  };
  return { frames: answer.noise ? noisy(frames, common) : frames, whole, calls };
}

/** Comments, chunks without candidates or content, and a signature on an empty text: nothing that could be spoken. */
function noisy(frames: readonly StreamFrame[], common: Json): StreamFrame[] {
  const signed = { role: 'model', parts: [{ text: '', thoughtSignature: 'c2lnbmVk' }] };
  const noise = [
    frame('comment', 'ping'),
    frame('noise', { usageMetadata: {}, somethingNew: true, ...common }),
    frame('noise', { candidates: [{ index: 0, somethingNew: {} }], ...common }),
    frame('noise', { candidates: [{ content: signed, index: 0 }], ...common }),
  ];
  return frames.flatMap((one) => [...noise, one]);
}

/** Neighbouring texts as one part, as an answer without a stream has them. */
function joined(parts: readonly Json[]): Json[] {
  const list: Json[] = [];
  for (const part of parts) {
    const last = list.at(-1);
    if (
      last &&
      typeof last.text === 'string' &&
      typeof part.text === 'string' &&
      last.thought === part.thought
    ) {
      last.text += part.text;
    } else list.push({ ...part });
  }
  return list;
}

function usageOf(
  answer: ScriptedAnswer,
  turn: GeminiTurn,
): (Json & { promptTokenCount: number }) | undefined {
  if (answer.usage === false) return undefined;
  const promptTokenCount = answer.usage?.promptTokens ?? turn.promptTokens;
  const spoken = piecesOf(answer.text).join('');
  const called = (answer.toolCalls ?? []).map((call) => `${call.name} ${argumentText(call)}`).join(' ');
  const candidatesTokenCount = answer.usage?.completionTokens ?? countTokens(`${spoken} ${called}`);
  const thoughts = answer.usage?.thoughtTokens ?? countTokens(piecesOf(answer.thoughts).join(''));
  return {
    promptTokenCount,
    candidatesTokenCount,
    totalTokenCount: promptTokenCount + candidatesTokenCount + thoughts,
    ...(turn.cachedTokens === null ? {} : { cachedContentTokenCount: turn.cachedTokens }),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
  };
}
