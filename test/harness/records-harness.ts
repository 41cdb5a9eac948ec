import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { createAuditLog, type TransactionalAuditLog } from '../../src/control/audit/audit-log.ts';
import type { CallRecordStore } from '../../src/control/calls/call-store.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { createCoreSecretGuard } from '../../src/control/http/core-secret-guard.ts';
import { startCallRecords } from '../../src/control/start-call-records.ts';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { CORE_SECRET, namedPeople, serveApi } from './served-api.ts';
import { tempFolder } from './temp-folder.ts';

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

export async function runRecords(options: { nowIso?: () => string; folder?: string } = {}) {
  const folder = options.folder ?? tempFolder();
  const recordingsFolder = join(folder, 'recordings');
  mkdirSync(recordingsFolder, { recursive: true });
  const store = openKeyValueStore(join(folder, 'store'));
  const calls = createCallRecordStore(store);
  const nowIso = options.nowIso ?? (() => new Date().toISOString());
  const audit = createAuditLog(store, nowIso);
  const guard = createCoreSecretGuard([CORE_SECRET], 'http://127.0.0.1');
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
    settleCallback: async () => undefined,
    liveSessions: async () => new Set(),
    strict: false,
  });
  const failures: unknown[] = [];
  const api = await serveApi(records.routes, {
    store,
    authenticator: namedPeople({
      reader: { scopes: ['records:read'] },
      dialler: { scopes: ['calls:write'] },
    }),
    nowMs: Date.now,
    limiterMs: () => performance.now(),
    onReply: (route, reply) => {
      const declared = route.responses[reply.status];
      if (!declared) failures.push(`${route.operationId} does not declare ${reply.status}`);
      else if (declared.schema && reply.json !== undefined && !Compile(declared.schema).Check(reply.json)) {
        failures.push([route.operationId, Compile(declared.schema).Errors(reply.json)[0]]);
      }
    },
    onError: (error) => failures.push(error),
  });
  const run: RunningRecords & { failures: unknown[] } = {
    store,
    calls,
    audit,
    folder,
    recordingsFolder,
    failures,
    ask: (as, path, init = {}) =>
      fetch(`${api.url}/api/v1${path}`, {
        ...init,
        headers: {
          ...credentials(as),
          ...(init.body ? { 'content-type': 'application/json' } : {}),
          ...(init.headers as Record<string, string> | undefined),
        },
      }),
    stop: async () => {
      await api.close();
      await records.stop();
      await store.close();
    },
  };
  return run;
}

function credentials(as: string): Record<string, string> {
  if (as === 'core') return { 'x-core-secret': CORE_SECRET };
  if (as === 'reader' || as === 'dialler') return { 'x-api-key': as };
  return as === 'nobody' ? {} : { authorization: `Bearer ${as}` };
}
