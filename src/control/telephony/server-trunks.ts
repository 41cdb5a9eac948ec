import {
  type SIPDispatchRule,
  SIPDispatchRuleInfo,
  SIPInboundTrunkInfo,
  SIPOutboundTrunkInfo,
} from 'livekit-server-sdk';
import { SIP_ROOM_PREFIX } from '../../contracts/rooms.ts';
import type { SipTransport, Trunk } from './trunk.ts';

/**
 * Our trunks in the terms of the media server (livekit_sip.proto), and whether what it has is what we want. Only the
 * fields named here are ours; what an operator has set beside them in the media server stays.
 */
type InboundFields = Pick<
  SIPInboundTrunkInfo,
  'name' | 'metadata' | 'numbers' | 'allowedAddresses' | 'authUsername' | 'authPassword' | 'includeHeaders'
>;
type OutboundFields = Pick<
  SIPOutboundTrunkInfo,
  | 'name'
  | 'metadata'
  | 'address'
  | 'transport'
  | 'numbers'
  | 'authUsername'
  | 'authPassword'
  | 'includeHeaders'
>;

/** `SIPHeaderOptions.SIP_X_HEADERS`: X-headers become attributes `sip.h.x-...`. The SDK does not export the enumeration. */
const X_HEADERS = 1;
/** `SIPTransport`. */
const TRANSPORTS: Record<SipTransport, number> = { auto: 0, udp: 1, tcp: 2, tls: 3 };

/** What says in the media server that something is ours: nothing without it is ever touched. */
export function markOf(installation: string, trunkId: string | null): string {
  return JSON.stringify({ trunkline: { installation, ...(trunkId === null ? {} : { trunk: trunkId }) } });
}

/** The trunk that a mark of this installation names; undefined for what is not ours. */
export function readMark(metadata: string, installation: string): { trunk: string | null } | undefined {
  try {
    const mark = (JSON.parse(metadata) as { trunkline?: { installation?: unknown; trunk?: unknown } } | null)
      ?.trunkline;
    if (mark?.installation !== installation) return undefined;
    return { trunk: typeof mark.trunk === 'string' ? mark.trunk : null };
  } catch {
    return undefined;
  }
}

export function inboundFields(
  trunk: Trunk,
  numbers: readonly string[],
  password: string,
  mark: string,
): InboundFields {
  // What a trunk in both directions sends to its carrier is not what the carrier would have to send.
  const callersLogIn = trunk.direction === 'inbound';
  return {
    name: serverName(trunk),
    metadata: mark,
    numbers: [...numbers],
    allowedAddresses: [...trunk.allowed_addresses],
    authUsername: callersLogIn ? (trunk.auth_username ?? '') : '',
    authPassword: callersLogIn ? password : '',
    includeHeaders: X_HEADERS,
  };
}

export function outboundFields(trunk: Trunk, password: string, mark: string): OutboundFields {
  return {
    name: serverName(trunk),
    metadata: mark,
    address: trunk.address ?? '',
    transport: TRANSPORTS[trunk.transport],
    numbers: [...trunk.numbers],
    authUsername: trunk.auth_username ?? '',
    authPassword: password,
    includeHeaders: X_HEADERS,
  };
}

export function withInbound(found: SIPInboundTrunkInfo, wanted: InboundFields): SIPInboundTrunkInfo {
  return new SIPInboundTrunkInfo({ ...found, ...wanted });
}

export function withOutbound(found: SIPOutboundTrunkInfo, wanted: OutboundFields): SIPOutboundTrunkInfo {
  return new SIPOutboundTrunkInfo({ ...found, ...wanted });
}

/** Order of numbers and addresses means nothing. */
export function hasFields<T extends object>(found: T, wanted: Partial<T>): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    const stands = (found as Record<string, unknown>)[name];
    return comparable(stands) === comparable(value);
  });
}

function comparable(value: unknown): string {
  return JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
}

/**
 * One rule for all our trunks: every call gets a room of its own, named after the number that was called. The caller's
 * number would be in every log line that names the room.
 */
export function ruleFields(trunkIds: readonly string[], mark: string) {
  return {
    name: 'Trunkline',
    metadata: mark,
    trunkIds: [...trunkIds],
    rule: { type: 'callee', roomPrefix: SIP_ROOM_PREFIX, randomize: true } as const,
  };
}

export function withRule(
  found: SIPDispatchRuleInfo,
  wanted: ReturnType<typeof ruleFields>,
): SIPDispatchRuleInfo {
  const { name, metadata, trunkIds } = wanted;
  const { roomPrefix, randomize } = wanted.rule;
  return new SIPDispatchRuleInfo({
    ...found,
    name,
    metadata,
    trunkIds,
    rule: { rule: { case: 'dispatchRuleCallee', value: { roomPrefix, randomize } } } as SIPDispatchRule,
  });
}

export function isRule(found: SIPDispatchRuleInfo, wanted: ReturnType<typeof ruleFields>): boolean {
  const { name, metadata, trunkIds } = wanted;
  const stands = found.rule?.rule;
  return (
    hasFields(found, { name, metadata, trunkIds }) &&
    stands?.case === 'dispatchRuleCallee' &&
    stands.value.roomPrefix === wanted.rule.roomPrefix &&
    stands.value.randomize
  );
}

function serverName(trunk: Trunk): string {
  return `Trunkline: ${trunk.name}`;
}
