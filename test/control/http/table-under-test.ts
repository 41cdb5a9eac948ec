import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Actor, Authenticator } from '../../../src/control/http/authenticate.ts';
import { createCoreSecretGuard } from '../../../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../../../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../../../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../../../src/control/http/rate-limit.ts';
import type { AnyRoute } from '../../../src/control/http/route.ts';
import { serveRoutes } from '../../../src/control/http/serve-routes.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import { createHttpServer } from '../../../src/platform/http-server.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';

export const CORE_SECRET = 'correct horse battery staple';

const ann = (role: 'admin' | 'analyst'): Actor => ({
  type: 'user',
  id: role,
  name: role,
  role,
  sessionId: 's',
});

/** Accounts of two people and one key, so that the table can be tested without the accounts of the product. */
const authenticator: Authenticator = {
  async session(cookie, csrf, isMutation) {
    if (cookie !== 'admin' && cookie !== 'analyst') return null;
    if (isMutation && csrf !== 'csrf') throw new AppError('forbidden', 'the CSRF token is missing');
    return ann(cookie);
  },
  bearer: async (token) => (token === 'admin' || token === 'analyst' ? ann(token) : null),
  apiKey: async (key): Promise<Actor | null> =>
    key === 'reader' ? { type: 'api_key', id: 'k1', name: 'reader', scopes: ['records:read'] } : null,
};

export interface TableUnderTest {
  url: (path: string) => string;
  port: number;
  /** Moves both clocks. */
  pass: (ms: number) => void;
  /** Forgets what is in memory and serves again from the same store. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

export async function serveTable(
  routes: readonly AnyRoute[],
  options: { coreSecrets?: string[] } = {},
): Promise<TableUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-table-'));
  const store = openKeyValueStore(folder);
  let nowMs = Date.UTC(2026, 0, 1);
  const start = async () => {
    const server = createHttpServer({
      routes: serveRoutes(routes, {
        authenticator,
        baseUrl: () => 'http://127.0.0.1',
        guard: createCoreSecretGuard(options.coreSecrets ?? [CORE_SECRET], 'http://127.0.0.1'),
        limiter: new RateLimiter(() => nowMs),
        once: createIdempotencyGuard(createIdempotencyStore(store), () => nowMs),
      }),
      onError: () => undefined,
    });
    return { server, port: (await server.listen('127.0.0.1', 0)).port };
  };
  let running = await start();
  return {
    url: (path) => `http://127.0.0.1:${running.port}${path}`,
    get port() {
      return running.port;
    },
    pass: (ms) => {
      nowMs += ms;
    },
    restart: async () => {
      await running.server.close();
      running = await start();
    },
    stop: async () => {
      await running.server.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
