import { flatLeaves } from '../calls/flat-fields.ts';

/**
 * A namespace of variables as a flat map of scalars, for tools and transfers (R67). A list or an object keeps its name
 * with its JSON, as a template would show it, and each value in it gets a dotted name: `{a: {b: 1}}` becomes `a` and
 * `a.b`. A name that the call has itself is never taken by a dotted one.
 */
export function flatContext(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'object' || value === null) {
      flat[name] = value;
      continue;
    }
    flat[name] = JSON.stringify(value);
    for (const [place, leaf] of Object.entries(flatLeaves(value))) {
      const dotted = `${name}.${place}`;
      if (!Object.hasOwn(values, dotted)) flat[dotted] = leaf;
    }
  }
  return flat;
}
