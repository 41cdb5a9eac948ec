import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import { checked, isRecord, records } from './llm/complaint.ts';

const TEXT: FieldRule = { type: 'string' };
const NAMED_TEXT: FieldRule = { type: 'string', required: true };

const TEXT_PART: Fields = {
  type: { type: 'string', required: true, oneOf: ['text'] },
  text: NAMED_TEXT,
  prompt_cache_breakpoint: {
    type: 'object',
    fields: {
      mode: { type: 'string', required: true, oneOf: ['explicit'] },
      ttl: { type: 'string', oneOf: ['30m', '12h'] },
    },
  },
};

const content: FieldRule = checked((value) => {
  if (typeof value === 'string') return null;
  if (!Array.isArray(value) || value.length === 0) return 'must be a text or a list of parts';
  return value.flatMap((part) => checkFields(part, TEXT_PART, 'part'))[0] ?? null;
}, true);

const TOOL_CALL: FieldRule = {
  type: 'object',
  fields: {
    id: NAMED_TEXT,
    type: { type: 'string', required: true, oneOf: ['function'] },
    function: { type: 'object', required: true, fields: { name: NAMED_TEXT, arguments: NAMED_TEXT } },
  },
};

const BY_ROLE: Readonly<Record<string, Fields>> = {
  system: { role: TEXT, content, name: TEXT },
  developer: { role: TEXT, content, name: TEXT },
  user: { role: TEXT, content, name: TEXT },
  assistant: {
    role: TEXT,
    content: checked((value) => (value === null ? null : (content.test?.(value as never) ?? null))),
    refusal: { type: 'string', nullable: true },
    name: TEXT,
    tool_calls: {
      type: 'array',
      items: TOOL_CALL,
      test: (calls: unknown[]) => (calls.length > 0 ? null : 'is an empty list'),
    },
  },
  tool: { role: TEXT, content, tool_call_id: NAMED_TEXT },
};

/** The first break of the rules for messages: their fields, and each tool call answered right after it. */
export function messagesProblem(value: unknown, roles: readonly string[]): string | null {
  const messages = records(value);
  if (!Array.isArray(value) || messages.length === 0 || messages.length !== value.length) {
    return 'messages must be a list of at least one message';
  }
  for (const [index, message] of messages.entries()) {
    const fields = BY_ROLE[String(message.role)];
    if (!fields || !roles.includes(String(message.role))) {
      return `messages[${index}].role: '${message.role}' is not one of ${roles.join(', ')}`;
    }
    const problem = checkFields(message, fields, `messages[${index}]`)[0];
    if (problem) return problem;
    if (
      message.role === 'assistant' &&
      message.tool_calls === undefined &&
      typeof message.content !== 'string'
    ) {
      if (!Array.isArray(message.content)) return `messages[${index}].content must be set without tool_calls`;
    }
  }
  return pairingProblem(messages);
}

function pairingProblem(messages: readonly Record<string, unknown>[]): string | null {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (!open.includes(id)) {
        return `messages[${index}]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`;
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) return unanswered(open);
    if (message.role === 'assistant') open = records(message.tool_calls).map((call) => String(call.id));
    if (new Set(open).size !== open.length) return `messages[${index}].tool_calls holds an id twice`;
  }
  return open.length > 0 ? unanswered(open) : null;
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;
}

/** The text of a message's content, whichever way it is written. */
export function contentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return records(value)
    .map((part) => String(part.text ?? ''))
    .join('\n');
}

/** A schema for arguments: an object; with `strict` it names all its keys and no others. */
export function parametersProblem(parameters: unknown, strict: boolean): string | null {
  if (parameters === undefined) return null;
  if (!isRecord(parameters) || parameters.type !== 'object') {
    return 'schema must be a JSON Schema of \'type: "object"\'';
  }
  if (!strict) return null;
  if (parameters.additionalProperties !== false) {
    return "'additionalProperties' is required to be supplied and to be false";
  }
  const names = Object.keys(isRecord(parameters.properties) ? parameters.properties : {});
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const left = names.find((name) => !required.includes(name));
  return left === undefined ? null : `'required' must include every key of properties; missing '${left}'`;
}

/** Letters, digits, underscore and hyphen, at most 64. */
export const OPENAI_FUNCTION_NAME = /^[A-Za-z0-9_-]{1,64}$/;
