import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import { checked, isRecord } from './llm/complaint.ts';

/** Documented fields of a Messages request (Anthropic's API reference); all others are refused as extra inputs. */
const TEXT: FieldRule = { type: 'string' };
const NAMED_TEXT: FieldRule = { type: 'string', required: true };

const CACHE_CONTROL: FieldRule = {
  type: 'object',
  nullable: true,
  fields: {
    type: { type: 'string', required: true, oneOf: ['ephemeral'] },
    ttl: { type: 'string', oneOf: ['5m', '1h'] },
  },
};

const text: FieldRule = {
  type: 'string',
  required: true,
  test: (value: string) => (value.trim() === '' ? 'is empty: text content blocks must be non-empty' : null),
};

const CALL_ID: FieldRule = {
  type: 'string',
  required: true,
  test: (value: string) => (/^[A-Za-z0-9_-]+$/.test(value) ? null : "does not match '^[a-zA-Z0-9_-]+$'"),
};

const TEXT_BLOCK: Fields = {
  type: { type: 'string', required: true, oneOf: ['text'] },
  text,
  cache_control: CACHE_CONTROL,
};

/** Letters, digits, underscore and hyphen, at most 128. */
const toolName: FieldRule = {
  type: 'string',
  required: true,
  test: (name: string) =>
    /^[A-Za-z0-9_-]{1,128}$/.test(name) ? null : "does not match '^[a-zA-Z0-9_-]{1,128}$'",
};

/** Blocks that each role may say. */
const BLOCKS: Readonly<Record<string, Readonly<Record<string, Fields>>>> = {
  user: {
    text: TEXT_BLOCK,
    tool_result: {
      type: TEXT,
      tool_use_id: CALL_ID,
      content: checked((value) =>
        typeof value === 'string' ? null : blocksProblem(value, { text: TEXT_BLOCK }),
      ),
      is_error: { type: 'boolean' },
      cache_control: CACHE_CONTROL,
    },
  },
  assistant: {
    text: TEXT_BLOCK,
    tool_use: {
      type: TEXT,
      id: CALL_ID,
      name: toolName,
      input: { type: 'object', required: true },
      cache_control: CACHE_CONTROL,
    },
    thinking: { type: TEXT, thinking: NAMED_TEXT, signature: NAMED_TEXT },
    redacted_thinking: { type: TEXT, data: NAMED_TEXT },
  },
};

/** What is wrong with a message's or a system's content. */
export function blocksProblem(value: unknown, kinds: Readonly<Record<string, Fields>>): string | null {
  if (typeof value === 'string') return text.test?.(value as never) ?? null;
  if (!Array.isArray(value) || value.length === 0) return 'must be a text or a list of blocks';
  for (const [index, block] of value.entries()) {
    const type = isRecord(block) ? String(block.type) : '';
    const fields = kinds[type];
    if (!fields) return `has at ${index} a block of type '${type}', which does not belong there`;
    const problem = checkFields(block, fields, `block ${index}`)[0];
    if (problem) return `is refused: ${problem}`;
  }
  return null;
}

const messages: FieldRule = {
  type: 'array',
  required: true,
  test: (list: unknown[]) => {
    if (list.length === 0) return 'is empty: at least one message is required';
    for (const [index, message] of list.entries()) {
      const fields: Fields = {
        role: { type: 'string', required: true, oneOf: ['user', 'assistant'] },
        content: { type: 'any', required: true },
      };
      const problem = checkFields(message, fields, `messages.${index}`)[0];
      if (problem) return problem;
      const { role, content } = message as { role: string; content: unknown };
      const wrong = blocksProblem(content, BLOCKS[role] ?? {});
      if (wrong) return `at ${index} (${role}): content ${wrong}`;
    }
    return null;
  },
};

const TOOLS: FieldRule = {
  type: 'array',
  items: {
    type: 'object',
    fields: {
      type: { type: 'string', oneOf: ['custom'] },
      name: toolName,
      description: TEXT,
      input_schema: {
        type: 'object',
        required: true,
        test: (schema: Record<string, unknown>) => (schema.type === 'object' ? null : "needs type 'object'"),
      },
      strict: { type: 'boolean' },
      eager_input_streaming: { type: 'boolean' },
      cache_control: CACHE_CONTROL,
    },
  },
  test: (tools: Record<string, unknown>[]) => {
    const names = tools.map((tool) => tool.name);
    return new Set(names).size === names.length ? null : 'has a name twice: tool names must be unique';
  },
};

const SAMPLING: Fields = {
  temperature: { type: 'number', min: 0, max: 1 },
  top_p: { type: 'number', min: 0, max: 1 },
  top_k: { type: 'integer', min: 0 },
};

export const MESSAGE_FIELDS: Fields = {
  ...SAMPLING,
  model: NAMED_TEXT,
  max_tokens: { type: 'integer', required: true, min: 0 },
  system: checked((value) => blocksProblem(value, { text: TEXT_BLOCK })),
  messages,
  tools: TOOLS,
  tool_choice: {
    type: 'object',
    fields: {
      type: { type: 'string', required: true, oneOf: ['auto', 'any', 'tool', 'none'] },
      name: TEXT,
      disable_parallel_tool_use: { type: 'boolean' },
    },
    test: (choice: Record<string, unknown>) =>
      (choice.type === 'tool') === (choice.name !== undefined) ? null : 'has a name only with the type tool',
  },
  stream: { type: 'boolean' },
  stop_sequences: { type: 'array', items: TEXT },
  thinking: {
    type: 'object',
    fields: {
      type: { type: 'string', required: true, oneOf: ['disabled', 'adaptive', 'enabled', 'between_tools'] },
      budget_tokens: { type: 'integer' },
      display: { type: 'string', nullable: true, oneOf: ['summarized', 'omitted'] },
    },
  },
  output_config: {
    type: 'object',
    fields: {
      effort: { type: 'string', oneOf: ['low', 'medium', 'high', 'xhigh', 'max'] },
      format: { type: 'object' },
    },
  },
  service_tier: { type: 'string', oneOf: ['auto', 'standard_only'] },
  metadata: { type: 'object', fields: { user_id: { type: 'string', nullable: true } } },
  cache_control: CACHE_CONTROL,
  diagnostics: { type: 'object', fields: { previous_message_id: { type: 'string', nullable: true } } },
};
