import { declarationOf } from '../tools/call-tool.ts';

/**
 * The bot's tools as a language model is told of them (LlmRequest.tools). The config carries more, such as where an HTTP
 * tool sends its request and with which secret headers, and none of that is a model's business. What is declared as a
 * function already, as a foreign control plane may do, stays as it is.
 */
export function declaredTools(tools: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return tools.map(declarationOf);
}
