import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { checkProviderAccess } from '../../src/cli/doctor/provider-checks.ts';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { startControl } from '../../src/control/control.ts';
import { createGuardedHttp } from '../../src/platform/guarded-http.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { testBot } from '../harness/control.ts';
import { tempFolder } from '../harness/temp-folder.ts';

t.setTimeout(280_000);
const folder = tempFolder();

const settingsOf = (env: Record<string, string> = {}) =>
  readSettings({ CONTROL_LISTEN: '127.0.0.1:0', DATA_DIR: folder, ...env }, folder, folder);

t.test(
  'without a running plane the doctor says when keys are tried, and nothing where there are none',
  async (t) => {
    t.strictSame(await checkProviderAccess(settingsOf()), []);
    t.match(await checkProviderAccess(settingsOf({ SONIOX_API_KEY: 'soniox-key-0123' })), [
      { name: 'providers', status: 'ok', text: /soniox.*while the appliance runs/ },
    ]);
    t.strictSame(
      await checkProviderAccess(settingsOf({ ROLE: 'worker', CONFIG_URL: 'http://127.0.0.1:1/c' })),
      [],
    );
  },
);

t.test('the keys of the running plane are tried, and so are the servers that bots name', async (t) => {
  const local = createServer((_, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => local.listen(0, '127.0.0.1', resolve));
  t.teardown(() => local.close());
  const origin = `http://127.0.0.1:${(local.address() as AddressInfo).port}`;
  const settings = settingsOf({ DEEPGRAM_API_KEY: 'deepgram-key-0123', SARVAM_API_KEY: 'sarvam-key-0123' });
  const store = openKeyValueStore(join(folder, 'store'));
  const control = await startControl({
    settings,
    store,
    logger: createLogger({ level: 'silent', role: 'test' }),
    recordingsFolder: folder,
    // The vendors are away: no name is known.
    outboundHttp: createGuardedHttp({ allowedNetworks: () => [], resolve: async () => [] }),
  });
  t.teardown(async () => {
    await control.close();
    await store.close();
  });
  const llm = { provider: 'openai', profile: 'compat', model: 'm', base_url: `${origin}/v1` };
  const stt = { provider: 'deepgram', base_url: 'ws://127.0.0.1:1/deepgram' };
  await createBotStore(store).put(testBot({ llm: { ...llm, fallbacks: [{ provider: 'scripted' }] }, stt }));
  const found = await checkProviderAccess(settings);
  t.match(found, [
    { name: 'provider deepgram', status: 'warn', advice: /firewall/ },
    { name: 'provider sarvam', status: 'warn', advice: /firewall/ },
    {
      name: 'provider server',
      status: 'warn',
      text: /http:\/\/127\.0\.0\.1:1 \(bot clinic\)/,
      advice: /base_url/,
    },
    { name: 'provider server', status: 'ok', text: `${origin} answers (bot clinic)` },
  ]);
  t.notMatch(JSON.stringify(found), /key-0123/);
});
