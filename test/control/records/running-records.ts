import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { createAuditLog, type TransactionalAuditLog } from '../../../src/control/audit/audit-log.ts';
import type { CallRecordStore } from '../../../src/control/calls/call-store.ts';
import { createCallRecordStore } from '../../../src/control/calls/lmdb-call-store.ts';
import type { Actor, Authenticator } from '../../../src/control/http/authenticate.ts';
import { createCoreSecretGuard } from '../../../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../../../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../../../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../../../src/control/http/rate-limit.ts';
import { serveRoutes } from '../../../src/control/http/serve-routes.ts';
import { startCallRecords } from '../../../src/control/start-call-records.ts';
import { createHttpServer } from '../../../src/platform/http-server.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';

/** The call records behind a real HTTP server, with people in every role. */
export interface RunningRecords {
  store: KeyValueStore;
  calls: CallRecordStore;
  audit: TransactionalAuditLog;
  folder: string;
  recordingsFolder: string;
  /** Asks as a person (`admin`, `supervisor`, `agent-1`, `analyst`), as the key `reader` or as the `core`. */
  ask: (as: string, path: string, init?: RequestInit) => Promise<Response>;
  stop: () => Promise<void>;
}

const SECRET = 'correct horse battery staple';

export async function runRecords(options: { nowIso?: () => string; folder?: string } = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'trunkline-records-'));
  const recordingsFolder = join(folder, 'recordings');
  mkdirSync(recordingsFolder, { recursive: true });
  const store = openKeyValueStore(join(folder, 'store'));
  const calls = createCallRecordStore(store);
  const nowIso = options.nowIso ?? (() => new Date().toISOString());
  const audit = createAuditLog(store, nowIso);
  const guard = createCoreSecretGuard([SECRET], 'http://127.0.0.1');
  const records = await startCallRecords({
    store,
    calls,
    audit,
    guard,
    logger: createLogger({ level: 'silent', role: 'test' }),
    nowIso,
    recordingsFolder,
    exportsFolder: join(folder, 'exports'),
    dispositionRules: async (botId) =>
      botId === 'ruled' ? [{ disposition: 'Dropped early', when: { max_duration_seconds: 10 } }] : [],
    keepCallback: async () => undefined,
    strict: false,
  });
  const failures: unknown[] = [];
  const server = createHttpServer({
    routes: serveRoutes(records.routes, {
      authenticator: PEOPLE,
      baseUrl: () => 'http://127.0.0.1',
      guard,
      limiter: new RateLimiter(() => performance.now()),
      once: createIdempotencyGuard(createIdempotencyStore(store), Date.now),
      onReply: (route, reply) => {
        const declared = route.responses[reply.status];
        if (!declared) failures.push(`${route.operationId} does not declare ${reply.status}`);
        else if (declared.schema && reply.json !== undefined && !Compile(declared.schema).Check(reply.json)) {
          failures.push([route.operationId, Compile(declared.schema).Errors(reply.json)[0]]);
        }
      },
    }),
    onError: (error) => failures.push(error),
  });
  const { port } = await server.listen('127.0.0.1', 0);
  const run: RunningRecords & { failures: unknown[] } = {
    store,
    calls,
    audit,
    folder,
    recordingsFolder,
    failures,
    ask: (as, path, init = {}) =>
      fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        ...init,
        headers: {
          ...credentials(as),
          ...(init.body ? { 'content-type': 'application/json' } : {}),
          ...(init.headers as Record<string, string> | undefined),
        },
      }),
    stop: async () => {
      await server.close();
      await records.stop();
      await store.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  return run;
}

function credentials(as: string): Record<string, string> {
  if (as === 'core') return { 'x-core-secret': SECRET };
  if (as === 'reader' || as === 'dialler') return { 'x-api-key': as };
  return as === 'nobody' ? {} : { authorization: `Bearer ${as}` };
}

const PEOPLE: Authenticator = {
  session: async () => null,
  bearer: async (token): Promise<Actor | null> => {
    const role = token.replace(/-\d$/, '');
    if (role !== 'admin' && role !== 'supervisor' && role !== 'agent' && role !== 'analyst') return null;
    return { type: 'user', id: token, name: token, role, sessionId: null };
  },
  apiKey: async (key): Promise<Actor | null> =>
    key === 'reader' || key === 'dialler'
      ? {
          type: 'api_key',
          id: key,
          name: key,
          scopes: [key === 'reader' ? 'records:read' : 'calls:write'],
        }
      : null,
};
