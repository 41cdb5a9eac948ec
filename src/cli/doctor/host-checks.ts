import { constants, statSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { CORE_SECRET_HEADER, FLEET_HEALTH_PATH } from '../../contracts/http-names.ts';
import { describeError } from '../../platform/app-error.ts';
import { type HttpAnswer, httpCall } from '../../platform/http-client.ts';
import { isSafeTransport } from '../../platform/origins.ts';
import { projectPath } from '../../platform/project-paths.ts';
import { hostPort, type ListenAddress, type Settings } from '../../platform/settings.ts';
import type { Finding } from './finding.ts';

/** A stereo recording at 8 kHz takes 115 MB an hour; below this a full host runs out within a short call. */
const FAIL_FREE_BYTES = 256 * 1_048_576;
const WARN_FREE_BYTES = 4 * 1024 * 1_048_576;
const RECORDING_BYTES_PER_HOUR = 8000 * 2 * 2 * 3600;
const HTTP_TIMEOUT_MS = 5_000;
const HTTP_MAX_BYTES = 1_048_576;
/** Transcripts and signatures of two machines still agree within this. */
const MAX_SKEW_MS = 30_000;
const MIN_SECRET_CHARS = 32;
/** A bot that no control plane has: the question leaves no call record behind. */
const NO_BOT = 'doctor-check';

export function checkSecret(settings: Settings): Finding[] {
  if (settings.coreSecret === '' || settings.coreSecret.length >= MIN_SECRET_CHARS) return [];
  return [
    {
      name: 'core secret',
      status: 'warn',
      text: `CORE_SECRET has ${settings.coreSecret.length} characters`,
      advice: `use ${MIN_SECRET_CHARS} random characters or more, for example from "openssl rand -hex 32"`,
    },
  ];
}

/** Whether DATA_DIR, or the folder in which it will be made, can be written and has room. */
export async function checkDataFolder(settings: Settings): Promise<Finding[]> {
  const folder = nearestFolder(settings.dataDir);
  const made =
    folder === settings.dataDir ? settings.dataDir : `${settings.dataDir} (to be made in ${folder})`;
  const findings: Finding[] = [];
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    findings.push({ name: 'data folder', status: 'ok', text: made });
  } catch {
    const advice = `give it to the user that runs Trunkline, or set DATA_DIR to another folder`;
    findings.push({ name: 'data folder', status: 'fail', text: `${made} cannot be written`, advice });
  }
  const disk = await statfs(folder);
  const free = disk.bavail * disk.bsize;
  const hours = free / RECORDING_BYTES_PER_HOUR;
  const text = `${(free / 1024 ** 3).toFixed(1)} GB free, about ${Math.floor(hours)} hours of recordings`;
  if (free >= WARN_FREE_BYTES) findings.push({ name: 'disk space', status: 'ok', text });
  else {
    const status = free < FAIL_FREE_BYTES ? 'fail' : 'warn';
    findings.push({
      name: 'disk space',
      status,
      text,
      advice: 'free space, or set DATA_DIR to a larger disk',
    });
  }
  return findings;
}

export async function checkPorts(settings: Settings): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (settings.role !== 'worker') {
    findings.push(await checkPort('control port', settings.controlListen, '/healthz', 'CONTROL_LISTEN'));
  }
  if (settings.role !== 'control') {
    findings.push(await checkPort('fleet port', settings.fleetListen, FLEET_HEALTH_PATH, 'FLEET_LISTEN'));
  }
  return findings;
}

