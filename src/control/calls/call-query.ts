import { type Static, Type } from 'typebox';
import { AppError } from '../../platform/app-error.ts';
import { PAGE_QUERY, readCreatedPosition } from '../http/pagination.ts';
import type { Actor } from '../http/route.ts';
import { invalidQuery } from '../http/validation-issues.ts';
import { CallRow, CallStatus, EndedBy, RecordDirection } from './call-record-schema.ts';
import type { CallFilter } from './call-search.ts';
import type { Position } from './position-streams.ts';

/** Alternatives in one filter; each costs a look-up of its own. */
const MAX_VALUES = 10;
const Values = <T extends Parameters<typeof Type.Array>[0]>(item: T, description: string) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: MAX_VALUES, description }));
const Text = Type.String({ minLength: 1, maxLength: 200 });
const Time = Type.String({ format: 'date-time' });

/** The filters of the list, which the export takes too. Repeated keys are alternatives (D-28). */
export const FILTER_FIELDS = {
  bot_id: Values(Text, 'Any of these bots'),
  status: Values(CallStatus, 'Any of these states'),
  disconnected_by: Values(EndedBy, 'Ended by any of these'),
  disposition: Values(Text, 'Any of these dispositions'),
  direction: Values(RecordDirection, 'Who called'),
  tag: Values(Text, 'Has any of these tags'),
  campaign_id: Values(Text, 'Any of these campaigns'),
  caller: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Exactly this caller' })),
  created_from: Type.Optional(Type.Unsafe<string>({ ...Time, description: 'This moment or later' })),
  created_to: Type.Optional(Type.Unsafe<string>({ ...Time, description: 'Before this moment' })),
  min_duration: Type.Optional(Type.Number({ minimum: 0, maximum: 864_000, description: 'Seconds' })),
  max_duration: Type.Optional(Type.Number({ minimum: 0, maximum: 864_000, description: 'Seconds' })),
};

export const CallFilterBody = Type.Object(FILTER_FIELDS, { additionalProperties: false });

export const CallListQuery = Type.Object(
  {
    ...FILTER_FIELDS,
    ...PAGE_QUERY,
    sort: Type.Optional(
      Type.Union([Type.Literal('-created_at'), Type.Literal('created_at')], {
        description: 'Newest first where nothing is said',
      }),
    ),
    include_total: Type.Optional(Type.Boolean({ description: 'Adds `total` and `total_capped`' })),
    fields: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'Names with commas between; only these are sent' }),
    ),
  },
  { additionalProperties: false },
);

/**
 * The filter as the store takes it, narrowed to what the caller may see: agents find their own calls only. Throws
 * `forbidden` where the filter would reveal a number to someone who may not read it.
 */
export function readFilter(query: Static<typeof CallFilterBody>, actor: Actor): CallFilter {
  if (query.caller !== undefined && seesMaskedNumbers(actor)) {
    throw new AppError('forbidden', 'your role sees no telephone numbers and cannot search by one');
  }
  const anyOf = {
    ...(query.bot_id ? { bot_id: query.bot_id } : {}),
    ...(query.status ? { status: query.status } : {}),
    ...(query.disconnected_by ? { disconnected_by: query.disconnected_by } : {}),
    ...(query.disposition ? { disposition: query.disposition } : {}),
    ...(query.direction ? { call_direction: query.direction } : {}),
    ...(query.tag ? { tag: query.tag } : {}),
    ...(query.campaign_id ? { campaign_id: query.campaign_id } : {}),
    ...(query.caller === undefined ? {} : { caller_id: [query.caller] }),
    ...(actor.type === 'user' && actor.role === 'agent' ? { agent_id: [actor.id] } : {}),
  };
  return {
    anyOf,
    ...(query.created_from === undefined ? {} : { createdFrom: utc(query.created_from, 'created_from') }),
    ...(query.created_to === undefined ? {} : { createdTo: utc(query.created_to, 'created_to') }),
    ...(query.min_duration === undefined ? {} : { minDuration: query.min_duration }),
    ...(query.max_duration === undefined ? {} : { maxDuration: query.max_duration }),
  };
}

/** Analysts read records with masked numbers (D-56). */
export function seesMaskedNumbers(actor: Actor): boolean {
  return actor.type === 'user' && actor.role === 'analyst';
}

export function readCursor(cursor: string): Position {
  const { created_at: createdAt, id } = readCreatedPosition(cursor);
  return [createdAt, id];
}

/** The named fields of a row, in the order of the row. */
export function readFields(fields: string | undefined): readonly string[] | null {
  if (fields === undefined) return null;
  const names = fields.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(CallRow.properties, name));
  if (unknown !== undefined)
    throw invalidQuery('fields', 'fields names something that a row of the list has not');
  return [...new Set(names)];
}

function utc(time: string, name: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw invalidQuery(name, `${name} is no time that exists`);
  return new Date(ms).toISOString();
}
