import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../app-error.ts';

/** One mistake in a request: place, sentence, kind and JSON pointer. Never a value. */
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

/**
 * A check of values against `schema`, which throws `validation_error` with the place of every mistake. Compiling takes
 * longer than most requests, so it waits for the first one that needs it.
 *
 * @param unknownFieldHints what to say of fields that are not known here and are sent all the same
 */
export function schemaCheck(
  schema: TSchema,
  unknownFieldHints: Readonly<Record<string, string>> = {},
): { fits(value: unknown): boolean; demand(place: Place, value: unknown): void } {
  let compiled: ReturnType<typeof Compile> | undefined;
  const check = () => {
    compiled ??= Compile(schema);
    return compiled;
  };
  return {
    fits: (value) => check().Check(value),
    demand(place, value) {
      if (check().Check(value)) return;
      const errors = check()
        .Errors(value)
        .flatMap((error) => issuesOf(place, error, unknownFieldHints));
      throw invalid(
        `the ${place} does not fit the schema of this route; \`errors\` says where`,
        errors.slice(0, MAX_ISSUES),
      );
    },
  };
}

/** A `validation_error` with its mistakes. */
export function invalid(sentence: string, errors: readonly ValidationIssue[]): AppError {
  return new AppError('validation_error', sentence, { details: { errors } });
}

export function issue(place: Place, pointer: string, msg: string, type: string): ValidationIssue {
  return { loc: [place, ...pointer.split('/').slice(1).map(pathPart)], msg, type, pointer };
}

/** Missing and unknown fields are reported by the checker on the object; the caller wants the place of the field. */
function issuesOf(
  place: Place,
  error: SchemaError,
  unknownFieldHints: Readonly<Record<string, string>>,
): ValidationIssue[] {
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
    return names('additionalProperties').map((name) => {
      const known =
        instancePath === '' && Object.hasOwn(unknownFieldHints, name) ? unknownFieldHints[name] : undefined;
      return issue(place, at(name), known ?? 'this field is not known here', 'unknown_field');
    });
  }
  // The checker reports an unknown field twice; this is its other way of saying so.
  if (keyword === 'boolean') return [];
  return [issue(place, instancePath, message, keyword)];
}

function pathPart(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}
