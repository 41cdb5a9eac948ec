import { parseArgs } from 'node:util';
import { describeError } from '../platform/app-error.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { readSettings, type Settings } from '../platform/settings.ts';
import type { Finding } from './doctor/finding.ts';
import {
  checkClock,
  checkControlPlane,
  checkDataFolder,
  checkPorts,
  checkSecret,
} from './doctor/host-checks.ts';
import {
  checkEngines,
  checkKernels,
  checkModels,
  checkRuntime,
  checkSlots,
} from './doctor/product-checks.ts';
import { checkProviderAccess } from './doctor/provider-checks.ts';
import { runningPlane } from './doctor/running-plane.ts';
import { environmentWith } from './settings-file.ts';

const EXIT_USAGE = 2;

/** `trunkline doctor`: one line per outside dependency. Exit code 1 when one of them fails. */
export async function doctorCommand(args: string[]): Promise<number> {
  let options: { json: boolean; settings?: string | undefined };
  try {
    options = parseArgs({
      args,
      options: { json: { type: 'boolean', default: false }, settings: { type: 'string' } },
    }).values;
  } catch (error) {
    process.stderr.write(`trunkline doctor: ${describeError(error)}\nRun "trunkline help doctor".\n`);
    return EXIT_USAGE;
  }
  const findings = await examine(options.settings);
  const failed = findings.filter((finding) => finding.status === 'fail').length;
  const warned = findings.filter((finding) => finding.status === 'warn').length;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ ok: failed === 0, findings }, null, 2)}\n`);
  } else {
    for (const finding of findings) process.stdout.write(`${asLine(finding)}\n`);
    process.stdout.write(`\n${findings.length} checks: ${failed} failed, ${warned} with a warning\n`);
  }
  return failed === 0 ? 0 : 1;
}

/** Every check that makes sense; without readable settings only those that need none. */
async function examine(envFile: string | undefined): Promise<Finding[]> {
  const findings: Finding[] = [checkRuntime(), checkKernels()];
  let settings: Settings;
  try {
    settings = readSettings(environmentWith(envFile), process.cwd(), projectRoot);
    findings.push({ name: 'settings', status: 'ok', text: `role ${settings.role}, ${settings.slots} slots` });
  } catch (error) {
    const advice =
      'correct this setting in the environment or the env file; settings.sample.env explains each one';
    findings.push({ name: 'settings', status: 'fail', text: describeError(error), advice });
    findings.push(...checkEngines(), checkClock());
    return findings;
  }
  findings.push(checkSlots(settings), ...checkSecret(settings));
  findings.push(...(await checkModels(settings)), ...checkEngines());
  findings.push(...(await checkDataFolder(settings)), ...(await checkPorts(settings)), checkClock());
  findings.push(...(await checkControlPlane(settings)), ...(await checkProviderAccess(settings)));
  findings.push(...(await checkMedia(settings)));
  return findings;
}

function asLine(finding: Finding): string {
  const advice = finding.advice ? `\n${' '.repeat(28)}-> ${finding.advice}` : '';
  return `${finding.status.padEnd(5)} ${finding.name.padEnd(20)}  ${finding.text}${advice}`;
}

/** What livekit.yaml needs so that calls that come in reach a bot; the API of the media server does not show it. */
function webhookLines(settings: Settings): Finding {
  const { host, port } = settings.fleetListen;
  const reachable = host === '0.0.0.0' || host === '::' ? '<this host>' : host;
  return {
    name: 'media webhook',
    status: 'ok',
    text: `calls that come in need in livekit.yaml: webhook: {api_key: <livekit_api_key>, urls: ["http://${reachable}:${port}/rtc/dispatch"]}`,
  };
}

/**
 * The media server as calls use it. The keys of a control plane are sealed in its store, so the running one looks; a
 * worker has them in its environment and looks itself. Nothing where none is set up.
 */
export async function checkMedia(settings: Settings): Promise<Finding[]> {
  const found = settings.role === 'worker' ? await asWorker(settings) : await asControlPlane(settings);
  return found.length === 0 ? [] : [...found, webhookLines(settings)];
}

async function asWorker({ seeds }: Settings): Promise<Finding[]> {
  const { livekit_url: url, livekit_api_key: apiKey, livekit_api_secret: apiSecret } = seeds;
  if (url === undefined) return [];
  if (apiKey === undefined || apiSecret === undefined) {
    const advice = 'set LIVEKIT_API_KEY and LIVEKIT_API_SECRET beside LIVEKIT_URL';
    return [{ name: 'media server', status: 'fail', text: 'LIVEKIT_URL stands without its keys', advice }];
  }
  const { checkMediaServer } = await import('../platform/media-probe.ts');
  return checkMediaServer({ url, apiKey, apiSecret }, seeds.livekit_public_url ?? url);
}

async function asControlPlane(settings: Settings): Promise<Finding[]> {
  const ask = runningPlane(settings);
  if (ask === null) return [];
  try {
    const { status, json } = await ask('POST', '/media-server/check');
    return status === 200 ? (json as { checks: Finding[] }).checks : [];
  } catch {
    // A control plane that does not answer is told of by the check of its port.
    return [];
  }
}
