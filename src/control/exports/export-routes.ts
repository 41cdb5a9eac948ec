import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { API_PREFIX, RECORDS_PATH } from '../../contracts/http-names.ts';
import { EXPORT_KEPT_MS } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { causedBy } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { CallFilterBody, readFilter, seesMaskedNumbers } from '../calls/call-query.ts';
import { type Actor, type AnyRoute, type Auth, route } from '../http/route.ts';
import type { ExportRunner } from './export-runner.ts';
import { ExportFormat, type ExportJob, type ExportStore, ExportView } from './export-store.ts';

export interface ExportRouteParts {
  exports: ExportStore;
  runner: ExportRunner;
  audit: AuditLog;
  nowIso: () => string;
}

const EXPORTS_PATH = `${API_PREFIX}/exports`;

const EXPORTERS: Auth = {
  kind: 'users',
  roles: ['admin', 'supervisor', 'analyst'],
  scopes: ['records:read'],
  orCoreSecret: true,
};

const ExportParams = Type.Object({ export_id: Type.String({ minLength: 1, maxLength: 64 }) });

const ExportRequest = Type.Object(
  { format: ExportFormat, filters: Type.Optional(CallFilterBody) },
  { additionalProperties: false },
);

/** Exports of call records: asked for, looked at, fetched. */
export function exportRoutes(parts: ExportRouteParts): AnyRoute[] {
  return [
    startRoute(parts),
    route({
      method: 'GET',
      path: `${EXPORTS_PATH}/{export_id}`,
      operationId: 'getExport',
      summary: 'How far an export is',
      tag: 'calls',
      auth: EXPORTERS,
      params: ExportParams,
      responses: { 200: { description: 'The export', schema: ExportView } },
      handler: async ({ params, actor }) => ({
        status: 200,
        json: viewOf(await ownExport(parts.exports, params.export_id, actor)),
      }),
    }),
    downloadRoute(parts),
  ];
}

function startRoute(parts: ExportRouteParts): AnyRoute {
  return route({
    method: 'POST',
    path: `${RECORDS_PATH}/export`,
    operationId: 'exportCallRecords',
    summary: 'Writes calls into a CSV or JSONL file',
    description:
      'CSV holds the rows of the list, with formulas made harmless; JSONL holds whole records. The file is kept for 24 hours. Analysts get masked numbers.',
    tag: 'calls',
    auth: EXPORTERS,
    idempotent: true,
    body: {
      schema: ExportRequest,
      example: { format: 'csv', filters: { bot_id: ['demo'], created_from: '2026-03-01T00:00:00Z' } },
    },
    responses: {
      202: {
        description: 'The export waits for its turn',
        schema: ExportView,
        headers: { Location: 'Where to look after it' },
      },
    },
    handler: async (request) => {
      const { body, actor } = request;
      const filters = body.filters ?? {};
      const createdAt = parts.nowIso();
      const job: ExportJob = {
        export_id: `exp_${randomUUID()}`,
        state: 'queued',
        format: body.format,
        filters,
        filter: readFilter(filters, actor),
        numbers_masked: seesMaskedNumbers(actor),
        owner: ownerOf(actor),
        created_at: createdAt,
        finished_at: null,
        expires_at: new Date(Date.parse(createdAt) + EXPORT_KEPT_MS).toISOString(),
        rows: 0,
        total: null,
        bytes: 0,
        position: null,
        error: null,
      };
      await parts.exports.add(job);
      const { caller, ...shown } = filters;
      await parts.audit.record({
        ...causedBy(request, 'call_record.export'),
        target: `export:${job.export_id}`,
        after: {
          format: job.format,
          filters: { ...shown, ...(caller === undefined ? {} : { caller: 'one' }) },
        },
      });
      parts.runner.wake();
      return {
        status: 202,
        headers: { location: `${EXPORTS_PATH}/${job.export_id}` },
        json: viewOf(job),
      };
    },
  });
}

function downloadRoute(parts: ExportRouteParts): AnyRoute {
  return route({
    method: 'GET',
    path: `${EXPORTS_PATH}/{export_id}/download`,
    operationId: 'downloadExport',
    summary: 'The file of an export',
    description: '`text/csv` or `application/x-ndjson`, as it was asked for. Honours Range.',
    tag: 'calls',
    auth: EXPORTERS,
    params: ExportParams,
    responses: {
      200: { description: 'The file', contentType: '*/*', schema: Type.String() },
      206: { description: 'A part of it', contentType: '*/*', schema: Type.String() },
      409: { description: 'It is not ready, or it failed' },
      416: { description: 'The range lies behind the end' },
    },
    handler: async (request) => {
      const { params, actor } = request;
      const job = await ownExport(parts.exports, params.export_id, actor);
      if (job.state !== 'ready') {
        throw new AppError('conflict', `this export is ${job.state}; there is no file to fetch`);
      }
      await parts.audit.record({
        ...causedBy(request, 'export.download'),
        target: `export:${job.export_id}`,
      });
      return {
        status: 200,
        headers: {
          'content-type': job.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="call-records-${job.created_at.slice(0, 10)}.${job.format}"`,
          'cache-control': 'private, no-store',
        },
        file: { path: parts.runner.fileOf(job) },
      };
    },
  });
}

/** Somebody else's export is no different from none, since it may show more than the caller may see. */
async function ownExport(exports: ExportStore, exportId: string, actor: Actor): Promise<ExportJob> {
  const job = await exports.get(exportId);
  const mayAll = actor.type === 'core' || (actor.type === 'user' && actor.role === 'admin');
  if (job && (mayAll || job.owner === ownerOf(actor))) return job;
  throw new AppError('not_found', 'there is no export with this id');
}

function ownerOf(actor: Actor): string {
  return 'id' in actor ? `${actor.type}:${actor.id}` : actor.type;
}

function viewOf(job: ExportJob): ExportView {
  return {
    export_id: job.export_id,
    state: job.state,
    format: job.format,
    filters: job.filters,
    numbers_masked: job.numbers_masked,
    created_at: job.created_at,
    finished_at: job.finished_at,
    expires_at: job.expires_at,
    progress: { rows: job.rows, total: job.total, bytes: job.bytes },
    error: job.error,
    links: { download: job.state === 'ready' ? `${EXPORTS_PATH}/${job.export_id}/download` : null },
  };
}
