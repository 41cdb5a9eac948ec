import { Type } from 'typebox';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import { type AnyRoute, type Reply, route } from '../http/route.ts';
import { seesMaskedNumbers } from './call-query.ts';
import type { CallRecord } from './call-record-schema.ts';
import { maskNumbers } from './mask-record.ts';
import { auditReading, type CallRouteParts, READERS, SessionParams, visibleRecord } from './record-routes.ts';
import { recordingFile } from './recording-file.ts';
import { transcriptText, transcriptVtt } from './transcript-text.ts';

/** What was said in a call: its transcript in three forms and its recording. */
export function callContentRoutes(parts: CallRouteParts): AnyRoute[] {
  return [
    transcriptRoute(parts, 'txt', 'text/plain; charset=utf-8', 'as a text to read', transcriptText),
    transcriptRoute(
      parts,
      'vtt',
      'text/vtt; charset=utf-8',
      'as WebVTT, beside the recording',
      transcriptVtt,
    ),
    transcriptRoute(parts, 'json', 'application/json', 'as data', (record) =>
      JSON.stringify({ session_id: record.session_id, entries: record.transcript ?? [] }),
    ),
    recordingRoute(parts),
  ];
}

function transcriptRoute(
  parts: CallRouteParts,
  ending: 'txt' | 'vtt' | 'json',
  contentType: string,
  form: string,
  write: (record: CallRecord) => string,
): AnyRoute {
  return route({
    method: 'GET',
    path: `${RECORDS_PATH}/{session_id}/transcript.${ending}`,
    operationId: `getTranscript${ending[0]?.toUpperCase()}${ending.slice(1)}`,
    summary: `The transcript ${form}`,
    description: 'A call that has none yet answers 404.',
    tag: 'calls',
    auth: READERS,
    params: SessionParams,
    responses: {
      200: {
        description: 'The transcript',
        contentType,
        schema:
          ending === 'json'
            ? Type.Object({
                session_id: Type.String(),
                entries: Type.Array(
                  Type.Object(
                    { speaker: Type.String(), text: Type.String(), timestamp: Type.Number() },
                    { additionalProperties: true },
                  ),
                ),
              })
            : Type.String(),
      },
    },
    handler: async ({ params, actor, requestId, remoteAddress }) => {
      const record = await visibleRecord(parts.calls, params.session_id, actor);
      if (record.transcript === null) throw new AppError('not_found', 'this call has no transcript');
      await auditReading(parts.audit, 'call_record.transcript', record, { actor, requestId, remoteAddress });
      const shown = seesMaskedNumbers(actor) ? maskNumbers(record) : record;
      return { status: 200, headers: { 'content-type': contentType }, body: write(shown) };
    },
  });
}

function recordingRoute(parts: CallRouteParts): AnyRoute {
  return route({
    method: 'GET',
    path: `${RECORDS_PATH}/{session_id}/recording`,
    operationId: 'getRecording',
    summary: 'The recording as WAV',
    description: 'Honours Range. For administrators and supervisors, and keys that may read records.',
    tag: 'calls',
    auth: { kind: 'users', roles: ['admin', 'supervisor'], scopes: ['records:read'], orCoreSecret: true },
    params: SessionParams,
    responses: {
      200: { description: 'The whole recording', contentType: 'audio/wav', schema: Type.String() },
      206: { description: 'The part that Range names', contentType: 'audio/wav', schema: Type.String() },
      416: { description: 'The range lies behind the end' },
    },
    handler: async ({ params, actor, headers, requestId, remoteAddress }): Promise<Reply> => {
      const record = await visibleRecord(parts.calls, params.session_id, actor);
      const key = record.recording_key;
      const path = key === null ? null : await recordingFile(parts.recordingsFolder, key);
      if (path === null) throw new AppError('not_found', 'this call has no recording');
      // A player fetches a recording in many parts; the first one tells that it was played.
      if (headers.range === undefined || /^bytes=0-/.test(headers.range)) {
        await auditReading(parts.audit, 'call_record.recording', record, { actor, requestId, remoteAddress });
      }
      return {
        status: 200,
        headers: { 'content-type': 'audio/wav', 'cache-control': 'private, no-store' },
        file: { path },
      };
    },
  });
}
