import type { KeyValueStore } from '../platform/key-value-store.ts';
import type { Logger } from '../platform/logger.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { CallRecordStore } from './calls/call-store.ts';
import { callContentRoutes } from './calls/content-routes.ts';
import { type LostCallsParts, startLostCallsSweep } from './calls/lost-calls.ts';
import { type ReceiveResultsParts, resultsRoute } from './calls/receive-results.ts';
import { type CallRouteParts, callRecordRoutes } from './calls/record-routes.ts';
import { exportRoutes } from './exports/export-routes.ts';
import { ExportRunner } from './exports/export-runner.ts';
import { createExportStore } from './exports/export-store.ts';
import type { CoreSecretGuard } from './http/core-secret-guard.ts';
import type { AnyRoute } from './http/route.ts';

export interface CallRecordsParts {
  store: KeyValueStore;
  calls: CallRecordStore;
  audit: AuditLog;
  guard: CoreSecretGuard;
  logger: Logger;
  nowIso: () => string;
  recordingsFolder: string;
  /** Of its own, made where it is missing: unknown export files in it are removed. */
  exportsFolder: string;
  /** The bot's `auto_dispositions`. */
  dispositionRules: ReceiveResultsParts['dispositionRules'];
  settleCallback: ReceiveResultsParts['settleCallback'];
  /** `STRICT_RESULTS`. */
  strict: boolean;
  /** Sessions whose callers may be talking, wherever: they are not given up as lost. Null where nobody can tell now. */
  liveSessions: LostCallsParts['liveSessions'];
}

export interface CallRecords {
  routes: AnyRoute[];
  /** Stops the sweep and the exports; a running export goes on with the next start. */
  stop(): Promise<void>;
}

/** The call records as a part of the control plane: their routes and what goes on beside them. */
export async function startCallRecords(parts: CallRecordsParts): Promise<CallRecords> {
  const { store, calls, audit, guard, logger, nowIso, recordingsFolder, dispositionRules, strict } = parts;
  const exports = createExportStore(store);
  const runner = new ExportRunner({ calls, exports, folder: parts.exportsFolder, logger, nowIso });
  await runner.start();
  const sweep = startLostCallsSweep({ calls, logger, nowIso, liveSessions: parts.liveSessions });
  return {
    routes: [
      resultsRoute({
        calls,
        recordingsFolder,
        dispositionRules,
        settleCallback: parts.settleCallback,
        guard,
        strict,
        logger,
        nowIso,
      }),
      ...callRoutes({ calls, audit, recordingsFolder, nowIso }),
      ...exportRoutes({ exports, runner, audit, nowIso }),
    ],
    stop: async () => {
      await sweep.stop();
      await runner.stop();
    },
  };
}

/** Everything that reads or changes what calls left. */
function callRoutes(parts: CallRouteParts): AnyRoute[] {
  return [...callRecordRoutes(parts), ...callContentRoutes(parts)];
}
