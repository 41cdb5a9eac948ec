import type { TSchema } from 'typebox';

/** The schemas of the document, each named one written once. */
export interface Components {
  /** The schema as it stands at its place: a reference where it, or a part of it, has a name of its own. */
  place(schema: TSchema): unknown;
  readonly schemas: Record<string, unknown>;
}

/** A schema whose `title` looks like this is a component of that name. */
const COMPONENT_NAME = /^[A-Z][A-Za-z0-9]+$/;

/** Throws where two different schemas claim one name. */
export function createComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const place = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(place);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, place(part)]));
    const { title } = inner;
    if (typeof title !== 'string' || !COMPONENT_NAME.test(title)) return inner;
    const known = schemas[title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inner)) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    schemas[title] = inner;
    return { $ref: `#/components/schemas/${title}` };
  };
  return { place, schemas };
}
