import { textOrNull } from '../../platform/json-shapes.ts';
import type { CallRecord } from '../calls/call-record-schema.ts';
import type { CampaignStore } from './campaign-store.ts';

/**
 * What the results of a campaign call say about calling back. A caller's wish is kept for the contact, so that the next
 * attempt knows of it (`call.callback_*`); a call that has reached the contact without a new wish was the callback, and
 * the old wish ends with it (R79). A wish that is younger than the call stays. Idempotent.
 */
export async function settleCallback(
  campaigns: Pick<CampaignStore, 'callback' | 'setCallback'>,
  record: CallRecord,
): Promise<void> {
  const { callback, campaign_id: campaignId, campaign_call_id: contactId } = record;
  if (!campaignId || !contactId) return;
  if (callback?.requested === true) {
    await campaigns.setCallback(campaignId, contactId, {
      requested_at: record.ended_at ?? record.updated_at,
      at: textOrNull(callback.at),
      timezone: textOrNull(callback.timezone),
      note: textOrNull(callback.reason),
      previous_session_id: record.session_id,
      previous_summary: record.summary,
    });
    return;
  }
  if (record.status !== 'completed') return;
  const wish = await campaigns.callback(campaignId, contactId);
  if (wish && wish.requested_at <= record.created_at) {
    await campaigns.setCallback(campaignId, contactId, null);
  }
}
