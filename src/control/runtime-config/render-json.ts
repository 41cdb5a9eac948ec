import { renderTemplate, type Variables } from '../../platform/render-template.ts';

/** Deeper than this a value stays as it is; nothing that people write by hand comes near. */
const MAX_DEPTH = 16;

/** A JSON value with each text in it rendered; the keys stay. */
export function renderJson(value: unknown, variables: Variables, depth = 0): unknown {
  if (typeof value === 'string') return renderTemplate(value, variables);
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => renderJson(item, variables, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, renderJson(inner, variables, depth + 1)]),
  );
}
