/** Deeper values are not looked into. */
const MAX_DEPTH = 6;
/** More fields of one value are left out. */
const MAX_FIELDS = 500;
/** Longer texts are cut: these values stand in prompts and records. */
const MAX_TEXT = 8_000;

/**
 * A nested value as one flat map with dotted names: `{a: {b: 1}, c: [2]}` becomes `a`, `a.b`, `c`, `c.0`. The inner
 * values keep their own entries, so that a template may ask for a whole list as well as for its first item.
 */
export function flatFields(value: unknown): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  collect(value, '', 0, fields);
  return Object.fromEntries(fields);
}

/** Only the ends of the branches, with texts cut: what a CRM answered, as fields of `crm.*`. */
export function flatLeaves(value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(flatFields(value))
      .filter(([, field]) => typeof field !== 'object' || field === null)
      .map(([name, field]) => [name, asField(field)]),
  );
}

/** The value at a dotted place, `loans.0.due`; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const part of path.split('.').slice(0, MAX_PATH_PARTS)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

/** A value as one field of a flat map: plain values stay, lists and objects become their JSON. */
export function asField(value: unknown): unknown {
  const plain = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  return typeof plain === 'string' && plain.length > MAX_TEXT ? plain.slice(0, MAX_TEXT) : plain;
}

const MAX_PATH_PARTS = 20;

function collect(value: unknown, name: string, depth: number, fields: Map<string, unknown>): void {
  if (fields.size >= MAX_FIELDS) return;
  if (name !== '') fields.set(name, value);
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return;
  for (const [part, inner] of Object.entries(value)) {
    collect(inner, name === '' ? part : `${name}.${part}`, depth + 1, fields);
  }
}
