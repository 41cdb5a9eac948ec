import type { Settings } from '../../platform/settings.ts';
import type { Finding } from './finding.ts';
import { runningPlane } from './running-plane.ts';

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
  const { checkMediaServer } = await import('../../platform/media-probe.ts');
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
