import type Anthropic from '@anthropic-ai/sdk';
import type { ChatMessage, LlmRequest, ToolCall } from '../../contract/language-model.ts';
import type { LlmSettings } from '../../llm/llm-settings.ts';
import { resultText } from '../../llm/tool-calls.ts';
import { readTools } from '../../llm/tool-schema.ts';

type Request = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type Message = Anthropic.MessageParam;

export interface AnthropicSettings extends LlmSettings {
  /** How long the static prompt stays cached after its last use. */
  cacheTtl: '5m' | '1h';
  apiVersion: string;
}

/** What a tool call carries back: the thoughts that led to it, signed, must stand in front of it again. */
export interface AnthropicOpaque {
  vendor: 'anthropic';
  thinking: Block[];
}

/** Thinking tokens of the older models, which want a number (Anthropic's documentation, extended thinking). */
const THINKING_BUDGETS = { none: 0, minimal: 1_024, low: 1_024, medium: 4_096, high: 16_384 } as const;

/**
 * The body of one request. `directive` is null where nothing is cached. Otherwise (reference 4.5, "Our layout"): the
 * first breakpoint closes the static system block, which the tools come before; the dynamic half is a second block
 * without one; the last breakpoint closes the history. Tools stand in every request.
 */
export function anthropicRequest(
  settings: AnthropicSettings,
  request: LlmRequest,
  directive: LlmRequest['systemParts'] | null,
): Request {
  const tools = readTools(request.tools);
  const limit = request.maxOutputTokens ?? settings.maxOutputTokens;
  const system = systemBlocks(settings, request, directive ?? null);
  return {
    model: settings.model,
    ...limitAndThinking(settings, limit),
    ...(system.length > 0 && { system }),
    messages: messagesOf(request.messages, directive !== null),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: { ...parameters, type: 'object' as const },
      })),
    }),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    stream: true,
  };
}

function limitAndThinking(
  settings: AnthropicSettings,
  limit: number,
): Pick<Request, 'max_tokens' | 'thinking' | 'output_config'> {
  const { reasoning } = settings;
  const wire = settings.capabilities?.reasoningWire ?? 'adaptive';
  if (reasoning === null) return { max_tokens: limit };
  if (wire === 'enabled') {
    const budget = THINKING_BUDGETS[reasoning];
    // Thinking is off by default there; its budget must be below the limit of the whole answer.
    if (budget === 0) return { max_tokens: limit };
    return { max_tokens: limit + budget, thinking: { type: 'enabled', budget_tokens: budget } };
  }
  if (reasoning === 'none') {
    return { max_tokens: limit, thinking: { type: 'disabled' }, output_config: { effort: 'low' } };
  }
  const effort = reasoning === 'minimal' ? 'low' : reasoning;
  return { max_tokens: limit, thinking: { type: 'adaptive' }, output_config: { effort } };
}

function systemBlocks(
  settings: AnthropicSettings,
  request: LlmRequest,
  directive: LlmRequest['systemParts'] | null,
): Anthropic.TextBlockParam[] {
  const wantsJson = request.json ? 'Answer with one JSON object and nothing else.' : '';
  const texts = directive ? [directive.staticText, directive.dynamicText] : [request.system];
  const blocks: Anthropic.TextBlockParam[] = texts.map((text) => ({ type: 'text', text }));
  const [first] = blocks;
  if (directive && first) {
    first.cache_control = {
      type: 'ephemeral',
      ...(settings.cacheTtl === '1h' && { ttl: '1h' as const }),
    };
  }
  blocks.push({ type: 'text', text: wantsJson });
  // The vendor refuses empty blocks.
  return blocks.filter((block) => block.text.trim() !== '');
}

function messagesOf(history: readonly ChatMessage[], hasCache: boolean): Message[] {
  const messages: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of history) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const previous = messages.at(-1);
    // Results go first into the next user turn, and one turn holds all that follows from one side.
    if (previous?.role === role) previous.content.push(...blocksOf(message));
    else messages.push({ role, content: blocksOf(message) });
  }
  const last = messages.at(-1)?.content.at(-1);
  if (hasCache && last && (last.type === 'text' || last.type === 'tool_result')) {
    last.cache_control = { type: 'ephemeral' };
  }
  return messages;
}

function blocksOf(message: ChatMessage): Block[] {
  if (message.role === 'user') return [{ type: 'text', text: message.text }];
  if (message.role === 'tool') {
    return [
      {
        type: 'tool_result',
        tool_use_id: vendorId(message.callId),
        content: resultText(message.result),
        ...(isFailure(message.result) && { is_error: true }),
      },
    ];
  }
  const blocks: Block[] = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }];
  for (const call of message.toolCalls ?? []) {
    blocks.push({ type: 'tool_use', id: vendorId(call.id), name: call.name, input: call.args });
  }
  return [...(message.toolCalls ?? []).flatMap(thoughtsOf), ...blocks];
}

function thoughtsOf(call: ToolCall): Block[] {
  const opaque = call.opaque as Partial<AnthropicOpaque> | null | undefined;
  return opaque?.vendor === 'anthropic' && Array.isArray(opaque.thinking) ? opaque.thinking : [];
}

/** Ids that another vendor gave may hold signs that this one refuses. */
function vendorId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_');
}

function isFailure(result: unknown): boolean {
  return result !== null && typeof result === 'object' && Object.hasOwn(result, 'error');
}
