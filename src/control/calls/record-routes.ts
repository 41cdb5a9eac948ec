import { Type } from 'typebox';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { type AuditedRequest, causedBy } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { DEFAULT_PAGE, encodeCursor } from '../http/pagination.ts';
import { type Actor, type AnyRoute, type Auth, route } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import { CallListQuery, readCursor, readFields, readFilter, seesMaskedNumbers } from './call-query.ts';
import { CallRecord, CallRow, DispositionText, Tags } from './call-record-schema.ts';
import { type CallPage, MAX_COUNTED } from './call-search.ts';
import type { CallRecordStore } from './call-store.ts';
import { deleteCall } from './delete-call.ts';
import { DeletionReceipt } from './erase-call.ts';
import { maskNumbers } from './mask-record.ts';

export interface CallRouteParts {
  calls: CallRecordStore;
  audit: AuditLog;
  recordingsFolder: string;
  nowIso: () => string;
}

/** Who may read what calls left (D-56), beside the core itself. */
export const READERS: Auth = {
  kind: 'users',
  roles: ['admin', 'supervisor', 'agent', 'analyst'],
  scopes: ['records:read'],
  orCoreSecret: true,
};

export const SessionParams = Type.Object({
  session_id: Type.String({ minLength: 1, maxLength: 200, description: 'The session of the call' }),
});

const MASKED = 'Analysts see masked telephone numbers; agents see their own calls only.';

/** The list of calls, one record, its tags and disposition, its deletion. */
export function callRecordRoutes(parts: CallRouteParts): AnyRoute[] {
  return [
    listRoute(parts),
    route({
      method: 'GET',
      path: `${RECORDS_PATH}/{session_id}`,
      operationId: 'getCallRecord',
      summary: 'One call record, whole',
      description: `${MASKED} A deleted record is still there without anything personal.`,
      tag: 'calls',
      auth: READERS,
      params: SessionParams,
      responses: {
        200: { description: 'The record', schema: CallRecord, headers: { ETag: 'Its version' } },
      },
      handler: async (request) => {
        const record = await visibleRecord(parts.calls, request.params.session_id, request.actor);
        await auditReading(parts.audit, 'call_record.view', record, request);
        return recordReply(record, request.actor);
      },
    }),
    editRoute(parts),
    ...deletionRoutes(parts),
  ];
}

function listRoute(parts: CallRouteParts): AnyRoute {
  return route({
    method: 'GET',
    path: RECORDS_PATH,
    operationId: 'listCallRecords',
    summary: 'Calls, newest first, by filters',
    description: `${MASKED} A page may hold fewer rows than \`limit\`, even none, while \`has_more\` is true: a search that would take too long is handed out in parts.`,
    tag: 'calls',
    auth: READERS,
    query: CallListQuery,
    responses: {
      200: {
        description: 'A page of calls',
        schema: Type.Object({
          items: Type.Array(Type.Partial(CallRow), { description: 'Whole rows, or the named `fields`' }),
          next_cursor: Type.Union([Type.String(), Type.Null()]),
          has_more: Type.Boolean(),
          total: Type.Optional(Type.Integer()),
          total_capped: Type.Optional(
            Type.Boolean({ description: `There are more; counting stops after ${MAX_COUNTED} steps` }),
          ),
        }),
      },
    },
    handler: async ({ query, actor }) => {
      const { limit = DEFAULT_PAGE, cursor, sort, include_total, fields, ...filterQuery } = query;
      const filter = readFilter(filterQuery, actor);
      const names = readFields(fields);
      const page = await parts.calls.list({
        ...filter,
        limit,
        oldestFirst: sort === 'created_at',
        ...(cursor === undefined ? {} : { after: readCursor(cursor) }),
      });
      const counted = include_total ? await parts.calls.count(filter) : null;
      return {
        status: 200,
        json: {
          ...pageJson(page, names, actor),
          ...(counted ? { total: counted.total, total_capped: counted.capped } : {}),
        },
      };
    },
  });
}

const Edit = Type.Object(
  {
    tags: Type.Optional(Tags),
    disposition: Type.Optional(Type.Union([DispositionText, Type.Null()])),
  },
  { additionalProperties: false },
);

