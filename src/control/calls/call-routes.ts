import { realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../platform/http-server.ts';
import type { CoreSecretGuard } from '../http/core-secret-guard.ts';
import type { CallRecord } from './call-record.ts';
import type { CallRecordStore, ListPosition } from './call-store.ts';

export interface CallRouteParts {
  calls: CallRecordStore;
  guard: CoreSecretGuard;
  recordingsFolder: string;
}

/** Reading what calls left: the list, one record, its recording. All need the core secret where one is configured. */
export function callRoutes(parts: CallRouteParts): HttpRoute[] {
  const get = (path: string, handler: (request: HttpRequest) => Promise<HttpReply>): HttpRoute => ({
    method: 'GET',
    path,
    maxBodyBytes: 0,
    handler: (request) => {
      parts.guard.check(request);
      return handler(request);
    },
  });
  return [
    get(RECORDS_PATH, (request) => listRecords(parts, request)),
    get(`${RECORDS_PATH}/{session_id}`, async (request) => ({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: await findRecord(parts, request),
    })),
    get(`${RECORDS_PATH}/{session_id}/recording`, (request) => sendRecording(parts, request)),
  ];
}

/** control-plane.md 2.11: page size where the caller names none, and at most. */
const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

async function listRecords(parts: CallRouteParts, request: HttpRequest): Promise<HttpReply> {
  const limit = readLimit(request.query.get('limit'));
  const after = readCursor(request.query.get('cursor'));
  const found = await parts.calls.list({ limit: limit + 1, ...(after ? { after } : {}) });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit;
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    json: { items, next_cursor: hasMore && last ? writeCursor(last) : null, has_more: hasMore },
  };
}

async function sendRecording(parts: CallRouteParts, request: HttpRequest): Promise<HttpReply> {
  const record = await findRecord(parts, request);
  const key = record.recording_key;
  const path = key === null ? null : await recordingPath(parts.recordingsFolder, key);
  if (path === null) throw new AppError('not_found', 'this call has no recording');
  return {
    status: 200,
    headers: { 'content-type': 'audio/wav', 'cache-control': 'private, no-store' },
    file: { path },
  };
}

async function findRecord(parts: CallRouteParts, request: HttpRequest): Promise<CallRecord> {
  const record = await parts.calls.get((request.params.session_id ?? '').slice(0, MAX_SESSION_ID));
  if (!record) throw new AppError('not_found', 'there is no call record with this session_id');
  return record;
}

const MAX_SESSION_ID = 200;

/**
 * Results are taken unsigned, so the key in them may be anyone's: what leads out of the folder, by dots or by a link, is
 * no recording. The folder itself may be a link to another disk.
 */
async function recordingPath(folder: string, key: string): Promise<string | null> {
  if (key.includes('\0') || key.includes('\\')) return null;
  try {
    const root = await realpath(folder);
    const path = await realpath(resolve(root, key));
    return path.startsWith(root + sep) ? path : null;
  } catch {
    return null;
  }
}

function readLimit(text: string | null): number {
  const limit = Number(text ?? DEFAULT_PAGE);
  if (text !== null && (!/^\d{1,4}$/.test(text) || limit < 1 || limit > MAX_PAGE)) {
    throw invalidQuery('limit', `limit is a whole number from 1 to ${MAX_PAGE}`);
  }
  return limit;
}

function writeCursor(position: ListPosition): string {
  return Buffer.from(JSON.stringify([position.created_at, position.session_id])).toString('base64url');
}

function readCursor(text: string | null): ListPosition | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(text.slice(0, 1_000), 'base64url').toString('utf8'));
    if (Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string') {
      return { created_at: value[0], session_id: value[1] };
    }
  } catch {
    // Falls through to the refusal.
  }
  throw invalidQuery('cursor', 'cursor is not one that this list has given out');
}

function invalidQuery(name: string, sentence: string): AppError {
  return new AppError('validation_error', sentence, {
    details: { errors: [{ loc: ['query', name], msg: sentence, type: 'value', pointer: `/${name}` }] },
  });
}
