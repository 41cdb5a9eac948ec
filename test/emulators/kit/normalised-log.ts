import type { LogEntry } from './frame-log.ts';

/** Headers that say who connects and how, not what is asked; two clients may differ in them. */
const PRIVATE_HEADERS =
  /^(host|connection|upgrade|user-agent|accept|accept-.*|content-length|transfer-encoding|origin|cache-control|pragma|sec-fetch-.*|sec-websocket-(key|version|extensions)|x-fern-.*|x-deepgram-.*|x-stainless-.*|x-goog-api-client|x-app|date|traceparent)$/;

/** Keys whose values a client makes up anew for each run. */
const VARYING_ASKED = /^(id|request_?id|context_?id|event_id|session_id|client_reference_id|timestamp)$/i;

/** Keys whose values in a vendor's messages differ from run to run. */
const VARYING_ANSWERED =
  /^(request_?id|id|.*_id|created|timestamp|occured_at|sha256|transaction_key|start|end|duration|.*_ms|.*_s|audio_window_.*|last_word_end)$/i;

/** Keys that hold audio as base64. */
const AUDIO_KEYS = /^(audio|data)$/;
const LONG_BASE64 = /^[A-Za-z0-9+/=_-]{40,}$/;

/**
 * The log as lines that two clients of one protocol share: headers that merely introduce the client are left out,
 * names sorted, ids and times replaced, and runs of audio folded into one line however they were cut.
 */
export function normalisedLines(entries: readonly LogEntry[], only?: 'client'): string[] {
  const lines: string[] = [];
  const ended = new Set<number>();
  for (const entry of entries) {
    // The echo of the vendor's own close, or the trace of a cut, is nothing that the client did.
    if (entry.direction === 'out' && (entry.kind === 'close' || entry.kind === 'fault'))
      ended.add(entry.connection);
    if (entry.direction === 'in' && entry.kind === 'close' && ended.has(entry.connection)) continue;
    if (only && entry.direction === 'out') continue;
    for (const line of linesOf(entry)) {
      const folds = line.endsWith(' audio') || line.endsWith(' chunk');
      if (!folds || lines.at(-1) !== line) lines.push(line);
    }
  }
  return lines;
}

function linesOf(entry: LogEntry): string[] {
  const arrow = entry.direction === 'in' ? '>' : '<';
  switch (entry.kind) {
    case 'handshake':
    case 'request': {
      const query = [...(entry.query ?? [])]
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join('&');
      const headers = Object.entries(entry.headers ?? {})
        .filter(([name]) => !PRIVATE_HEADERS.test(name))
        .map(([name, value]) => `${arrow} ${name}: ${value.replace(/boundary=\S+/, 'boundary=*')}`)
        .sort();
      const body = entry.json === undefined ? [] : [`${arrow} body ${masked(entry.json, entry.direction)}`];
      return [`${arrow} ${entry.method ?? 'GET'} ${entry.path}${query && `?${query}`}`, ...headers, ...body];
    }
    case 'binary':
      return [entry.bytes === 0 ? `${arrow} empty binary` : `${arrow} audio`];
    case 'text':
      if (entry.json === undefined) return [`${arrow} text ${JSON.stringify(entry.text ?? '')}`];
      return [
        isAudio(entry.json) ? `${arrow} json audio` : `${arrow} ${masked(entry.json, entry.direction)}`,
      ];
    case 'chunk':
      return [`${arrow} chunk`];
    case 'close':
      return [`${arrow} close ${entry.code}`];
    case 'ping':
    case 'pong':
      return [];
    default:
      return [
        `${arrow} ${entry.kind}${entry.status === undefined ? '' : ` ${entry.status}`}${entry.fault ? ` ${entry.fault}` : ''}`,
      ];
  }
}

function masked(value: unknown, direction: LogEntry['direction']): string {
  const varying = direction === 'in' ? VARYING_ASKED : VARYING_ANSWERED;
  return JSON.stringify(value, (key, item: unknown) => {
    if (varying.test(key) && (typeof item === 'string' || typeof item === 'number')) return '*';
    if (typeof item === 'object' && item !== null && !Array.isArray(item)) {
      return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    return item;
  });
}

/** A message that is nothing but a carrier of audio, at the top or one level down. */
function isAudio(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false;
  return Object.entries(json).some(
    ([key, value]) =>
      AUDIO_KEYS.test(key) && (typeof value === 'string' ? LONG_BASE64.test(value) : isAudio(value)),
  );
}
