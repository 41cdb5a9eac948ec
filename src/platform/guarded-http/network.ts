/** A network in CIDR form, `10.20.0.0/16`. */
export interface Network {
  bits: 32 | 128;
  prefix: bigint;
  length: number;
}

/** Null for anything that is not `address/length`; bits behind the length must be zero, or the author meant another. */
export function parseNetwork(text: string): Network | null {
  const match = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(text.trim());
  const address = parseAddress(match?.[1] ?? '');
  const length = Number(match?.[2]);
  if (!address || !(length <= address.bits)) return null;
  const hostBits = BigInt(address.bits - length);
  if ((address.value >> hostBits) << hostBits !== address.value) return null;
  return { bits: address.bits, prefix: address.value >> hostBits, length };
}

export function networkHas(network: Network, address: IpAddress): boolean {
  return (
    network.bits === address.bits && address.value >> BigInt(address.bits - network.length) === network.prefix
  );
}

/** For tables in the source: a text that is no network is a mistake of the programmer. */
export function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (!parsed) throw new TypeError(`"${text}" is not a network`);
  return parsed;
}

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
