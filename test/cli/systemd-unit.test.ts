import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DEFAULT_MAX_CALL_SECONDS } from '../../src/contracts/limits.ts';
import { projectRoot } from '../../src/platform/project-paths.ts';
import { EXIT_BAD_SETTING } from '../../src/platform/settings.ts';
import { readProjectFile } from '../harness/source-files.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const unit = readProjectFile('systemd/trunkline.service');

/** Values of a key of the unit, in order. */
function values(key: string): string[] {
  return [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map((match) => match[1] as string);
}

t.test('the service keeps the promises that calls depend on', async (t) => {
  t.same(values('KillMode'), ['process'], 'slots with live calls outlive main');
  t.same(values('OOMPolicy'), ['continue'], 'one slot out of memory does not stop the others');
  t.same(values('Restart'), ['always']);
  t.same(values('RestartPreventExitStatus'), [String(EXIT_BAD_SETTING)], 'a wrong setting does not loop');
  t.ok(Number(values('TimeoutStopSec')[0]) > DEFAULT_MAX_CALL_SECONDS, 'a drain may last as long as a call');
  t.same(values('PrivateTmp'), [], 'temporary files of live calls do not vanish with main');
  t.same(values('MemoryDenyWriteExecute'), [], 'V8 compiles at run time');
  t.same(values('ProcSubset'), [], 'processes are named by /proc and the boot id');
  t.match(values('ExecStart')[0], /\/trunkline start$/);
  t.not(values('User')[0], undefined);
  t.not(values('User')[0], 'root');
  const folders =
    values('StateDirectory')[0]
      ?.split(' ')
      .map((name) => `/var/lib/${name}`) ?? [];
  for (const setting of values('Environment')) {
    const path = setting.split('=')[1] as string;
    t.ok(folders.includes(path), `${setting} lies in a folder that the unit makes`);
  }
});

t.test('systemd accepts the unit, or every key is one that it knows', async (t) => {
  const probe = spawnSync('systemd-analyze', ['--version']);
  if (probe.status === 0) {
    const folder = tempFolder();
    const file = join(folder, 'trunkline.service');
    // The unit names the place of an installation; verify wants the program to be there.
    writeFileSync(file, unit.replaceAll('/opt/trunkline', projectRoot));
    const ran = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    const complaints = `${ran.stdout}${ran.stderr}`.split('\n').filter((line) => line.includes('trunkline'));
    t.same(complaints, []);
    return;
  }
  const known = new Set(
    'Description Documentation Wants After StartLimitIntervalSec StartLimitBurst Type User Group WorkingDirectory EnvironmentFile Environment ExecStart KillMode TimeoutStopSec Restart RestartSec RestartPreventExitStatus OOMPolicy StateDirectory StateDirectoryMode UMask LimitNOFILE TasksMax NoNewPrivileges CapabilityBoundingSet AmbientCapabilities ProtectSystem ProtectHome PrivateDevices ProtectKernelTunables ProtectKernelModules ProtectKernelLogs ProtectControlGroups ProtectClock ProtectHostname RestrictAddressFamilies RestrictNamespaces RestrictRealtime RestrictSUIDSGID LockPersonality RemoveIPC SystemCallArchitectures SystemCallFilter SystemCallErrorNumber WantedBy'.split(
      ' ',
    ),
  );
  for (const line of unit.split('\n')) {
    const key = /^([A-Za-z]+)=/.exec(line)?.[1];
    if (key && !known.has(key)) t.fail(`${key} is no key of this unit`);
  }
  t.match(unit, /^\[Unit\][\s\S]*^\[Service\][\s\S]*^\[Install\]/m);
});
