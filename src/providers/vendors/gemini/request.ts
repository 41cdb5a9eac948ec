import type { Content, GenerateContentConfig, GenerateContentParameters, Part, Tool } from '@google/genai';
import type { ChatMessage, LlmRequest, ToolCall } from '../../contract/language-model.ts';
import type { Reasoning } from '../../llm/llm-models.ts';
import type { LlmSettings } from '../../llm/llm-settings.ts';
import { MAX_RESULT_LENGTH, resultText } from '../../llm/tool-calls.ts';
import { readTools } from '../../llm/tool-schema.ts';

export interface GeminiSettings extends LlmSettings {
  apiVersion: string;
}

export interface GeminiCall {
  settings: GeminiSettings;
  request: LlmRequest;
  signal: AbortSignal;
}

/** What the vendor wants back unchanged with a call in the history. */
export interface GeminiOpaque {
  vendor: 'gemini';
  /** The vendor's own id of the call; absent where it gave none, and then none is sent back. */
  id?: string;
  thoughtSignature?: string;
}

/** Thinking tokens of the 2.5 family, which knows no levels (Gemini's documentation, thinking). */
const THINKING_BUDGETS: Record<Reasoning, number> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 4_096,
  high: 16_384,
};

/**
 * One request, with the cache entry of that name or without any. An entry holds the static prompt and the tools, and
 * the vendor refuses a request that brings them again; the dynamic half, which belongs to this call alone, then stands
 * as the first user content (docs/providers.md, "Prompt caching").
 */
export function geminiRequest(
  { settings, request, signal }: GeminiCall,
  cachedContent: string | null,
): GenerateContentParameters {
  const dynamicText = request.systemParts?.dynamicText ?? '';
  const config: GenerateContentConfig = {
    abortSignal: signal,
    automaticContinuation: false,
    automaticFunctionCalling: { disable: true },
    maxOutputTokens: request.maxOutputTokens ?? settings.maxOutputTokens,
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    ...thinking(settings),
    ...(request.json && { responseMimeType: 'application/json' }),
  };
  if (cachedContent !== null) {
    const ahead: Content[] =
      dynamicText.trim() === '' ? [] : [{ role: 'user', parts: [{ text: dynamicText }] }];
    return {
      model: settings.model,
      contents: joinTurns([...ahead, ...contentsOf(request.messages)]),
      config: { ...config, cachedContent },
    };
  }
  return {
    model: settings.model,
    contents: joinTurns(contentsOf(request.messages)),
    config: {
      ...config,
      ...(request.system.trim() !== '' && { systemInstruction: { parts: [{ text: request.system }] } }),
      ...(request.tools.length > 0 && { tools: geminiTools(request.tools) }),
    },
  };
}

/** The bot's tools as one tool with many functions, in a request or inside a cache entry. */
export function geminiTools(tools: LlmRequest['tools']): Tool[] {
  const functionDeclarations = readTools(tools).map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  return functionDeclarations.length > 0 ? [{ functionDeclarations }] : [];
}

function thinking({
  reasoning,
  capabilities,
}: GeminiSettings): Pick<GenerateContentConfig, 'thinkingConfig'> {
  if (reasoning === null) return {};
  if (capabilities?.reasoningWire === 'budget') {
    return { thinkingConfig: { thinkingBudget: THINKING_BUDGETS[reasoning] } };
  }
  // Only an unknown model gets here with `none`: what it calls its least is not known, so it keeps its own default.
  if (reasoning === 'none') return {};
  type Level = NonNullable<NonNullable<GenerateContentConfig['thinkingConfig']>['thinkingLevel']>;
  return { thinkingConfig: { thinkingLevel: reasoning.toUpperCase() as Level } };
}

function contentsOf(history: readonly ChatMessage[]): Content[] {
  const contents: Content[] = [];
  // Calls that this vendor did not make have no signature, and without one the vendor refuses them: they are told.
  const told = new Set<string>();
  for (const message of history) {
    if (message.role === 'user') contents.push({ role: 'user', parts: [{ text: message.text }] });
    else if (message.role === 'assistant') {
      const calls = message.toolCalls ?? [];
      const isOwn = calls.some((call) => opaqueOf(call) !== null);
      const parts: Part[] = message.text.trim() === '' ? [] : [{ text: message.text }];
      for (const call of calls) {
        if (isOwn) parts.push(callPart(call));
        else {
          told.add(call.id);
          parts.push({ text: `[Called the tool ${call.name} with ${JSON.stringify(call.args)}.]` });
        }
      }
      contents.push({ role: 'model', parts });
    } else if (told.has(message.callId)) {
      const text = `[The tool ${message.name} answered: ${resultText(message.result)}]`;
      contents.push({ role: 'user', parts: [{ text }] });
    } else {
      contents.push({ role: 'user', parts: [resultPart(message, history)] });
    }
  }
  return contents;
}

function callPart(call: ToolCall): Part {
  const opaque = opaqueOf(call);
  return {
    functionCall: { ...(opaque?.id !== undefined && { id: opaque.id }), name: call.name, args: call.args },
    ...(opaque?.thoughtSignature !== undefined && { thoughtSignature: opaque.thoughtSignature }),
  };
}

function resultPart(message: ChatMessage & { role: 'tool' }, history: readonly ChatMessage[]): Part {
  const call = history
    .flatMap((entry) => (entry.role === 'assistant' ? (entry.toolCalls ?? []) : []))
    .find((candidate) => candidate.id === message.callId);
  const id = call && opaqueOf(call)?.id;
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      name: message.name,
      response: responseOf(message.result),
    },
  };
}

/** The vendor wants an object; `output` and `error` are the keys that it documents. */
function responseOf(result: unknown): Record<string, unknown> {
  const isObject = result !== null && typeof result === 'object' && !Array.isArray(result);
  if (isObject && Object.hasOwn(result, 'error') && Object.keys(result).length === 1) {
    return { error: (result as { error: unknown }).error };
  }
  const text = resultText(result);
  return { output: text.length > MAX_RESULT_LENGTH ? text : (result ?? null) };
}

function opaqueOf(call: ToolCall): GeminiOpaque | null {
  const opaque = call.opaque as Partial<GeminiOpaque> | null | undefined;
  return opaque?.vendor === 'gemini' ? (opaque as GeminiOpaque) : null;
}

/** Neighbours of one role become one turn: the results of parallel calls must come in one. */
function joinTurns(contents: Content[]): Content[] {
  const joined: Content[] = [];
  for (const content of contents) {
    const previous = joined.at(-1);
    if (previous && previous.role === content.role) {
      previous.parts = [...(previous.parts ?? []), ...(content.parts ?? [])];
    } else joined.push({ ...content });
  }
  return joined;
}
