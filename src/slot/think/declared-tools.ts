/**
 * The bot's tools as a language model is told of them (LlmRequest.tools). The config carries more, such as where an HTTP
 * tool sends its request and with which secret headers, and none of that is a model's business. What is declared as a
 * function already, as a foreign control plane may do, stays as it is.
 */
export function declaredTools(tools: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return tools.map((tool) => {
    if (typeof tool.function === 'object' && tool.function !== null) {
      return { type: 'function', function: tool.function };
    }
    const { name, description, parameters } = tool;
    return { type: 'function', function: { name, description, parameters } };
  });
}
