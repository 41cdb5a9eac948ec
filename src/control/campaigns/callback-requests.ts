import { textOrNull } from '../../platform/json-shapes.ts';
import type { CallRecord } from '../calls/call-record-schema.ts';
import type { CampaignStore } from './campaign-store.ts';

/**
 * Keeps for the contact of a campaign call that the caller asked to be called back, so that the next attempt knows of it
 * (`call.callback_*`). A call of no campaign, or without a wish, changes nothing. Idempotent.
 */
export async function keepCallbackRequest(
  campaigns: Pick<CampaignStore, 'setCallback'>,
  record: CallRecord,
): Promise<void> {
  const { callback, campaign_id: campaignId, campaign_call_id: contactId } = record;
  if (callback?.requested !== true || !campaignId || !contactId) return;
  await campaigns.setCallback(campaignId, contactId, {
    requested_at: record.ended_at ?? record.updated_at,
    at: textOrNull(callback.at),
    timezone: textOrNull(callback.timezone),
    note: textOrNull(callback.reason),
    previous_session_id: record.session_id,
    previous_summary: record.summary,
  });
}
