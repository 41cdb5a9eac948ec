import { type IpAddress, type Network, network, networkHas, parseAddress } from './network.ts';

/**
 * Where an outbound request may go. `listed` networks are the admin's own (setting `outbound_allowed_networks`): they
 * open private ranges and plain http, never what is always refused.
 */
export type AddressVerdict =
  | { allowed: true; listed: boolean }
  /** One sentence without the address: it may go into a log that callers can read. */
  | { allowed: false; reason: string };

/** Judges an address in text form, as a resolver gives it. What cannot be read is refused. */
export function judgeAddress(text: string, listed: readonly Network[]): AddressVerdict {
  const address = parseAddress(text);
  if (!address) return { allowed: false, reason: 'the host has an address that cannot be read' };
  return judge(unwrap(address), listed);
}

function judge(address: IpAddress | null, listed: readonly Network[]): AddressVerdict {
  if (!address) return refused('another network inside an IPv6 tunnel');
  const never = NEVER.find((row) => row.networks.some((range) => networkHas(range, address)));
  if (never) return refused(never.what);
  if (listed.some((range) => networkHas(range, address))) return { allowed: true, listed: true };
  if (PRIVATE.some((range) => networkHas(range, address))) {
    return {
      allowed: false,
      reason: 'the host has a private address; an admin may list its network in outbound_allowed_networks',
    };
  }
  if (address.bits === 128 && !networkHas(GLOBAL_UNICAST, address))
    return refused('an IPv6 range without hosts');
  return { allowed: true, listed: false };
}

function refused(what: string): AddressVerdict {
  return { allowed: false, reason: `the host has an address that is never called: ${what}` };
}

/**
 * An IPv4 address that travels in an IPv6 one is judged as what it is: v4-mapped (RFC 4291 2.5.5.2), the well-known
 * NAT64 prefix (RFC 6052 2.1), 6to4 (RFC 3056). Null for Teredo (RFC 4380), whose far end is written twice.
 */
function unwrap(address: IpAddress): IpAddress | null {
  if (address.bits === 32) return address;
  if (networkHas(MAPPED, address) || networkHas(NAT64, address)) {
    return { bits: 32, value: address.value & 0xffff_ffffn };
  }
  if (networkHas(SIX_TO_FOUR, address)) return { bits: 32, value: (address.value >> 80n) & 0xffff_ffffn };
  return networkHas(TEREDO, address) ? null : address;
}

const MAPPED = network('::ffff:0:0/96');
const NAT64 = network('64:ff9b::/96');
const SIX_TO_FOUR = network('2002::/16');
const TEREDO = network('2001::/32');
const GLOBAL_UNICAST = network('2000::/3');

/** Private use: RFC 1918, RFC 6598 (carrier NAT), RFC 4193. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'].map(network);

/** IANA special-purpose registries (RFC 6890) and the metadata services of the big clouds. No list opens these. */
const NEVER: readonly { what: string; networks: readonly Network[] }[] = [
  { what: 'the unspecified address', networks: ['0.0.0.0/8', '::/128'].map(network) },
  { what: 'loopback', networks: ['127.0.0.0/8', '::1/128'].map(network) },
  {
    what: 'a cloud metadata service',
    networks: [
      '169.254.169.254/32',
      '169.254.170.2/32',
      '100.100.100.200/32',
      '168.63.129.16/32',
      '192.0.0.192/32',
      'fd00:ec2::/32',
      'fd20:ce::/32',
    ].map(network),
  },
  { what: 'link-local', networks: ['169.254.0.0/16', 'fe80::/10', 'fec0::/10'].map(network) },
  { what: 'multicast', networks: ['224.0.0.0/4', 'ff00::/8'].map(network) },
  { what: 'broadcast or reserved', networks: ['240.0.0.0/4', '192.0.0.0/24', '192.88.99.0/24'].map(network) },
  {
    what: 'documentation or benchmarking',
    networks: [
      '192.0.2.0/24',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '198.18.0.0/15',
      '2001:db8::/32',
      '3fff::/20',
      '2001:2::/48',
      '100::/64',
    ].map(network),
  },
  {
    what: 'an IPv4 address in an obsolete IPv6 form',
    networks: ['::/96', '::ffff:0:0:0/96', '64:ff9b:1::/48'].map(network),
  },
];