function editRoute(parts: CallRouteParts): AnyRoute {
  return route({
    method: 'PATCH',
    path: `${RECORDS_PATH}/{session_id}`,
    operationId: 'editCallRecord',
    summary: 'Changes tags and disposition',
    description: 'Agents may change their own calls. Honours If-Match.',
    tag: 'calls',
    auth: { kind: 'users', roles: ['admin', 'supervisor', 'agent'], orCoreSecret: true },
    params: SessionParams,
    body: { schema: Edit, example: { tags: ['refund', 'angry'], disposition: 'Resolved' } },
    responses: {
      200: { description: 'The changed record', schema: CallRecord, headers: { ETag: 'Its new version' } },
      409: { description: 'The record was deleted' },
      412: { description: 'The record has changed since it was read' },
    },
    handler: async (request) => {
      const { params, body, actor, headers } = request;
      if (Object.keys(body).length === 0) throw invalidBody('', 'name tags or disposition');
      await visibleRecord(parts.calls, params.session_id, actor);
      const edited = await parts.calls.edit(params.session_id, body, parts.nowIso(), (record) =>
        requireMatch(headers, record.version),
      );
      if (!edited) throw noRecord();
      const { before, after } = edited;
      await parts.audit.record({
        ...causedBy(request, 'call_record.update'),
        target: `call_record:${params.session_id}`,
        before: { tags: before.tags, disposition: before.disposition },
        after: { tags: after.tags, disposition: after.disposition },
      });
      return recordReply(after, actor);
    },
  });
}

function deletionRoutes(parts: CallRouteParts): AnyRoute[] {
  return [
    route({
      method: 'DELETE',
      path: `${RECORDS_PATH}/{session_id}`,
      operationId: 'deleteCallRecord',
      summary: 'Takes everything personal out of a call, for good',
      description:
        'Numbers, words, variables, analysis and the recording go; the receipt and the bare facts of the call stay. A repeat answers with the first receipt.',
      tag: 'calls',
      auth: { kind: 'users', roles: ['admin'], orCoreSecret: true },
      params: SessionParams,
      responses: {
        200: { description: 'The receipt', schema: DeletionReceipt },
        409: { description: 'The call is still active, or its recording is on hold' },
      },
      handler: async (request) => {
        const { params, actor } = request;
        const receipt = await deleteCall(parts, params.session_id, actor);
        if (!receipt) throw noRecord();
        await parts.audit.record({
          ...causedBy(request, 'call_record.delete'),
          target: `call_record:${params.session_id}`,
          after: { receipt_id: receipt.receipt_id, recording: receipt.recording },
        });
        return { status: 200, json: receipt };
      },
    }),
    route({
      method: 'GET',
      path: `${RECORDS_PATH}/{session_id}/deletion-receipt`,
      operationId: 'getCallDeletionReceipt',
      summary: 'The receipt of a deletion',
      tag: 'calls',
      auth: { kind: 'users', roles: ['admin', 'supervisor'], orCoreSecret: true },
      params: SessionParams,
      responses: { 200: { description: 'The receipt', schema: DeletionReceipt } },
      handler: async ({ params }) => {
        const receipt = await parts.calls.receipt(params.session_id);
        if (!receipt) throw new AppError('not_found', 'no call of this session was deleted');
        return { status: 200, json: receipt };
      },
    }),
  ];
}

/** The record, if this caller may see it. Another agent's call is no different from none. */
export async function visibleRecord(
  calls: CallRecordStore,
  sessionId: string,
  actor: Actor,
): Promise<CallRecord> {
  const record = await calls.get(sessionId);
  const own = actor.type !== 'user' || actor.role !== 'agent' || record?.agent?.id === actor.id;
  if (!record || !own) throw noRecord();
  return record;
}

/** What people see of callers is written down (D-58); the core reads for its own work. */
export async function auditReading(
  audit: AuditLog,
  action: string,
  record: CallRecord,
  by: AuditedRequest,
): Promise<void> {
  if (by.actor.type === 'core') return;
  await audit.record({ ...causedBy(by, action), target: `call_record:${record.session_id}` });
}

export function noRecord(): AppError {
  return new AppError('not_found', 'there is no call record with this session_id');
}

function recordReply(record: CallRecord, actor: Actor): HttpReply {
  const shown = mayListen(actor) ? record : { ...record, recording_url: null };
  return {
    status: 200,
    headers: { etag: etagOf(record.version) },
    json: seesMaskedNumbers(actor) ? maskNumbers(shown) : shown,
  };
}

/** The URL of another host's recording lets in whoever has it, so only those who may hear recordings are told. */
function mayListen(actor: Actor): boolean {
  return actor.type !== 'user' || actor.role === 'admin' || actor.role === 'supervisor';
}

function pageJson(page: CallPage, names: readonly string[] | null, actor: Actor): object {
  const rows = seesMaskedNumbers(actor) ? maskNumbers(page.rows) : page.rows;
  const items = names
    ? rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name as keyof CallRow]])))
    : rows;
  return {
    items,
    next_cursor: page.next === null ? null : encodeCursor(page.next),
    has_more: page.next !== null,
  };
}
