import type { AppError } from '../../platform/app-error.ts';
import { invalid, issue } from '../../platform/http-server/schema-check.ts';

/** A mistake in the query that a handler has found itself. */
export function invalidQuery(name: string, sentence: string): AppError {
  return invalid(sentence, [issue('query', `/${name}`, sentence, 'value')]);
}

/** The same in the body; `pointer` is a JSON pointer, `/contact/name`. */
export function invalidBody(pointer: string, sentence: string): AppError {
  return invalid(sentence, [issue('body', pointer, sentence, 'value')]);
}
