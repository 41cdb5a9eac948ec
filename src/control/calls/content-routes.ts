import { Type } from 'typebox';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { seesMaskedNumbers } from './call-query.ts';
import type { CallRecord } from './call-record-schema.ts';
import { maskNumbers } from './mask-record.ts';
import { auditReading, type CallRouteParts, READERS, SessionParams, visibleRecord } from './record-routes.ts';
import { recordingFile } from './recording-file.ts';

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
    handler: async (request) => {
      const { params, actor } = request;
      const record = await visibleRecord(parts.calls, params.session_id, actor);
      if (record.transcript === null) throw new AppError('not_found', 'this call has no transcript');
      await auditReading(parts.audit, 'call_record.transcript', record, request);
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
    handler: async (request): Promise<HttpReply> => {
      const { params, actor, headers } = request;
      const record = await visibleRecord(parts.calls, params.session_id, actor);
      const key = record.recording_key;
      const path = key === null ? null : await recordingFile(parts.recordingsFolder, key);
      if (path === null) throw new AppError('not_found', 'this call has no recording');
      // A player fetches a recording in many parts; the first one tells that it was played.
      if (headers.range === undefined || /^bytes=0-/.test(headers.range)) {
        await auditReading(parts.audit, 'call_record.recording', record, request);
      }
      return {
        status: 200,
        headers: { 'content-type': 'audio/wav', 'cache-control': 'private, no-store' },
        file: { path },
      };
    },
  });
}

/** A conversation to read: `[0:12] Bot: …`, one line per entry. */
function transcriptText(record: CallRecord): string {
  const lines = entriesOf(record).map(
    (entry) => `[${clock(entry.timestamp)}] ${speakerName(entry.speaker)}: ${oneLine(entry.text)}`,
  );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** WebVTT beside the recording (W3C WebVTT section 4): one cue per entry, spoken by a voice. */
function transcriptVtt(record: CallRecord): string {
  const entries = entriesOf(record);
  const cues = entries.map((entry, index) => {
    const start = Math.max(0, entry.timestamp);
    const end = cueEnd(start, entry.text, entries[index + 1]?.timestamp, record.call_duration_seconds);
    const voice = escapeVtt(speakerName(entry.speaker));
    return `${index + 1}\n${vttTime(start)} --> ${vttTime(end)}\n<v ${voice}>${escapeVtt(oneLine(entry.text))}\n`;
  });
  return `WEBVTT\n\n${cues.join('\n')}`;
}

type Entry = NonNullable<CallRecord['transcript']>[number];

/** What speakers share a moment is kept in the order in which it was written down. */
function entriesOf(record: CallRecord): Entry[] {
  return [...(record.transcript ?? [])].sort((a, b) => a.timestamp - b.timestamp);
}

/** Spoken pace where nothing else says how long a text takes: about 15 characters a second. */
const CHARS_PER_SECOND = 15;
const SHORTEST_CUE_SECONDS = 1;

function cueEnd(start: number, text: string, next: number | undefined, callEnd: number | null): number {
  const spoken = start + Math.max(SHORTEST_CUE_SECONDS, text.length / CHARS_PER_SECOND);
  const bound =
    next !== undefined && next > start ? next : callEnd !== null && callEnd > start ? callEnd : spoken;
  return Math.min(spoken, bound);
}

function speakerName(speaker: string): string {
  const name = oneLine(speaker).slice(0, 40);
  return name === '' ? 'Unknown' : `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function vttTime(seconds: number): string {
  const ms = Math.round(seconds * 1_000);
  const part = (value: number, digits: number) => String(value).padStart(digits, '0');
  const hours = part(Math.floor(ms / 3_600_000), 2);
  return `${hours}:${part(Math.floor(ms / 60_000) % 60, 2)}:${part(Math.floor(ms / 1_000) % 60, 2)}.${part(ms % 1_000, 3)}`;
}

/** A text may not end its line, and in WebVTT a blank line would end the cue. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
