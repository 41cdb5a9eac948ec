import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { FrameAudit, NO_FAULTS } from '../harness/frame-audit.ts';
import { placeWhenFree } from '../harness/place-call.ts';

/**
 * A small tmpfs under the spool stands for a full disk. Main's own store stays on the real disk: what is proved here
 * is the slot's promise that a full disk ends recording with an event, not the call.
 */
t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '1' });
const spool = join(appliance.dataDir, 'spool');
mkdirSync(spool, { recursive: true });
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', spool]);
t.teardown(async () => {
  await appliance.signalMain('SIGKILL');
  await wait(1_000);
  execFileSync('umount', ['-l', spool]);
  await appliance.destroy();
  await plane.close();
});

t.test('a full disk ends recording with an event, not the call, and the result still arrives', async (t) => {
  plane.config = () => ({
    status: 200,
    body: plane.scriptedBot({ opening_message: 'and so on '.repeat(40) }),
  });
  const audit = new FrameAudit();
  const call = await placeWhenFree({ url: `${appliance.callUrl}scripted`, onAudio: audit.onAudio });
  await wait(2_500);
  const { bavail, bsize } = statfsSync(spool);
  writeFileSync(join(spool, 'filler'), Buffer.alloc(bavail * bsize));
  t.equal(statfsSync(spool).bavail, 0, 'the disk is full');
  await wait(4_000);
  t.notOk(call.isClosed, 'the call goes on');
  t.same(audit.faults, NO_FAULTS, 'with its audio');
  await call.hangUp();
  const [result] = await plane.until(1);
  t.equal(result?.disconnected_by, 'customer');
  const stopped = result?.events.find((event) => event.event === 'recording_stopped');
  t.match(stopped?.error, /ENOSPC|no space/i);
  t.ok((stopped?.ts ?? 0) < (result?.call_duration_seconds ?? 0) - 1, 'while the call ran');
});
