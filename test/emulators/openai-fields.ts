import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import { type Complaint, checked, isRecord, records } from './llm/complaint.ts';
import { OPENAI_FUNCTION_NAME, parametersProblem } from './openai-chat-messages.ts';

const TEXT: FieldRule = { type: 'string' };

export const chatTools: FieldRule = {
  type: 'array',
  test: (tools: unknown[]) => (tools.length > 0 ? null : 'is an empty list; leave it out instead'),
  items: {
    type: 'object',
    fields: {
      type: { type: 'string', required: true, oneOf: ['function'] },
      function: {
        type: 'object',
        required: true,
        fields: {
          name: {
            type: 'string',
            required: true,
            test: (name: string) =>
              OPENAI_FUNCTION_NAME.test(name) ? null : 'does not fit ^[a-zA-Z0-9_-]{1,64}$',
          },
          description: TEXT,
          parameters: { type: 'any' },
          strict: { type: 'boolean', nullable: true },
        },
        test: (tool: Record<string, unknown>) => parametersProblem(tool.parameters, tool.strict === true),
      },
    },
  },
};

export const chatToolChoice: FieldRule = checked((value) => {
  if (typeof value === 'string')
    return ['auto', 'none', 'required'].includes(value) ? null : 'is no tool choice';
  const fields: Fields = {
    type: { type: 'string', required: true, oneOf: ['function'] },
    function: { type: 'object', required: true, fields: { name: { type: 'string', required: true } } },
  };
  return checkFields(value, fields, 'tool_choice')[0] ?? null;
});

export const responseFormat: FieldRule = {
  type: 'object',
  fields: {
    type: { type: 'string', required: true, oneOf: ['text', 'json_object', 'json_schema'] },
    json_schema: {
      type: 'object',
      fields: {
        name: { type: 'string', required: true },
        description: TEXT,
        schema: { type: 'object' },
        strict: { type: 'boolean', nullable: true },
      },
    },
  },
};

export const stopWords: FieldRule = checked((value) => {
  if (typeof value === 'string') return null;
  const fits = Array.isArray(value) && value.length <= 4 && value.every((word) => typeof word === 'string');
  return fits ? null : 'must be a text or up to four of them';
});

/** Cache hints, which both APIs of the vendor take. */
export const CACHE_FIELDS: Fields = {
  prompt_cache_key: { type: 'string', maxLength: 64 },
  prompt_cache_retention: { type: 'string', oneOf: ['in_memory', '24h'] },
  prompt_cache_options: {
    type: 'object',
    fields: {
      mode: { type: 'string', oneOf: ['implicit', 'explicit'] },
      ttl: { type: 'string', oneOf: ['30m'] },
    },
  },
};

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'priority', 'fast'];

/** Settings about tools need tools, and a tool that is forced must be there. */
export function toolUseProblem(body: Record<string, unknown>): Complaint | null {
  const names = records(body.tools).map((tool) => (isRecord(tool.function) ? tool.function.name : tool.name));
  for (const name of ['tool_choice', 'parallel_tool_calls']) {
    if (body[name] !== undefined && body.tools === undefined) {
      return refused(
        `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`,
        name,
      );
    }
  }
  const choice = body.tool_choice;
  const forced = isRecord(choice)
    ? isRecord(choice.function)
      ? choice.function.name
      : choice.name
    : undefined;
  if (forced !== undefined && !names.includes(forced)) {
    return refused(`Tool choice '${forced}' not found in 'tools' parameter.`, 'tool_choice');
  }
  return null;
}

export function refused(message: string, param: string): Complaint {
  const unknown = /: unknown key (\S+)$/.exec(message)?.[1];
  if (unknown === undefined) return { status: 400, message, param, violation: true };
  return {
    status: 400,
    code: 'unknown_parameter',
    param,
    message: `Unknown parameter: '${param}'.`,
    violation: true,
  };
}
