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
export function parseArguments(provider: string, toolName: string, text: string): Record<string, unknown> {
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
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw answerFault(
      provider,
      'content',
      'invalid_tool_arguments',
      `gave arguments for ${toolName} that are no JSON object`,
    );
  }
  return value as Record<string, unknown>;
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
