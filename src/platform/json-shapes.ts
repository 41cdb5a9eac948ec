/** What parsed JSON holds, before anything is believed about it: each reader gives the shape that it names, or nothing. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; null where it is something else. */
export function recordOrNull(value: unknown): Record<string, unknown> | null {
  return isRecord(value) ? value : null;
}

/** The value as an object; an empty one where it is something else. */
export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The list, an empty one where there is none. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, '' where there is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text; null where there is none, and where it is empty. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The number, null where there is none that can be counted with. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
