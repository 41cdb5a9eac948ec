import type { CallRecord } from './call-record-schema.ts';

/** A conversation to read: `[0:12] Bot: …`, one line per entry. */
export function transcriptText(record: CallRecord): string {
  const lines = entriesOf(record).map(
    (entry) => `[${clock(entry.timestamp)}] ${speakerName(entry.speaker)}: ${oneLine(entry.text)}`,
  );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** WebVTT beside the recording (W3C WebVTT section 4): one cue per entry, spoken by a voice. */
export function transcriptVtt(record: CallRecord): string {
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
