import type { Test } from 'tap';
import type {
  CallbackContext,
  Campaign,
  CampaignStore,
} from '../../../src/control/campaigns/campaign-store.ts';

const CAMPAIGN: Campaign = {
  campaign_id: 'cmp_1',
  name: 'March',
  bot_id: 'clinic',
  callback_detection_enabled: true,
  created_at: '2026-03-01T00:00:00.000Z',
  updated_at: '2026-03-01T00:00:00.000Z',
};
const CALLBACK: CallbackContext = {
  requested_at: '2026-03-01T10:00:00.000Z',
  at: null,
  timezone: null,
  note: 'later',
  previous_session_id: null,
  previous_summary: null,
};

/** What every implementation of {@link CampaignStore} promises. `open` gives an empty one. */
export async function campaignStoreConformance(t: Test, open: () => CampaignStore): Promise<void> {
  await t.test('a campaign comes back as it was put; others are not there', async (t) => {
    const campaigns = open();
    t.equal(await campaigns.get('cmp_1'), null);
    await campaigns.put(CAMPAIGN);
    t.strictSame(await campaigns.get('cmp_1'), CAMPAIGN);
    await campaigns.put({ ...CAMPAIGN, name: 'April' });
    t.equal((await campaigns.get('cmp_1'))?.name, 'April');
  });

  await t.test('a callback belongs to one contact of one campaign, until it is taken away', async (t) => {
    const campaigns = open();
    await campaigns.setCallback('cmp_1', 'ctc_1', CALLBACK);
    t.strictSame(await campaigns.callback('cmp_1', 'ctc_1'), CALLBACK);
    t.equal(await campaigns.callback('cmp_1', 'ctc_2'), null);
    t.equal(await campaigns.callback('cmp_2', 'ctc_1'), null);
    await campaigns.setCallback('cmp_1', 'ctc_1', null);
    t.equal(await campaigns.callback('cmp_1', 'ctc_1'), null);
  });

  await t.test('an id that no campaign can have is just unknown', async (t) => {
    const campaigns = open();
    for (const id of ['', 'a'.repeat(10_000), '\u{1F600}'.repeat(500)]) {
      t.equal(await campaigns.get(id), null);
      t.equal(await campaigns.callback(id, id), null);
    }
  });
}
