import { Type } from 'typebox';
import { AppError } from '../platform/app-error.ts';
import { monotonicMs, within } from '../platform/clock.ts';
import type { KeyValueStore } from '../platform/key-value-store.ts';
import { type AnyRoute, route } from './http/route.ts';

/** The store must take a write within this to count as ready. */
const PROBE_TIMEOUT_MS = 2_000;
/** An answer is good for this long, so that a hasty monitor does not become a load on the disk. */
const PROBE_EVERY_MS = 1_000;

/** `GET /healthz`: the process runs. `GET /readyz`: calls can be taken, because the store takes writes. */
export function healthRoutes(store: KeyValueStore): AnyRoute[] {
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
    route({
      method: 'GET',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'The process runs',
      tag: 'health',
      auth: { kind: 'public' },
      rateLimit: false,
      responses: { 200: { description: 'It runs', schema: Type.Object({ status: Type.Literal('ok') }) } },
      handler: async () => ({ status: 200, json: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Calls can be taken, because the store takes writes',
      tag: 'health',
      auth: { kind: 'public' },
      rateLimit: false,
      responses: {
        200: { description: 'Ready', schema: Type.Object({ status: Type.Literal('ready') }) },
        503: { description: '`store_unavailable`: the store takes no writes' },
      },
      handler: async () => {
        if (await isWritable()) return { status: 200, json: { status: 'ready' } };
        throw new AppError('store_unavailable', 'the store takes no writes; check the disk of DATA_DIR');
      },
    }),
  ];
}
