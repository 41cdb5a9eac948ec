import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../language-model.ts';
import { answerFault } from './llm-errors.ts';
import { parseArguments } from './tool-arguments.ts';

/** For servers that give a call no id; the history needs one to pair it with its result. */
export function newCallId(): string {
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
