import { AppError } from '../../platform/app-error.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import type { HttpRoute } from '../../platform/http-server.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';

/** The store must take a write within this to count as ready. */
const PROBE_TIMEOUT_MS = 2_000;
/** An answer is good for this long, so that a hasty monitor does not become a load on the disk. */
const PROBE_EVERY_MS = 1_000;

/** `GET /healthz`: the process runs. `GET /readyz`: calls can be taken, because the store takes writes. */
export function healthRoutes(store: KeyValueStore): HttpRoute[] {
  let lastProbe: Promise<boolean> | null = null;
  let probedAtMs = 0;
  const isWritable = () => {
    if (!lastProbe || monotonicMs() - probedAtMs >= PROBE_EVERY_MS) {
      probedAtMs = monotonicMs();
      const probe = store.probe().then(
        () => true,
        () => false,
      );
      lastProbe = within(probe, PROBE_TIMEOUT_MS, false);
    }
    return lastProbe;
  };
  return [
    {
      method: 'GET',
      path: '/healthz',
      maxBodyBytes: 0,
      handler: async () => ({ status: 200, json: { status: 'ok' } }),
    },
    {
      method: 'GET',
      path: '/readyz',
      maxBodyBytes: 0,
      handler: async () => {
        if (await isWritable()) return { status: 200, json: { status: 'ready' } };
        throw new AppError('store_unavailable', 'the store takes no writes; check the disk of DATA_DIR');
      },
    },
  ];
}
