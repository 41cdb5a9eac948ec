import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';

/** What a call needs to know of its campaign; the dialler's own fields come with the dialler. */
export interface Campaign {
  campaign_id: string;
  name: string;
  bot_id: string;
  /** The only switch for `callback_detection_enabled` (R69). */
  callback_detection_enabled: boolean;
  created_at: string;
  updated_at: string;
}

/** Why a contact is called again: someone asked for it in an earlier call. */
export interface CallbackContext {
  /** When the wish was spoken, and for when; ISO 8601 UTC. */
  requested_at: string;
  at: string | null;
  timezone: string | null;
  note: string | null;
  previous_session_id: string | null;
  previous_summary: string | null;
}

/**
 * Campaigns and the callbacks that their contacts asked for. Asynchronous like every business store; every
 * implementation passes `test/control/config/campaign-store-conformance.ts`.
 */
export interface CampaignStore {
  get(campaignId: string): Promise<Campaign | null>;
  put(campaign: Campaign): Promise<void>;
  /** Null where this contact of the campaign has not asked to be called back. */
  callback(campaignId: string, campaignCallId: string): Promise<CallbackContext | null>;
  /** Null takes the callback away once it is done. */
  setCallback(campaignId: string, campaignCallId: string, context: CallbackContext | null): Promise<void>;
}

export function createCampaignStore(store: KeyValueStore): CampaignStore {
  const campaigns: Table<Campaign> = store.table('campaigns');
  const callbacks: Table<CallbackContext> = store.table('campaign-callbacks');
  return {
    async get(campaignId) {
      return isId(campaignId) ? (campaigns.get(campaignId) ?? null) : null;
    },
    async put(campaign) {
      await campaigns.put(campaign.campaign_id, campaign);
    },
    async callback(campaignId, campaignCallId) {
      if (!isId(campaignId) || !isId(campaignCallId)) return null;
      return callbacks.get([campaignId, campaignCallId]) ?? null;
    },
    async setCallback(campaignId, campaignCallId, context) {
      if (context) await callbacks.put([campaignId, campaignCallId], context);
      else await callbacks.remove([campaignId, campaignCallId]);
    },
  };
}

/** Diallers choose these ids; a longer one is none of ours and would not fit a store key. */
const MAX_ID_BYTES = 500;

function isId(id: string): boolean {
  return id !== '' && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

/** The context as `call.*` (R79); what is unknown is left out. */
export function callbackVariables(context: CallbackContext | null): Record<string, string> {
  if (!context) return {};
  const known = Object.entries(context).filter(([, value]) => value !== null);
  return Object.fromEntries(
    known.map(([name, value]) => [CALLBACK_VARIABLES[name as keyof CallbackContext], String(value)]),
  );
}

/** How each part of the context is called in `call.*`. */
export const CALLBACK_VARIABLES: Readonly<Record<keyof CallbackContext, string>> = {
  requested_at: 'callback_requested_at',
  at: 'callback_at',
  timezone: 'callback_timezone',
  note: 'callback_note',
  previous_session_id: 'callback_previous_session_id',
  previous_summary: 'callback_previous_summary',
};
