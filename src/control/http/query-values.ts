import type { TObject, TSchema } from 'typebox';
import { invalidQuery } from './validation-issues.ts';

/** More fields in one query are refused before anything is made of them. */
const MAX_FIELDS = 200;

/**
 * The strings of a query as the types that the schema names. Only one spelling of each value is converted (`7`, not
 * `07`, `7.0` or ` 7`; `true` and `false`); what cannot be converted stays a string and then does not fit. An array
 * field is a repeated key; any other field may stand once. Throws `validation_error` for a field that stands twice.
 */
export function queryValues(schema: TObject, query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  let fields = 0;
  for (const [name, text] of query) {
    if (++fields > MAX_FIELDS) throw invalidQuery('', `a query has at most ${MAX_FIELDS} fields`);
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const items = field === undefined ? undefined : itemsOf(field);
    if (items !== undefined) {
      const list = Object.hasOwn(values, name) ? (values[name] as unknown[]) : [];
      list.push(convert(items, text));
      setOwn(values, name, list);
      continue;
    }
    if (Object.hasOwn(values, name)) throw invalidQuery(name, `${name.slice(0, 64)} may stand only once`);
    setOwn(values, name, field === undefined ? text : convert(field, text));
  }
  return values;
}

/** A query may name a field `__proto__`; it becomes a field like any other. */
function setOwn(values: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true });
}

function itemsOf(schema: TSchema): TSchema | undefined {
  const { type, items } = schema as { type?: unknown; items?: TSchema };
  return type === 'array' ? items : undefined;
}

function convert(schema: TSchema, text: string): unknown {
  const { type } = schema as { type?: unknown };
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'integer' && /^(0|-?[1-9]\d{0,15})$/.test(text)) return Number(text);
  if (type === 'number' && /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/.test(text)) return Number(text);
  return text;
}
