import t from 'tap';
import type { SlotInit } from '../../src/contracts/slot-messages.ts';
import type { JournalCall } from '../../src/contracts/spool.ts';
import { readConfig } from '../../src/slot/call/fetch-config.ts';
import { beginRecord } from '../../src/slot/call/spooled-call.ts';
import type { SpoolFolder } from '../../src/slot/record/spool-folder.ts';
import { quietLogger } from '../harness/worker.ts';

const OWN = ['http://127.0.0.1:8080/api/v1/config', 'https://calls.example.org/api/v1/config'];
const served = readConfig(
  JSON.stringify({
    session_id: 'session 1',
    webhook_url: 'https://calls.example.org/api/v1/call-results',
    ...Object.fromEntries(['stt', 'llm', 'tts'].map((family) => [family, { provider: 'scripted' }])),
  }),
  'clinic',
);

/** The `recording_url` of a call whose config came from `configUrl`. */
async function urlOf(configUrl: string, init: Pick<SlotInit, 'baseUrl' | 'ownConfigUrls'>) {
  if (!('config' in served)) throw new Error('the config does not fit');
  let begun: JournalCall | undefined;
  const folder = {
    append: () => undefined,
    begin: async (call: JournalCall) => {
      begun = call;
    },
  } as unknown as SpoolFolder;
  const facts = {
    callId: 'call-1',
    connected: { event: 'connected' as const },
    transport: 'websocket' as const,
    config: served.config,
    configUrl,
  };
  await beginRecord(folder, facts, { init, logger: quietLogger() });
  return begun?.recordingUrl;
}

t.test('R93 only a call of the own control plane names its record there', async (t) => {
  const all = { baseUrl: 'https://calls.example.org', ownConfigUrls: OWN };
  const record = 'https://calls.example.org/api/v1/call-records/session%201/recording';
  for (const url of [...OWN, `${OWN[1]}/`, `${OWN[1]}/{bot_id}`]) t.equal(await urlOf(url, all), record, url);
  const foreign = ['https://other.example.org/api/v1/config', 'https://calls.example.org/v2/config'];
  for (const url of foreign) t.equal(await urlOf(url, all), null, `${url}: main signs a link`);
  t.equal(await urlOf(foreign[0] ?? '', { baseUrl: '', ownConfigUrls: [] }), null, 'nor in a worker');
  const { ownConfigUrls: _, ...older } = all;
  t.equal(await urlOf(OWN[0] ?? '', older), record, 'a main of an earlier version does not say');
});
