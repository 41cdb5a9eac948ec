import { isIP } from 'node:net';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { judgeAddress } from '../../platform/guarded-http/address-rules.ts';
import { network } from '../../platform/guarded-http/network.ts';
import { isLoopbackHost } from '../../platform/origins.ts';
import { providerPlace } from '../../providers/provider-place.ts';

/** On-prem servers live in private networks, so those are open here; what is never called stays closed. */
const ANY_NETWORK = ['0.0.0.0/0', '::/0'].map(network);
/** Names under which clouds answer with credentials of the machine. */
const METADATA_NAMES = /^(metadata|metadata\.google\.internal|instance-data(\..*)?)\.?$/i;
const PRIVATE_NAME = /^[^.]+$|\.(local|lan|internal|intranet|home\.arpa)$/i;

export interface AddressFinding {
  severity: 'error' | 'warning';
  sentence: string;
}

/**
 * Judges the address that a bot leads a provider to. An origin that an admin listed may be anything that can be read.
 * Names are not resolved: what they mean may change, and the slot connects later.
 */
export function checkProviderAddress(
  config: ProviderConfig,
  origins: readonly string[],
): AddressFinding | null {
  const place = providerPlace(config);
  if (place.kind === 'vendor') return null;
  if (place.kind === 'unreadable') {
    const sentence = 'base_url must be an http, https, ws or wss address without credentials';
    return { severity: 'error', sentence };
  }
  if (origins.includes(place.origin)) return null;
  const host = place.hostname.replace(/^\[|\]$/g, '');
  if (METADATA_NAMES.test(host)) {
    return { severity: 'error', sentence: 'base_url leads to a metadata service, which is never called' };
  }
  const isNear = isLoopbackHost(host) || (isIP(host) === 0 && PRIVATE_NAME.test(host));
  if (isNear) return null;
  if (isIP(host) !== 0) {
    const verdict = judgeAddress(host, ANY_NETWORK);
    if (!verdict.allowed) return { severity: 'error', sentence: `base_url is refused: ${verdict.reason}` };
    if (!judgeAddress(host, []).allowed) return null;
  }
  if (place.isSecure) return null;
  const sentence =
    'base_url sends what callers say over a public network without encryption; use https or wss';
  return { severity: 'warning', sentence };
}
