/**
 * JSON text with its comments (double slash to the end of the line, slash and star) blanked out, so that positions in
 * the messages of the JSON parser stay right. What looks like a comment within a string is left alone.
 */
export function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
  );
}
