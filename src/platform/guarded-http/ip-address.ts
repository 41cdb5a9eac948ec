/** An address as a number, so that networks are comparisons. Both versions in one form: 32 or 128 bits. */
export interface IpAddress {
  bits: 32 | 128;
  value: bigint;
}

/**
 * Reads `192.0.2.1` and every spelling of RFC 4291 section 2.2, the mixed one with dots included. Strict on purpose: no
 * octal, hexadecimal or shortened IPv4, no zone, no brackets; null for all of them, so that what is judged and what is
 * connected to cannot be two readings of one text.
 */
export function parseAddress(text: string): IpAddress | null {
  if (text.length > 45) return null;
  if (!text.includes(':')) {
    const value = parseDotted(text);
    return value === null ? null : { bits: 32, value };
  }
  const value = parseColons(text);
  return value === null ? null : { bits: 128, value };
}

function parseDotted(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4) return null;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseColons(text: string): bigint | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const left = readGroups(halves[0] ?? '', halves.length === 1);
  const right = halves.length === 2 ? readGroups(halves[1] ?? '', true) : [];
  if (!left || !right) return null;
  const missing = 8 - left.length - right.length;
  // "::" stands for one group or more (RFC 5952 section 4.2.2 only advises against one).
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...left, ...new Array<number>(missing).fill(0), ...right];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** Groups of up to four hex digits; the last may be an IPv4 address where the text ends there. */
function readGroups(text: string, atEnd: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const dotted = atEnd && index === parts.length - 1 ? parseDotted(part) : null;
      if (dotted === null) return null;
      groups.push(Number(dotted >> 16n), Number(dotted & 0xffffn));
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return null;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}
