import { type IpAddress, parseAddress } from './ip-address.ts';

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
