import { readFileSync } from 'node:fs';
import t from 'tap';
import { createLogger } from '../../src/platform/logger.ts';
import { loadRtc, unloadRtc } from '../../src/slot/room/load-rtc.ts';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { resultOfCall } from '../harness/scripted-call.ts';

t.setTimeout(280_000);
const RTC = /rtc-node[^/]*\.node/;
const mapsOf = (pid: number | 'self') => readFileSync(`/proc/${pid}/maps`, 'utf8');

t.test('RT-62 a slot that serves socket calls never loads the real-time SDK', async (t) => {
  const plane = await ForeignPlane.start();
  const appliance = await Appliance.start({ ...plane.env, SLOTS: '1' });
  t.teardown(async () => {
    await appliance.destroy();
    await plane.close();
  });
  await resultOfCall({ plane, appliance }, {}, () => new Promise((resolve) => setTimeout(resolve, 500)));
  const health = await appliance.health();
  const pids = (health?.workers ?? []).flatMap(({ pid }) => pid ?? []);
  t.equal(pids.length, 1, 'the slot that served the call is there');
  for (const pid of pids) {
    t.match(mapsOf(pid), /audio_kernels\.node/, 'its libraries are seen');
    t.notMatch(mapsOf(pid), RTC);
  }

  loadRtc(createLogger({ level: 'silent', role: 'test' }));
  t.match(mapsOf('self'), RTC, 'where it is loaded this would be seen');
  await unloadRtc();
});
