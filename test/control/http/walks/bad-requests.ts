import type { RequestParts } from '../../../harness/plane-harness.ts';
import type { Operation, Schema } from './api-document.ts';

/** One request that must be refused, and how. */
export interface BadRequest {
  what: string;
  status: number;
  parts: RequestParts;
}

/** Every way to get the body or the query of an operation wrong that its declaration gives away. */
export function badRequests(operation: Operation, authorised: Record<string, string>): BadRequest[] {
  const bad: BadRequest[] = [];
  const add = (what: string, status: number, parts: RequestParts) =>
    bad.push({ what, status, parts: { ...parts, headers: { ...authorised, ...parts.headers } } });
  if (!takesAnyQuery(operation)) {
    add('an unknown field in the query', 422, { query: 'no_such_field=1' });
    add('a prototype in the query', 422, { query: '__proto__=1&constructor=2' });
  }
  for (const { name, schema } of operation.query) {
    for (const value of wrongTexts(schema)) {
      add(`${name}=${value}`, 422, { query: `${name}=${encodeURIComponent(value)}` });
    }
    if (schema.type !== 'array') add(`${name} twice`, 422, { query: `${name}=1&${name}=1` });
  }
  if (operation.method === 'GET') return bad;
  if (!operation.body) {
    add('a body where none belongs', 422, { json: { surprise: 1 } });
    add('a body that is no JSON', 400, { body: '{' });
    add('a body of another type', 415, { body: '{}', headers: { 'content-type': 'text/plain' } });
    add('a large body where none belongs', 413, { json: { surprise: 'x'.repeat(2_000) } });
    return bad;
  }
  const { schema, example, type } = operation.body;
  add('another content type', 415, { body: '<a/>', headers: { 'content-type': 'application/xml' } });
  if (type !== 'application/json') return bad;
  const whole = typeof example === 'object' && example !== null ? (example as Schema) : {};
  if (operation.body.required) add('no body', 400, { body: '', headers: { 'content-type': type } });
  add('a body that is no JSON', 400, { body: '{"a":' });
  add('a body that is no UTF-8', 400, { body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) });
  add('a key that stands twice', 400, { body: '{"a":1,"a":2}' });
  add('endless nesting', 400, { body: `{"a":${'['.repeat(500)}${']'.repeat(500)}}` });
  add('a body that is no object', 422, { json: null });
  add('a list for an object', 422, { json: [] });
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  for (const name of (schema.required ?? []) as string[]) {
    const { [name]: _, ...rest } = whole;
    add(`without ${name}`, 422, { json: rest });
  }
  for (const [name, property] of Object.entries(properties)) {
    for (const value of wrongValues(property)) {
      add(`${name} as ${JSON.stringify(value)}`, 422, { json: { ...whole, [name]: value } });
    }
  }
  if (schema.additionalProperties === false) {
    add('an unknown field', 422, { json: { ...whole, no_such_field: 1 } });
    const polluted = JSON.parse('{"__proto__":{"admin":true}}') as object;
    add('a prototype', 422, { json: Object.assign(polluted, whole) });
  }
  return bad;
}

/** The config route takes what slots of other versions send. */
function takesAnyQuery(operation: Operation): boolean {
  return operation.id === 'getRuntimeConfig';
}

function wrongTexts(schema: Schema): string[] {
  if (schema.type === 'integer') return ['x', '1.5', '', '1e400'];
  if (schema.type === 'number') return ['x', ''];
  if (schema.type === 'boolean') return ['yes', ''];
  return [];
}

/** Values of every JSON type that the schema does not take. */
function wrongValues(schema: Schema): unknown[] {
  const types = typesOf(schema);
  if (types === null) return [];
  const samples: Record<string, unknown> = {
    string: 'text',
    number: 0.5,
    boolean: true,
    null: null,
    array: [],
    object: {},
  };
  return Object.entries(samples)
    .filter(([type]) => !types.includes(type))
    .map(([, value]) => value);
}

/** JSON types that the schema may take; null where it takes any. */
function typesOf(schema: Schema): string[] | null {
  const options = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (options) {
    const lists = options.map(typesOf);
    return lists.includes(null) ? null : lists.flatMap((list) => list ?? []);
  }
  if (typeof schema.type === 'string') return [schema.type];
  if (Array.isArray(schema.type)) return schema.type as string[];
  if (schema.const !== undefined) return [typeof schema.const];
  return null;
}
