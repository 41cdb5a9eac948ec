import { hostPort, type Settings } from '../../platform/settings.ts';

/**
 * The fleet doors of this control plane: `FLEET_URLS`, or the own one. `ownPort` is what the own ingress really listens on,
 * where it is known; an ingress on every address is reached on loopback.
 */
export function fleetUrls(
  settings: Pick<Settings, 'fleetUrls' | 'fleetListen'>,
  ownPort: number | null,
): readonly string[] {
  if (settings.fleetUrls.length > 0) return settings.fleetUrls;
  const { host, port } = settings.fleetListen;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return [`http://${hostPort({ host: reachable, port: ownPort ?? port })}`];
}
