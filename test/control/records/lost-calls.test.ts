import { join } from 'node:path';
import t from 'tap';
import { createCallRecordStore } from '../../../src/control/calls/lmdb-call-store.ts';
import { startLostCallsSweep, sweepLostCalls } from '../../../src/control/calls/lost-calls.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { testResults } from '../../harness/control.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { activeCall, at } from '../call-store-conformance.ts';

const logger = createLogger({ level: 'silent', role: 'test' });

t.test('nobody is asked what lives while no call is due', async (t) => {
  const store = openKeyValueStore(join(tempFolder(), 'store'));
  t.teardown(async () => {
    await store.close();
  });
  const calls = createCallRecordStore(store);
  await calls.insertActive(activeCall('young', at(60)));
  const liveSessions = async () => {
    throw new Error('asked');
  };
  t.equal(await sweepLostCalls({ calls, logger, nowIso: () => at(62), liveSessions }), 0);
});

t.test('D-48 one sweep gives up every call that is due, however many, and none that goes on', async (t) => {
  const folder = tempFolder();
  const store = openKeyValueStore(join(folder, 'store'));
  t.teardown(async () => {
    await store.close();
  });
  const calls = createCallRecordStore(store);
  const call = (id: string, minute: number) => ({
    ...activeCall(id, at(minute)),
    max_call_duration_seconds: 60,
  });
  await Promise.all(Array.from({ length: 250 }, (_, i) => calls.insertActive(call(`old-${i}`, 0))));
  await calls.insertActive(call('young', 60));
  const parts = { calls, logger, nowIso: () => at(62), liveSessions: async () => new Set(['old-7']) };
  t.equal(await sweepLostCalls(parts), 249);
  t.match(await calls.get('old-7'), { status: 'active' }, 'its slot still talks');
  t.match(await calls.get('young'), { status: 'active' });
  t.equal(await sweepLostCalls(parts), 0);

  const later = { ...parts, nowIso: () => at(75) };
  t.equal(await sweepLostCalls({ ...later, liveSessions: async () => null }), 0);
  t.match(await calls.get('old-7'), { status: 'active' }, 'nobody is given up while a host does not say');

  const sweep = startLostCallsSweep({ ...later, liveSessions: async () => new Set() });
  await sweep.stop();
  t.match(await calls.get('old-7'), { status: 'lost' }, 'a start looks at once');
  t.match(await calls.get('young'), { status: 'lost' });
  await calls.complete(testResults('young'), at(80));
  t.match(await calls.get('young'), { status: 'completed', late_result: true });
});
