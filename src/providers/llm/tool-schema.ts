import { AppError } from '../../platform/app-error.ts';

/** A function that the model may call, as the bot declares it and as every vendor needs it. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema of the arguments, always of type object. */
  parameters: Record<string, unknown>;
}

/** What all three vendors take as a name; Gemini would allow more. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** No vendor takes more in one request. */
const MAX_TOOLS = 128;

/**
 * Reads `{type: 'function', function: {name, description, parameters}}`. The order stays, since a prompt cache matches
 * the tools byte by byte. Throws `bad_provider_config` with the place of the fault.
 */
export function readTools(tools: readonly Record<string, unknown>[]): ToolDeclaration[] {
  if (tools.length > MAX_TOOLS) throw refused('tools', `must be at most ${MAX_TOOLS}`);
  const names = new Set<string>();
  return tools.map((tool, index) => {
    const inner = tool.function as Partial<Record<string, unknown>> | null | undefined;
    const name = inner?.name;
    if (typeof name !== 'string' || !NAME.test(name)) {
      throw refused(`tools[${index}].function.name`, `must match ${NAME.source}`);
    }
    if (names.has(name)) throw refused(`tools[${index}].function.name`, `repeats "${name}"`);
    names.add(name);
    const description = inner?.description;
    return {
      name,
      description: typeof description === 'string' ? description : '',
      parameters: schemaOf(inner?.parameters),
    };
  });
}

/** A function without parameters still needs the schema of an empty object at OpenAI and Anthropic. */
function schemaOf(parameters: unknown): Record<string, unknown> {
  const isObject = parameters !== null && typeof parameters === 'object' && !Array.isArray(parameters);
  return { type: 'object', properties: {}, ...(isObject ? parameters : {}) };
}

function refused(key: string, sentence: string): AppError {
  return new AppError('bad_provider_config', `${key} ${sentence}`, { details: { key } });
}
