import { AppError } from '../../platform/app-error.ts';

/** One mistake in a request (D-27): place, sentence, kind and JSON pointer. Never a value. */
export interface ValidationIssue {
  loc: (string | number)[];
  msg: string;
  type: string;
  pointer: string;
}

export type Place = 'query' | 'body' | 'path';

/** More mistakes than these in one request are not told. */
const MAX_ISSUES = 20;

/** What a compiled schema says about a value; the part of it that is read here. */
interface SchemaError {
  keyword: string;
  instancePath: string;
  message: string;
  params: object;
}

/** The error of a request that does not fit, with the place of every mistake. */
export function misfit(place: Place, errors: readonly SchemaError[]): AppError {
  return invalid(
    `the ${place === 'body' ? 'body' : place} does not fit the schema of this route; \`errors\` says where`,
    errors.flatMap((error) => issuesOf(place, error)).slice(0, MAX_ISSUES),
  );
}

/** A `validation_error` with mistakes that a handler has found itself. */
export function invalid(sentence: string, errors: readonly ValidationIssue[]): AppError {
  return new AppError('validation_error', sentence, { details: { errors } });
}

export function invalidQuery(name: string, sentence: string): AppError {
  return invalid(sentence, [issue('query', `/${name}`, sentence, 'value')]);
}

/** `pointer` is a JSON pointer into the body, `/contact/name`. */
export function invalidBody(pointer: string, sentence: string): AppError {
  return invalid(sentence, [issue('body', pointer, sentence, 'value')]);
}

export function issue(place: Place, pointer: string, msg: string, type: string): ValidationIssue {
  return { loc: [place, ...pointer.split('/').slice(1).map(pathPart)], msg, type, pointer };
}

/** Missing and unknown fields are reported by the checker on the object; the caller wants the place of the field. */
function issuesOf(place: Place, error: SchemaError): ValidationIssue[] {
  const { keyword, instancePath, message } = error;
  const names = (key: string): string[] => {
    const value = (error.params as Record<string, unknown>)[key];
    return Array.isArray(value) ? value.map(String) : [];
  };
  const at = (name: string) => `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (keyword === 'required') {
    return names('requiredProperties').map((name) =>
      issue(place, at(name), 'this field is missing', 'missing'),
    );
  }
  if (keyword === 'additionalProperties') {
    return names('additionalProperties').map((name) =>
      issue(place, at(name), 'this field is not known here', 'unknown_field'),
    );
  }
  // The checker reports an unknown field twice; this is its other way of saying so.
  if (keyword === 'boolean') return [];
  return [issue(place, instancePath, message, keyword)];
}

function pathPart(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}
