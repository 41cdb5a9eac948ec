import { createHash } from 'node:crypto';
import type { CallRow } from './call-record-schema.ts';

/**
 * What a call can be found by. A term is one text, `b:demo` for the bot `demo`; the index holds
 * `[term, created_at, session_id]`, so that each term is a list of calls in the order of time.
 */
export type TermField = keyof typeof PREFIXES;

const PREFIXES = {
  bot_id: 'b',
  status: 's',
  disconnected_by: 'd',
  disposition: 'p',
  call_direction: 'i',
  caller_id: 'c',
  tag: 't',
  campaign_id: 'm',
  agent_id: 'a',
  duration: 'l',
  recording_key: 'r',
} as const;

/** All terms of a call. */
export function termsOf(row: CallRow): string[] {
  const terms = [
    termOf('bot_id', row.bot_id),
    termOf('status', row.status),
    termOf('call_direction', row.call_direction),
    ...row.tags.map((tag) => termOf('tag', tag)),
  ];
  const optional: [TermField, string | null | undefined][] = [
    ['caller_id', row.caller_id],
    ['disconnected_by', row.disconnected_by],
    ['disposition', row.disposition],
    ['campaign_id', row.campaign_id],
    ['agent_id', row.agent?.id],
    ['recording_key', row.recording_key],
  ];
  for (const [field, value] of optional) if (value) terms.push(termOf(field, value));
  if (row.call_duration_seconds !== null) terms.push(durationTerm(bucketOf(row.call_duration_seconds)));
  return terms;
}

/**
 * The term of a value. Texts that are long or not plain come in as their hash: keys are bounded, and the row is compared
 * with the value itself anyway.
 */
export function termOf(field: TermField, value: string): string {
  const plain = value.length <= MAX_PLAIN_CHARS && /^[\x20-\x7d]*$/.test(value);
  return `${PREFIXES[field]}:${plain ? value : `#${createHash('sha256').update(value).digest('hex')}`}`;
}

/** The terms of every length of call that may lie in the range, in seconds, both ends included. */
export function durationTerms(min: number, max: number): string[] {
  const terms: string[] = [];
  for (let bucket = bucketOf(min); bucket <= bucketOf(max); bucket++) terms.push(durationTerm(bucket));
  return terms;
}

const MAX_PLAIN_CHARS = 80;

/** Lower ends of the lengths that share a term, in seconds: narrow where most calls are. */
const BUCKETS = [0, 1, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1_200, 1_800, 3_600];

function bucketOf(seconds: number): number {
  return Math.max(
    0,
    BUCKETS.findLastIndex((low) => seconds >= low),
  );
}

function durationTerm(bucket: number): string {
  return `${PREFIXES.duration}:${bucket}`;
}
