/** The first field of a value that does not fit, as a path ("vad.answer_rules[2].pattern"), and what it must be. */
export interface Misfit {
  path: string;
  mustBe: string;
}

/**
 * Says whether a value fits; null where it does. What generated code puts together from these in place of a schema
 * library, which a slot has no memory for. Nothing is changed, and what is not asked for is passed over.
 */
export type Shape = (value: unknown) => Misfit | null;

/** `demanded` fields must be there; of `others` an absent one and null fit as well. */
export function object(demanded: Record<string, Shape>, others: Record<string, Shape>): Shape {
  const known = [...Object.entries(demanded), ...Object.entries(others)];
  const mayLack = new Set(Object.keys(others));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return mustBe('an object');
    for (const [name, shape] of known) {
      const inner = (value as Record<string, unknown>)[name] ?? null;
      if (inner === null && mayLack.has(name)) continue;
      const misfit = shape(inner);
      if (misfit) return below(name, misfit);
    }
    return null;
  };
}

export function array(of: Shape, maxItems = Number.POSITIVE_INFINITY): Shape {
  return (value) => {
    if (!Array.isArray(value)) return mustBe('a list');
    if (value.length > maxItems) return mustBe(`a list of at most ${maxItems}`);
    for (const [index, item] of value.entries()) {
      const misfit = of(item);
      if (misfit) return below(`[${index}]`, misfit);
    }
    return null;
  };
}

/** `minLength` is 0 or 1. */
export function string(minLength = 0, maxLength = Number.POSITIVE_INFINITY): Shape {
  return (value) => {
    if (typeof value !== 'string') return mustBe('text');
    if (value.length < minLength) return mustBe('text that is not empty');
    return lengthOf(value, maxLength) > maxLength ? mustBe(`text of at most ${maxLength} characters`) : null;
  };
}

export function number(minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): Shape {
  const wanted = `a number${range(minimum, maximum)}`;
  return (value) =>
    typeof value === 'number' && value >= minimum && value <= maximum ? null : mustBe(wanted);
}

export function integer(minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): Shape {
  const wanted = `a whole number${range(minimum, maximum)}`;
  return (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
      ? null
      : mustBe(wanted);
}

export const boolean: Shape = (value) => (typeof value === 'boolean' ? null : mustBe('true or false'));

export function literals(...values: string[]): Shape {
  return (value) =>
    values.some((each) => each === value) ? null : mustBe(values.map((each) => `"${each}"`).join(' or '));
}

export const unknown: Shape = () => null;

function mustBe(wanted: string): Misfit {
  return { path: '', mustBe: wanted };
}

function below(name: string, { path, mustBe: wanted }: Misfit): Misfit {
  return { path: path === '' || path.startsWith('[') ? name + path : `${name}.${path}`, mustBe: wanted };
}

function range(minimum: number, maximum: number): string {
  if (minimum === Number.NEGATIVE_INFINITY) return '';
  return maximum === Number.POSITIVE_INFINITY ? ` from ${minimum} on` : ` from ${minimum} to ${maximum}`;
}

/** Marks that the schema library counts together with the character before them; never counted stricter than there. */
const JOINED =
  /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe00-\ufe0f\ufe20-\ufe2f]|\u200d.?|(?<=\p{Regional_Indicator})\p{Regional_Indicator}/gsu;

/** In characters as people count them; only a text that might be too long is looked at. */
function lengthOf(value: string, maxLength: number): number {
  return value.length <= maxLength ? value.length : [...value.replace(JOINED, '')].length;
}
