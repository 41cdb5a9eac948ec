import type { MediaSetup } from '../../contracts/rooms.ts';
import type { SystemSettings } from '../settings/system-settings.ts';
import { mediaAccess } from './media-access.ts';
import type { TrunkStore } from './trunk-store.ts';
import type { SyncedTrunks } from './trunk-sync.ts';

/** What dialling goes through: a trunk of the media server and what it allows. */
export interface OutboundTrunk {
  /** Id in the media server. */
  trunkId: string;
  /** Caller ID where a call names none; null where there is none. */
  defaultFrom: string | null;
  /** What numbers must begin with; empty means all. */
  destinations: readonly string[];
}

export interface MediaSetupParts {
  settings: () => Promise<SystemSettings>;
  trunks: Pick<TrunkStore, 'defaultOutbound'>;
  synced: SyncedTrunks;
}

/** Everything about the media server that a host needs; null while address or key are not set. */
export async function mediaSetup(parts: MediaSetupParts): Promise<MediaSetup | null> {
  const access = mediaAccess(await parts.settings());
  if (access === null) return null;
  const trunk = await outboundTrunk(parts);
  return {
    access,
    dialling: trunk && { trunkId: trunk.trunkId, defaultFrom: trunk.defaultFrom ?? '' },
  };
}

/**
 * The trunk for outbound calls. A trunk that was made by hand in the media server goes before those of this plane, since
 * naming it in the settings is the later word. Null where there is none, or it is not in the media server yet.
 */
export async function outboundTrunk(parts: MediaSetupParts): Promise<OutboundTrunk | null> {
  const { values } = await parts.settings();
  if (values.sip_outbound_trunk_id !== null) {
    return {
      trunkId: values.sip_outbound_trunk_id,
      defaultFrom: values.sip_default_from,
      destinations: [],
    };
  }
  const trunk = await parts.trunks.defaultOutbound();
  const trunkId = trunk && parts.synced.outboundId(trunk.id, values.livekit_url ?? '');
  if (!trunk || !trunkId) return null;
  return {
    trunkId,
    defaultFrom: trunk.numbers[0] ?? values.sip_default_from,
    destinations: trunk.destinations,
  };
}

/** Whether a trunk may dial this number, whichever way its prefixes are written. */
export function mayDial(trunk: Pick<OutboundTrunk, 'destinations'>, number: string): boolean {
  const digits = number.replace(/^\+/, '');
  return (
    trunk.destinations.length === 0 ||
    trunk.destinations.some((prefix) => digits.startsWith(prefix.replace(/^\+/, '')))
  );
}
