import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createLivePromptCacheStore } from '../../../src/control/caches/live-prompt-cache.ts';
import { createCampaignStore } from '../../../src/control/campaigns/campaign-store.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { campaignStoreConformance } from './campaign-store-conformance.ts';
import { livePromptCacheConformance } from './live-prompt-cache-conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-config-stores-'));
const opened: KeyValueStore[] = [];
const fresh = () => {
  const store = openKeyValueStore(join(folder, String(opened.length)));
  opened.push(store);
  return store;
};
t.teardown(async () => {
  for (const store of opened) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

t.test('the LMDB campaign store keeps the promises of a campaign store', (t) =>
  campaignStoreConformance(t, () => createCampaignStore(fresh())),
);

t.test('the LMDB store of prompt caches keeps the promises of one', (t) =>
  livePromptCacheConformance(t, () => createLivePromptCacheStore(fresh())),
);
