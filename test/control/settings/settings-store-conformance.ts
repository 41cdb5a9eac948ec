import type { Test } from 'tap';
import type { AuditNote } from '../../../src/control/audit/audit-log.ts';
import type { SettingsStore, StoredSettings } from '../../../src/control/settings/settings-store.ts';

const first: StoredSettings = {
  version: 1,
  updated_at: '2026-03-02T12:00:00.000Z',
  values: { s3_region: 'eu-west-1', outbound_allowed_networks: ['10.0.0.0/8'] },
  secrets: { openai_api_key: { sealed: 's1.sealed', updated_at: '2026-03-02T12:00:00.000Z' } },
};
const note: AuditNote = {
  actor: { type: 'core' },
  action: 'settings.update',
  target: 'settings:system',
  requestId: null,
  ip: null,
};

/** What every implementation of {@link SettingsStore} promises. `open` gives an empty one and counts audit entries. */
export async function settingsStoreConformance(
  t: Test,
  open: () => { settings: SettingsStore; audited: () => Promise<number> },
): Promise<void> {
  await t.test('an empty store has no settings', async (t) => {
    t.equal(await open().settings.read(), null);
  });

  await t.test('what was written is read back whole', async (t) => {
    const { settings } = open();
    t.equal(await settings.write(first, 0, null), true);
    t.same(await settings.read(), first);
  });

  await t.test(
    'of two writers on one version the second is turned away, and nothing is audited for it',
    async (t) => {
      const { settings, audited } = open();
      await settings.write(first, 0, null);
      const [one, two] = await Promise.all([
        settings.write({ ...first, version: 2, values: { s3_region: 'one' } }, 1, note),
        settings.write({ ...first, version: 2, values: { s3_region: 'two' } }, 1, note),
      ]);
      t.same([one, two], [true, false]);
      t.match(await settings.read(), { version: 2, values: { s3_region: 'one' } });
      t.equal(await audited(), 1);
    },
  );

  await t.test('the first settings are written once', async (t) => {
    const { settings } = open();
    await settings.write(first, 0, null);
    t.equal(await settings.write({ ...first, values: {} }, 0, null), false);
    t.same(await settings.read(), first);
  });
}