async function checkPort(
  name: string,
  listen: ListenAddress,
  path: string,
  setting: string,
): Promise<Finding> {
  const problem = await tryListen(listen);
  if (problem === null) return { name, status: 'ok', text: `${hostPort(listen)} is free` };
  if (problem === 'EADDRINUSE') {
    const answer = await ask(`http://${hostPort(listen)}${path}`);
    if (typeof answer !== 'string' && answer.status === 200) {
      return { name, status: 'ok', text: `${hostPort(listen)} answers: Trunkline is running` };
    }
    const advice = `stop the program that holds it ("ss -ltnp" names it) or set ${setting}`;
    return { name, status: 'fail', text: `${hostPort(listen)} is taken by something else`, advice };
  }
  const advice = `set ${setting} to an address of this machine and a port that this user may open`;
  return { name, status: 'fail', text: `${hostPort(listen)} cannot be opened (${problem})`, advice };
}

/** Null when the address can be listened on, else the system's error code. */
function tryListen(listen: ListenAddress): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: listen.host, port: listen.port, exclusive: true }, () =>
      server.close(() => resolve(null)),
    );
  });
}

/** A clock that is behind the installed files is wrong for certain; how wrong, only another machine could say. */
export function checkClock(): Finding {
  const installedMs = statSync(projectPath('package.json')).mtimeMs;
  const now = new Date();
  const text = `${now.toISOString()} UTC`;
  if (now.getTime() + MAX_SKEW_MS >= installedMs) return { name: 'clock', status: 'ok', text };
  const advice = 'set the clock and keep it set, for example by systemd-timesyncd or chrony';
  return {
    name: 'clock',
    status: 'fail',
    text: `${text} is before the installation of this program`,
    advice,
  };
}

/** Standalone mode: asks the foreign control plane for a bot that does not exist. 404 is the good answer. */
export async function checkControlPlane(settings: Settings): Promise<Finding[]> {
  if (settings.configUrl === '') return [];
  const name = 'control plane';
  const base = settings.configUrl;
  const url = new URL(
    base.includes('{bot_id}') ? base.replace('{bot_id}', NO_BOT) : `${base.replace(/\/+$/, '')}/${NO_BOT}`,
  );
  const maySend = settings.coreSecret !== '' && isSafeTransport(url);
  const answer = await ask(url.href, maySend ? { [CORE_SECRET_HEADER]: settings.coreSecret } : {});
  if (typeof answer === 'string') {
    const advice = 'check CONFIG_URL and the way there: name, firewall, certificate';
    return [{ name, status: 'fail', text: `${url.origin} does not answer: ${answer}`, advice }];
  }
  const findings: Finding[] = [];
  if (answer.status === 403 || answer.status === 401) {
    const advice = 'set CORE_SECRET to the value that the control plane expects';
    findings.push({ name, status: 'fail', text: `${url.origin} refuses the core secret`, advice });
  } else if (answer.status === 404) {
    findings.push({ name, status: 'ok', text: `${url.origin} answers and knows no bot "${NO_BOT}"` });
  } else {
    const advice = 'look into its log; an unknown bot should be answered with 404';
    findings.push({
      name,
      status: 'warn',
      text: `${url.origin} answered ${answer.status} for an unknown bot`,
      advice,
    });
  }
  const theirs = Date.parse(String(answer.headers.date ?? ''));
  const skewMs = Math.abs(theirs - Date.now());
  if (skewMs > MAX_SKEW_MS) {
    const advice = 'keep both clocks set, for example by systemd-timesyncd or chrony';
    findings.push({
      name: 'clock skew',
      status: 'warn',
      text: `the clocks differ by ${Math.round(skewMs / 1000)} s`,
      advice,
    });
  }
  return findings;
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<HttpAnswer | string> {
  try {
    return await httpCall(url, { headers, timeoutMs: HTTP_TIMEOUT_MS, maxBytes: HTTP_MAX_BYTES });
  } catch (error) {
    return describeError(error);
  }
}

function nearestFolder(path: string): string {
  let folder = path;
  for (;;) {
    try {
      if (statSync(folder).isDirectory()) return folder;
    } catch {
      // Not there: its parent may be.
    }
    const parent = dirname(folder);
    if (parent === folder) return folder;
    folder = parent;
  }
}
