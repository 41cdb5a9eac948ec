/** The keypad of ITU-T Q.23: a row and a column frequency for each key, in Hz. */
export const ROW_HZ = [697, 770, 852, 941] as const;
export const COLUMN_HZ = [1209, 1336, 1477, 1633] as const;

const KEYS = ['123A', '456B', '789C', '*0#D'] as const;

/** The key of a row and a column (0 to 3 each). */
export function keyAt(row: number, column: number): string {
  return KEYS[row]?.[column] ?? '';
}

/** Where a key lies; null for what is no key. */
export function keyPlace(key: string): { row: number; column: number } | null {
  if (key.length !== 1) return null;
  for (const [row, keys] of KEYS.entries()) {
    const column = keys.indexOf(key.toUpperCase());
    if (column >= 0) return { row, column };
  }
  return null;
}
