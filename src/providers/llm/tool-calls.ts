import { randomUUID } from 'node:crypto';
import { isRecord } from '../../platform/json-shapes.ts';
import type { ToolCall } from '../contract/language-model.ts';
import { answerFault } from './llm-errors.ts';

/** Longest arguments of one call: far beyond what a conversation needs, little beside a slot's memory. */
export const MAX_ARGUMENTS_LENGTH = 65_536;
/** Calls in one answer. */
export const MAX_CALLS = 32;

/**
 * The arguments of a finished call. Vendors stream no text at all for a function without arguments. Throws class
 * `content` for what is no JSON object: the same question may go well elsewhere, and running a tool on half of its
 * arguments would be worse than not running it.
 */
function parseArguments(provider: string, toolName: string, text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw answerFault(
      provider,
      'content',
      'invalid_tool_arguments',
      `gave arguments for ${toolName} that are no JSON`,
    );
  }
  if (!isRecord(value)) {
    throw answerFault(
      provider,
      'content',
      'invalid_tool_arguments',
      `gave arguments for ${toolName} that are no JSON object`,
    );
  }
  return value;
}

/** Joins the fragments of several calls, which may come interleaved. */
export class ToolCallJoiner {
  private readonly provider: string;
  private readonly open = new Map<number, { id: string | null; name: string; text: string }>();

  constructor(provider: string) {
    this.provider = provider;
  }

  get size(): number {
    return this.open.size;
  }

  /** `index` is the vendor's number of the call; id and name come with its first fragment or never again. */
  add(index: number, fragment: { id?: string | null; name?: string | null; text?: string | null }): void {
    const call = this.open.get(index) ?? { id: null, name: '', text: '' };
    if (fragment.id) call.id ??= fragment.id;
    if (fragment.name && call.name === '') call.name = fragment.name;
    call.text += fragment.text ?? '';
    this.open.set(index, call);
    if (this.open.size > MAX_CALLS || call.text.length > MAX_ARGUMENTS_LENGTH) {
      throw answerFault(
        this.provider,
        'content',
        'tool_call_too_large',
        'gave more tool calls than a turn can hold',
      );
    }
  }

  /** The calls in the vendor's order, each with its text still unparsed; the joiner is empty afterwards. */
  take(): { index: number; id: string | null; name: string; text: string }[] {
    const calls = [...this.open.entries()].sort(([a], [b]) => a - b);
    this.open.clear();
    return calls.map(([index, { id, name, text }]) => ({ index, id, name, text }));
  }
}

/** For servers that give a call no id; the history needs one to pair it with its result. */
function newCallId(): string {
  return `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

/**
 * A joined call as the layers above take it. `isCut`: the answer ended at its token limit, so the last arguments may be
 * half ones. Throws class `content` for arguments that cannot be used and for a call without a name.
 */
export function finishedCall(
  provider: string,
  joined: { id: string | null; name: string; text: string },
  isCut: boolean,
): ToolCall {
  if (joined.name === '') {
    throw answerFault(provider, 'content', 'invalid_tool_call', 'called a function without a name');
  }
  if (isCut && !isComplete(joined.text)) {
    throw answerFault(
      provider,
      'content',
      'tool_call_cut',
      `ran out of output tokens within the call of ${joined.name}; raise llm.max_output_tokens`,
    );
  }
  return {
    id: joined.id ?? newCallId(),
    name: joined.name,
    args: parseArguments(provider, joined.name, joined.text),
  };
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A tool's result is cut here: a whole page that a CRM answers would fill the model's context for every later turn. */
export const MAX_RESULT_LENGTH = 32_768;

/** The result of a tool as the vendors take it: a text, of which JSON is one. */
export function resultText(result: unknown): string {
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');
  if (text.length <= MAX_RESULT_LENGTH) return text;
  return `${text.slice(0, MAX_RESULT_LENGTH)} [cut: the result had ${text.length} characters]`;
}
