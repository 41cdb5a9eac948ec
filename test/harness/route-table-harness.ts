import type { Actor, Authenticator } from '../../src/control/http/authenticate.ts';
import type { AnyRoute } from '../../src/control/http/route.ts';
import { AppError } from '../../src/platform/app-error.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { serveApi } from './served-api.ts';
import { tempFolder } from './temp-folder.ts';

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
  const folder = tempFolder();
  const store = openKeyValueStore(folder);
  let nowMs = Date.UTC(2026, 0, 1);
  const start = () =>
    serveApi(routes, { ...options, store, authenticator, nowMs: () => nowMs, onError: () => undefined });
  let running = await start();
  return {
    url: (path) => `${running.url}${path}`,
    get port() {
      return running.port;
    },
    pass: (ms) => {
      nowMs += ms;
    },
    restart: async () => {
      await running.close();
      running = await start();
    },
    stop: async () => {
      await running.close();
      await store.close();
    },
  };
}
