import fc, { type Arbitrary } from 'fast-check';
import type { RequestParts } from '../../../harness/plane-harness.ts';
import type { Operation, Schema } from './api-document.ts';

/**
 * Requests for an operation as its declaration describes them, with a mistake here and there. `pools` holds values that
 * something has, by the name of the part of the path.
 */
export function arbitraryRequest(
  operation: Operation,
  pools: ReadonlyMap<string, readonly string[]>,
): Arbitrary<RequestParts> {
  const params = Object.fromEntries(
    operation.params.map(({ name, schema, sample }) => [
      name,
      fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(...(pools.get(name) ?? [sample])) },
        { weight: 1, arbitrary: arbitraryOf(schema).map(String) },
        { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }) },
      ),
    ]),
  );
  const query = fc
    .tuple(
      ...operation.query.map(({ name, schema, required }) =>
        fc
          .option(oneOrAnything(schema, fc.string({ maxLength: 8 })), { freq: required ? 20 : 1 })
          .map((value) => (value === null ? [] : [value].flat().map((item) => `${name}=${encode(item)}`))),
      ),
    )
    .map((fields) => fields.flat().join('&'));
  const body = operation.body;
  const content: Arbitrary<Pick<RequestParts, 'json' | 'body'>> =
    body === null
      ? fc.constant({})
      : fc.oneof(
          { weight: 8, arbitrary: fromExample(body.schema, body.example).map((json) => ({ json })) },
          { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((json) => ({ json })) },
          { weight: 1, arbitrary: fc.string({ maxLength: 30 }).map((text) => ({ body: text })) },
        );
  return fc
    .tuple(fc.record(params), query, content)
    .map(([path, search, sent]) => ({ params: path, query: search, ...sent }) as RequestParts);
}

function encode(value: unknown): string {
  return encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Some fields from the example and some drawn, so that more than a shallow check is passed. */
function fromExample(schema: Schema, example: unknown): Arbitrary<unknown> {
  const drawn = arbitraryOf(schema);
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return drawn;
  return fc.tuple(drawn, fc.integer({ min: 0, max: 3 }), fc.nat()).map(([value, how, seed]) => {
    if (how === 0 || typeof value !== 'object' || value === null) return value;
    const taken = Object.entries(value).filter((_, i) => ((seed >> (i % 31)) & 1) === 1 && how !== 1);
    return { ...example, ...Object.fromEntries(taken.slice(0, 2)) };
  });
}

/** Nearly always a value that fits. */
function oneOrAnything(schema: Schema, anything: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: arbitraryOf(schema) }, { weight: 1, arbitrary: anything });
}

/** Longer strings, lists and objects than these prove nothing that shorter ones do not. */
const MAX_DRAWN_CHARS = 40;
const MAX_DRAWN_ITEMS = 4;

/** Values that fit the schema, as far as its keywords are understood here. */
export function arbitraryOf(schema: Schema): Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const options = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (options) return fc.oneof(...options.map(arbitraryOf));
  const bound = (name: string, fallback: number) =>
    typeof schema[name] === 'number' ? (schema[name] as number) : fallback;
  switch (schema.type) {
    case 'string':
      return arbitraryText(schema, bound);
    case 'integer':
      return fc.integer({
        min: Math.max(bound('minimum', -5), -1e9),
        max: Math.min(bound('maximum', 1_000), 1e9),
      });
    case 'number':
      return fc.double({
        min: bound('minimum', bound('exclusiveMinimum', -1_000)),
        max: bound('maximum', 1_000_000),
        noNaN: true,
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const minLength = bound('minItems', 0);
      return fc.array(arbitraryOf((schema.items ?? {}) as Schema), {
        minLength,
        maxLength: Math.max(minLength, Math.min(bound('maxItems', MAX_DRAWN_ITEMS), MAX_DRAWN_ITEMS)),
      });
    }
    case 'object':
      return arbitraryObject(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function arbitraryText(schema: Schema, bound: (name: string, fallback: number) => number): Arbitrary<string> {
  if (typeof schema.pattern === 'string')
    return fc.stringMatching(new RegExp(schema.pattern), { size: 'small' });
  const minLength = bound('minLength', 0);
  return fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.max(minLength, Math.min(bound('maxLength', MAX_DRAWN_CHARS), MAX_DRAWN_CHARS)),
  });
}

function arbitraryObject(schema: Schema): Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const names = Object.keys(properties);
  const required = (schema.required ?? []) as string[];
  const known = fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, oneOrAnything(part, fc.jsonValue())]),
    ),
    { requiredKeys: names.filter((name) => required.includes(name)) },
  );
  if (schema.additionalProperties === false && schema.patternProperties === undefined) return known;
  const [values = {}] = Object.values((schema.patternProperties ?? {}) as Record<string, Schema>);
  const more = fc.dictionary(
    fc.stringMatching(/^[a-z_]{1,10}$/),
    typeof schema.additionalProperties === 'object'
      ? arbitraryOf(schema.additionalProperties as Schema)
      : arbitraryOf(values),
    { maxKeys: 3 },
  );
  return fc.tuple(more, known).map(([extra, own]) => ({ ...extra, ...(own as object) }));
}
