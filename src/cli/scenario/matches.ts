/**
 * Whether a value fits what is expected of it, in part: an object's named keys fit, a list holds each expected item, a
 * text between slashes is a regular expression, `{"above": 3}` and `{"below": 3}` bound a number, and anything else is
 * equal.
 */
export function matches(value: unknown, expected: unknown): boolean {
  if (typeof expected === 'string') {
    const pattern = /^\/(.*)\/$/su.exec(expected);
    if (!pattern) return value === expected;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text !== undefined && new RegExp(pattern[1] as string, 'iu').test(text);
  }
  if (Array.isArray(expected)) {
    return Array.isArray(value) && expected.every((item) => value.some((one) => matches(one, item)));
  }
  if (typeof expected === 'object' && expected !== null) {
    const bounds = expected as { above?: unknown; below?: unknown };
    if (typeof bounds.above === 'number' || typeof bounds.below === 'number') {
      if (typeof value !== 'number') return false;
      return value > number(bounds.above, -Infinity) && value < number(bounds.below, Infinity);
    }
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(expected).every(([key, inner]) =>
      matches((value as Record<string, unknown>)[key], inner),
    );
  }
  return value === expected;
}

function number(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
