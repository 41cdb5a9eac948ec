import fc from 'fast-check';

/** The OpenAPI document as the generated tests read it: nothing here knows the routes from the inside. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  security: Record<string, string[]>[];
  params: Parameter[];
  query: Parameter[];
  body: { type: string; schema: Schema; example: unknown; required: boolean } | null;
  statuses: number[];
  takesIdempotencyKey: boolean;
}

export interface Parameter {
  name: string;
  required: boolean;
  schema: Schema;
  /** A value that fits and that nothing has. */
  sample: string;
}

export type Schema = Record<string, unknown>;

type Json = Record<string, unknown>;

/** Operations of the control plane, or of the fleet ingress; those have a server of their own. */
export function readOperations(document: Json, server: 'plane' | 'fleet' = 'plane'): Operation[] {
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(document.paths as Record<string, Json>)) {
    if ((item.servers === undefined) !== (server === 'plane')) continue;
    for (const [method, value] of Object.entries(item)) {
      if (method !== 'servers') operations.push(readOperation(document, path, method, value as Json));
    }
  }
  return operations;
}

function readOperation(document: Json, path: string, method: string, operation: Json): Operation {
  const parameters = (operation.parameters ?? []) as (Parameter & { in: string })[];
  const at = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, schema }) => {
        const resolved = resolve(document, schema);
        return { name, required, schema: resolved, sample: sampleOf(resolved) };
      });
  const request = operation.requestBody as { required: boolean; content: Record<string, Json> } | undefined;
  const [type, media] = Object.entries(request?.content ?? {})[0] ?? [];
  return {
    id: operation.operationId as string,
    method: method.toUpperCase(),
    path,
    tag: (operation.tags as string[])[0] ?? '',
    security: operation.security as Record<string, string[]>[],
    params: at('path'),
    query: at('query'),
    body:
      type === undefined || media === undefined
        ? null
        : {
            type,
            schema: resolve(document, media.schema as Schema),
            example: media.example,
            required: request?.required ?? false,
          },
    statuses: Object.keys(operation.responses as Json).map(Number),
    takesIdempotencyKey: at('header').some((header) => header.name === 'Idempotency-Key'),
  };
}

function sampleOf({ pattern, anyOf }: Schema): string {
  const [choice] = (anyOf ?? []) as Schema[];
  if (typeof choice?.const === 'string') return choice.const;
  if (typeof pattern !== 'string') return 'nosuch';
  return fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: 5, numRuns: 1 })[0] ?? '';
}

/** A recursive schema stays a reference below this. */
const MAX_RESOLVED = 12;

/** The schema with the components written out in their places. */
export function resolve(document: Json, schema: unknown, depth = 0): Schema {
  return resolveAny(document, schema, depth) as Schema;
}

function resolveAny(document: Json, value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveAny(document, item, depth));
  if (typeof value !== 'object' || value === null) return value;
  const reference = (value as Json).$ref;
  if (typeof reference === 'string' && reference.startsWith('#/components/schemas/')) {
    if (depth >= MAX_RESOLVED) return {};
    const name = reference.slice('#/components/schemas/'.length);
    const schemas = (document.components as { schemas: Json }).schemas;
    return resolveAny(document, schemas[name], depth + 1);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveAny(document, item, depth)]),
  );
}
