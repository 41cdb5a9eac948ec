import t from 'tap';
import { createLivePromptCacheStore } from '../../../src/control/caches/live-prompt-cache.ts';
import { createCampaignStore } from '../../../src/control/campaigns/campaign-store.ts';
import { freshStore } from '../../harness/fresh-stores.ts';
import { campaignStoreConformance } from './campaign-store-conformance.ts';
import { livePromptCacheConformance } from './live-prompt-cache-conformance.ts';

t.test('the LMDB campaign store keeps the promises of a campaign store', (t) =>
  campaignStoreConformance(t, () => createCampaignStore(freshStore())),
);

t.test('the LMDB store of prompt caches keeps the promises of one', (t) =>
  livePromptCacheConformance(t, () => createLivePromptCacheStore(freshStore())),
);
