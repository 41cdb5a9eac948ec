import { isoNow } from '../platform/clock.ts';
import { createHttpServer } from '../platform/http-server.ts';
import type { KeyValueStore } from '../platform/key-value-store.ts';
import type { Logger } from '../platform/logger.ts';
import type { Settings } from '../platform/settings.ts';
import { createBotStore } from './bots/bot-store.ts';
import { demoBot } from './bots/demo-bot.ts';
import { callRoutes } from './calls/call-routes.ts';
import { createCallRecordStore } from './calls/call-store.ts';
import { healthRoutes } from './health/health-routes.ts';
import { createCoreSecretGuard } from './http/core-secret-guard.ts';
import { resultsRoute } from './results/receive-results.ts';
import { configRoute } from './runtime-config/serve-config.ts';

export interface Control {
  readonly port: number;
  /** What `webhook_url` begins with: `BASE_URL`, with the real port where the setting asked for any free one. */
  readonly baseUrl: string;
  /** Lets open requests finish within a bound. The store stays open: it belongs to the caller. */
  close(): Promise<void>;
}

export interface ControlParts {
  settings: Settings;
  store: KeyValueStore;
  logger: Logger;
  recordingsFolder: string;
  /** Wall time as ISO 8601 UTC. */
  clock?: () => string;
}

/** Starts the control plane on `CONTROL_LISTEN`; an empty store gets the bot `demo`. */
export async function startControl(parts: ControlParts): Promise<Control> {
  const { settings, store, logger, recordingsFolder } = parts;
  const nowIso = parts.clock ?? isoNow;
  const bots = createBotStore(store);
  const calls = createCallRecordStore(store);
  if (await bots.isEmpty()) {
    await bots.put(demoBot(nowIso()));
    logger.info({ bot_id: 'demo' }, 'empty store, bot created');
  }
  const guard = createCoreSecretGuard(settings.coreSecret, settings.baseUrl);
  let baseUrl = settings.baseUrl;
  const server = createHttpServer({
    routes: [
      configRoute({ bots, calls, guard, logger, nowIso, baseUrl: () => baseUrl }),
      resultsRoute({ calls, guard, logger, nowIso, strict: settings.strictResults }),
      ...callRoutes({ calls, guard, recordingsFolder }),
      ...healthRoutes(store),
    ],
    onError: (error, request) => {
      logger.error(
        { err: error, request_id: request.requestId, method: request.method, path: request.path },
        'request failed',
      );
    },
  });
  const { port } = await server.listen(settings.controlListen.host, settings.controlListen.port);
  baseUrl = withRealPort(settings.baseUrl, port);
  return { port, baseUrl, close: () => server.close() };
}

function withRealPort(baseUrl: string, port: number): string {
  const url = new URL(baseUrl);
  if (url.port !== '0') return baseUrl;
  url.port = String(port);
  return url.href.replace(/\/+$/, '');
}
