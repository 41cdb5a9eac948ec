import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import { checked } from './llm/complaint.ts';

/** Documented fields of Gemini's request bodies; all others are refused as unknown names. */
const TEXT: FieldRule = { type: 'string' };
const NUMBER: FieldRule = { type: 'number' };

/** Keys of a schema in Gemini's own subset of OpenAPI; JSON Schema words such as additionalProperties are not in it. */
const SCHEMA_FIELDS: Fields = {
  type: {
    type: 'string',
    test: (value: string) =>
      /^(string|number|integer|boolean|array|object|null|type_unspecified)$/i.test(value)
        ? null
        : 'is no type of a schema',
  },
  format: TEXT,
  title: TEXT,
  description: TEXT,
  nullable: { type: 'boolean' },
  enum: { type: 'array', items: TEXT },
  example: { type: 'any' },
  default: { type: 'any' },
  pattern: TEXT,
  minimum: NUMBER,
  maximum: NUMBER,
  minItems: { type: 'any' },
  maxItems: { type: 'any' },
  minLength: { type: 'any' },
  maxLength: { type: 'any' },
  minProperties: { type: 'any' },
  maxProperties: { type: 'any' },
  required: { type: 'array', items: TEXT },
  propertyOrdering: { type: 'array', items: TEXT },
  items: checked(schemaProblem),
  anyOf: { type: 'array', items: checked(schemaProblem) },
  properties: checked((value) => {
    for (const [name, schema] of Object.entries((value ?? {}) as object)) {
      const problem = schemaProblem(schema);
      if (problem) return `has ${name}, which ${problem}`;
    }
    return null;
  }),
};

function schemaProblem(value: unknown): string | null {
  const problem = checkFields(value, SCHEMA_FIELDS, 'schema')[0];
  return problem ? `is refused (${problem})` : null;
}

/** Letters, digits, underscore, point, colon and hyphen, at most 128. */
const FUNCTION_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

const functionName: FieldRule = {
  type: 'string',
  required: true,
  test: (value: string) => (FUNCTION_NAME.test(value) ? null : 'is no name of a function'),
};

const PART_FIELDS: Fields = {
  text: TEXT,
  thought: { type: 'boolean' },
  thoughtSignature: TEXT,
  functionCall: {
    type: 'object',
    fields: { id: TEXT, name: functionName, args: { type: 'object' } },
  },
  functionResponse: {
    type: 'object',
    fields: { id: TEXT, name: functionName, response: { type: 'object', required: true } },
  },
};

const PART_KINDS = ['text', 'functionCall', 'functionResponse'];

const part: FieldRule = {
  type: 'object',
  fields: PART_FIELDS,
  test: (value: Record<string, unknown>) => {
    const kinds = PART_KINDS.filter((kind) => value[kind] !== undefined);
    if (kinds.length !== 1) return 'must hold exactly one of text, functionCall and functionResponse';
    if (value.text === '' && value.thoughtSignature === undefined) return 'holds an empty text';
    return null;
  },
};

const parts: FieldRule = {
  type: 'array',
  required: true,
  items: part,
  test: (value: unknown[]) => (value.length > 0 ? null : 'must not be empty'),
};

const CONTENTS: FieldRule = {
  type: 'array',
  items: {
    type: 'object',
    fields: { role: { type: 'string', required: true, oneOf: ['user', 'model'] }, parts },
  },
};

/** The SDK gives the system instruction a role of user, which the vendor accepts. */
const SYSTEM: FieldRule = {
  type: 'object',
  fields: { role: { type: 'string', oneOf: ['user', 'system'] }, parts },
};

const SCHEMA_NAMES = ['parameters', 'parametersJsonSchema', 'parameters_json_schema'];

const TOOLS: FieldRule = {
  type: 'array',
  items: {
    type: 'object',
    fields: {
      functionDeclarations: {
        type: 'array',
        required: true,
        items: {
          type: 'object',
          fields: {
            name: functionName,
            description: TEXT,
            parameters: checked(schemaProblem),
            parametersJsonSchema: { type: 'object' },
            // The other name that JSON has for a field of a protocol buffer; the vendor's client for Python says it so.
            parameters_json_schema: { type: 'object' },
            exclusive: { type: 'boolean' },
          },
          test: (value: Record<string, unknown>) =>
            SCHEMA_NAMES.filter((name) => value[name] !== undefined).length > 1
              ? 'has parameters and parametersJsonSchema, which exclude each other'
              : null,
        },
      },
    },
  },
};

const TOOL_CONFIG: FieldRule = {
  type: 'object',
  fields: {
    functionCallingConfig: {
      type: 'object',
      fields: {
        mode: { type: 'string', oneOf: ['AUTO', 'ANY', 'NONE'] },
        allowedFunctionNames: { type: 'array', items: TEXT },
      },
      test: (value: Record<string, unknown>) =>
        value.allowedFunctionNames !== undefined && value.mode !== 'ANY'
          ? 'has allowedFunctionNames, which need the mode ANY'
          : null,
    },
  },
};

const GENERATION_CONFIG: FieldRule = {
  type: 'object',
  fields: {
    temperature: { type: 'number', min: 0, max: 2 },
    topP: { type: 'number', min: 0, max: 1 },
    topK: { type: 'integer', min: 1 },
    maxOutputTokens: { type: 'integer', min: 1 },
    stopSequences: { type: 'array', items: TEXT, maxItems: 5 },
    candidateCount: { type: 'integer', min: 1, max: 1 },
    responseMimeType: { type: 'string', oneOf: ['text/plain', 'application/json'] },
    responseSchema: checked(schemaProblem),
    responseJsonSchema: { type: 'object' },
    seed: { type: 'integer' },
    thinkingConfig: {
      type: 'object',
      fields: {
        thinkingLevel: { type: 'string', oneOf: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] },
        thinkingBudget: { type: 'integer', min: -1, max: 32_768 },
        includeThoughts: { type: 'boolean' },
      },
    },
  },
};

export const GENERATE_FIELDS: Fields = {
  contents: { ...CONTENTS, required: true },
  systemInstruction: SYSTEM,
  tools: TOOLS,
  toolConfig: TOOL_CONFIG,
  generationConfig: GENERATION_CONFIG,
  safetySettings: {
    type: 'array',
    items: {
      type: 'object',
      fields: { category: { ...TEXT, required: true }, threshold: { ...TEXT, required: true } },
    },
  },
  cachedContent: {
    type: 'string',
    test: (value: string) =>
      /^cachedContents\/[\w-]+$/.test(value) ? null : 'is no name of a cached content',
  },
};

export const duration: FieldRule = {
  type: 'string',
  test: (value: string) => (/^\d+(\.\d{1,9})?s$/.test(value) ? null : 'is no duration such as "3600s"'),
};

export const moment: FieldRule = {
  type: 'string',
  test: (value: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value)
      ? null
      : 'is no time of RFC 3339',
};

export const CREATE_CACHE_FIELDS: Fields = {
  model: {
    type: 'string',
    required: true,
    test: (value: string) => (/^models\/[\w.-]+$/.test(value) ? null : 'must read models/<id>'),
  },
  systemInstruction: SYSTEM,
  contents: CONTENTS,
  tools: TOOLS,
  toolConfig: TOOL_CONFIG,
  ttl: duration,
  expireTime: moment,
  displayName: { type: 'string', maxLength: 128 },
};

/** Only the end of an entry's life may change. */
export const PATCH_CACHE_FIELDS: Fields = { ttl: duration, expireTime: moment };
