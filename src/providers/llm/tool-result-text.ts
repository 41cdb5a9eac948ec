/** A tool's result is cut here: a whole page that a CRM answers would fill the model's context for every later turn. */
export const MAX_RESULT_LENGTH = 32_768;

/** The result of a tool as the vendors take it: a text, of which JSON is one. */
export function resultText(result: unknown): string {
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');
  if (text.length <= MAX_RESULT_LENGTH) return text;
  return `${text.slice(0, MAX_RESULT_LENGTH)} [cut: the result had ${text.length} characters]`;
}
