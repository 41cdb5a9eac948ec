import { isIP, isIPv6 } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { judgeAddress } from '../../../src/platform/guarded-http/address-rules.ts';
import {
  network,
  networkHas,
  parseAddress,
  parseNetwork,
} from '../../../src/platform/guarded-http/network.ts';

const RUNS = { seed: 31, numRuns: 2_000 };
const allowed = (address: string, listed: string[] = []) =>
  judgeAddress(address, listed.map(network)).allowed;

t.test('an address is read exactly where Node reads one, and never otherwise', async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const parsed = parseAddress(text);
      return parsed !== null && parsed.bits === (isIPv6(text) ? 128 : 32);
    }),
    RUNS,
  );
  const nearly = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefx.:%/[] '), maxLength: 46 }),
    fc.ipV6().chain((text) => fc.nat(text.length).map((at) => `${text.slice(0, at)}:${text.slice(at)}`)),
    fc.ipV4().chain((text) => fc.constantFrom(`0${text}`, `${text}.`, ` ${text}`, `${text}%1`, `0x${text}`)),
  );
  fc.assert(
    fc.property(
      nearly,
      (text) => (parseAddress(text) !== null) === (isIP(text) !== 0 && !text.includes('%')),
    ),
    RUNS,
  );
  t.pass(`${RUNS.numRuns} of each kind, seed ${RUNS.seed}`);
});

t.test('the number of an address is the one that a URL writes', async (t) => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const written = new URL(`http://[${text}]/`).hostname.slice(1, -1);
      return parseAddress(written)?.value === parseAddress(text)?.value;
    }),
    RUNS,
  );
  t.equal(parseAddress('1.2.3.4')?.value, 0x01020304n);
  t.equal(parseAddress('::1')?.value, 1n);
  t.equal(parseAddress('::ffff:1.2.3.4')?.value, 0xffff01020304n);
});

t.test('a network holds its first and last address and neither neighbour', async (t) => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), fc.integer({ min: 1, max: 32 }), (base, length) => {
      const size = 2n ** BigInt(32 - length);
      const first = (BigInt(base) / size) * size;
      const text = [24n, 16n, 8n, 0n].map((shift) => (first >> shift) & 255n).join('.');
      const range = parseNetwork(`${text}/${length}`);
      const has = (value: bigint) => range !== null && networkHas(range, { bits: 32, value });
      return has(first) && has(first + size - 1n) && !has(first - 1n) && !has(first + size);
    }),
    RUNS,
  );
  for (const wrong of [
    '10.0.0.1/8',
    '10.0.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/08',
    'x/8',
    '10.0.0/8',
    '',
  ]) {
    t.equal(parseNetwork(wrong), null, wrong);
  }
});

const NEVER = [
  '0.0.0.0',
  '0.1.2.3',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '169.254.1.1',
  '100.100.100.200',
  '168.63.129.16',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '::',
  '::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'fd00:ec2::254',
  '2001:db8::1',
  '2001::1',
  '64:ff9b:1::1',
  '100::1',
  'nonsense',
  '',
  '127.1',
  '0x7f000001',
  'fe80::1%eth0',
];
const PRIVATE = ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd12:3456::1'];
const PUBLIC = ['8.8.8.8', '93.184.216.34', '172.32.0.1', '172.15.255.255', '2606:4700::1111', '11.0.0.1'];

t.test('what is never called stays so, whatever an admin lists', async (t) => {
  for (const address of NEVER) {
    t.equal(allowed(address), false, `${address} is refused`);
    t.equal(allowed(address, ['0.0.0.0/0', '::/0']), false, `${address} is refused with everything listed`);
  }
});

t.test('private ranges open only where an admin lists them', async (t) => {
  for (const address of PRIVATE) {
    t.equal(allowed(address), false, address);
    t.equal(allowed(address, ['0.0.0.0/0', '::/0']), true, address);
  }
  t.equal(allowed('10.1.2.3', ['10.1.0.0/16']), true);
  t.equal(allowed('10.2.2.3', ['10.1.0.0/16']), false);
  for (const address of PUBLIC) t.equal(allowed(address), true, address);
});

t.test('an IPv4 address inside an IPv6 one is judged as itself', async (t) => {
  const hex = (address: string) => {
    const value = parseAddress(address)?.value ?? 0n;
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  };
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.constantFrom(...NEVER.filter((text) => isIP(text) === 4))), (text) => {
      const verdict = allowed(text);
      return (
        allowed(`::ffff:${text}`) === verdict &&
        allowed(`::ffff:${hex(text)}`) === verdict &&
        allowed(`64:ff9b::${hex(text)}`) === verdict &&
        allowed(`2002:${hex(text)}::1`) === verdict &&
        !allowed(`::${hex(text)}`) &&
        !allowed(`::ffff:0:${hex(text)}`)
      );
    }),
    RUNS,
  );
  t.pass(`${RUNS.numRuns} of each kind, seed ${RUNS.seed}`);
});
