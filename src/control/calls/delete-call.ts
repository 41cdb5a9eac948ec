import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EXPORT_KEPT_MS } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { syncFolder } from '../../platform/durable-files.ts';
import type { Actor } from '../http/route.ts';
import type { CallRecordStore } from './call-store.ts';
import { type DeletionReceipt, ERASED_FIELDS } from './erase-call.ts';
import { recordingFile } from './recording-file.ts';

export interface DeleteCallParts {
  calls: CallRecordStore;
  recordingsFolder: string;
  nowIso: () => string;
}

/**
 * Deletes what is personal in a call: first the recording file, then the record, so that a crash in between leaves a
 * record whose deletion can be repeated and never a file that nothing leads to. Null where there is no such call;
 * throws `conflict` while the call is active or its recording is on hold.
 */
export async function deleteCall(
  parts: DeleteCallParts,
  sessionId: string,
  actor: Actor,
): Promise<DeletionReceipt | null> {
  const earlier = await parts.calls.receipt(sessionId);
  if (earlier) return earlier;
  const record = await parts.calls.get(sessionId);
  if (!record) return null;
  if (record.status === 'active') {
    throw new AppError('conflict', 'this call is still active; delete its record once it has ended');
  }
  if (record.recording?.hold === true) {
    throw new AppError('conflict', 'the recording of this call is on hold; lift the hold first');
  }
  const deletedAt = parts.nowIso();
  return parts.calls.erase(sessionId, {
    receipt_id: `rcp_${randomUUID()}`,
    session_id: sessionId,
    deleted_at: deletedAt,
    deleted_by: { type: actor.type, id: 'id' in actor ? actor.id : null },
    erased_fields: [...ERASED_FIELDS],
    recording: await removeRecording(parts, sessionId, record.recording_key),
    exports_gone_by: new Date(Date.parse(deletedAt) + EXPORT_KEPT_MS).toISOString(),
  });
}

/** Keys come from results that anyone with a session may send: a file that another call names too is not touched. */
export async function removeRecording(
  parts: Pick<DeleteCallParts, 'calls' | 'recordingsFolder'>,
  sessionId: string,
  key: string | null,
): Promise<DeletionReceipt['recording']> {
  if (key === null) return 'none';
  const path = await recordingFile(parts.recordingsFolder, key);
  if (path === null || !(await stat(path)).isFile()) return 'already_gone';
  if (await parts.calls.isRecordingShared(key, sessionId)) return 'kept_for_another_call';
  await rm(path, { force: true });
  await syncFolder(dirname(path));
  return 'removed';
}
