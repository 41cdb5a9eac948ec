import type { Test } from 'tap';
import type { LivePromptCacheStore } from '../../../src/control/caches/live-prompt-cache.ts';

const ENTRY = {
  static_version: 'v1',
  cache_name: 'cachedContents/1',
  expires_at: '2026-03-02T12:00:00.000Z',
};

/** What every implementation of {@link LivePromptCacheStore} promises. `open` gives an empty one. */
export async function livePromptCacheConformance(t: Test, open: () => LivePromptCacheStore): Promise<void> {
  await t.test('an entry is usable for its own content, until it expires or is removed', async (t) => {
    const caches = open();
    const at = (nowIso: string, version = 'v1') => caches.usable('clinic', version, nowIso);
    t.equal(await at('2026-03-02T11:00:00.000Z'), null);
    await caches.put('clinic', ENTRY);
    t.strictSame(await at('2026-03-02T11:59:59.999Z'), ENTRY);
    t.equal(await at('2026-03-02T12:00:00.000Z'), null, 'expired');
    t.equal(await at('2026-03-02T11:00:00.000Z', 'v2'), null, 'of another prompt');
    t.equal(await caches.usable('other', 'v1', '2026-03-02T11:00:00.000Z'), null);
    await caches.remove('clinic');
    t.equal(await at('2026-03-02T11:00:00.000Z'), null);
  });
}
