import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { ADMIN } from '../http/authenticate.ts';
import { DEFAULT_PAGE, encodeCursor, PAGE_QUERY, Page, readCountPosition } from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { invalidQuery } from '../http/validation-issues.ts';
import type { AuditLog, AuditQuery } from './audit-log.ts';

const PATH = `${API_PREFIX}/audit-log`;
const TAG = 'audit';

const NullableString = Type.Union([Type.String(), Type.Null()]);
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Entry = Type.Object(
  {
    id: Type.String(),
    seq: Type.Integer(),
    at: Type.String(),
    actor: Type.Object({
      type: Type.Union([
        Type.Literal('public'),
        Type.Literal('core'),
        Type.Literal('user'),
        Type.Literal('api_key'),
      ]),
      id: NullableString,
      name: NullableString,
      ip: NullableString,
    }),
    action: Type.String(),
    target: Type.String(),
    before: Type.Unknown({ description: 'State before, secrets as hashes' }),
    after: Type.Unknown({ description: 'State after, secrets as hashes' }),
    request_id: NullableString,
    prev_hash: Hash,
    hash: Hash,
  },
  { title: 'AuditEntry' },
);
const Head = Type.Object({ seq: Type.Integer(), hash: Hash });
const Time = Type.String({
  maxLength: 40,
  pattern: '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d))?$',
});

/** `/api/v1/audit-log`: who did what. For admins; nobody can change it. */
export function auditRoutes(audit: AuditLog): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: PATH,
      operationId: 'listAuditEntries',
      summary: 'List the audit log, newest first',
      description:
        'A page looks at a bounded number of entries: with a filter that matches little it may hold fewer than `limit`, even none, while `has_more` is true.',
      tag: TAG,
      auth: ADMIN,
      query: Type.Object({
        ...PAGE_QUERY,
        actor_id: Type.Optional(Type.String({ maxLength: 100 })),
        action: Type.Optional(Type.String({ maxLength: 100 })),
        target: Type.Optional(Type.String({ maxLength: 300, description: 'Kind and id, `bot:demo`' })),
        from: Type.Optional(Time),
        to: Type.Optional(Time),
      }),
      responses: { 200: { description: 'A page', schema: Page(Entry) } },
      async handler({ query }) {
        const { items, nextBeforeSeq } = await audit.list({
          limit: query.limit ?? DEFAULT_PAGE,
          ...(query.cursor === undefined ? {} : { beforeSeq: readCountPosition(query.cursor) }),
          ...(query.actor_id === undefined ? {} : { actorId: query.actor_id }),
          ...(query.action === undefined ? {} : { action: query.action }),
          ...(query.target === undefined ? {} : { target: query.target }),
          ...period(query),
        });
        return {
          status: 200,
          json: {
            items,
            next_cursor: nextBeforeSeq === null ? null : encodeCursor(nextBeforeSeq),
            has_more: nextBeforeSeq !== null,
          },
        };
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/verify`,
      operationId: 'verifyAuditLog',
      summary: 'Check the hash chain of the audit log from its first entry to its last',
      description:
        'Write `head` down somewhere else and send it as `anchor_seq` and `anchor_hash` the next time: then even a log that was written anew as a whole is found out.',
      tag: TAG,
      auth: ADMIN,
      query: Type.Object({
        anchor_seq: Type.Optional(Type.Integer({ minimum: 1 })),
        anchor_hash: Type.Optional(Hash),
      }),
      responses: {
        200: {
          description: 'What was found; `ok` says whether the chain holds',
          schema: Type.Object({
            ok: Type.Boolean(),
            checked: Type.Integer(),
            head: Type.Union([Head, Type.Null()]),
            problems: Type.Array(
              Type.Object({ seq: Type.Integer(), kind: Type.String(), sentence: Type.String() }),
            ),
          }),
        },
      },
      async handler({ query }) {
        const { anchor_seq: seq, anchor_hash: hash } = query;
        if ((seq === undefined) !== (hash === undefined)) {
          throw invalidQuery(
            seq === undefined ? 'anchor_seq' : 'anchor_hash',
            'an anchor has a seq and a hash',
          );
        }
        const anchor = seq === undefined || hash === undefined ? {} : { anchor: { seq, hash } };
        return { status: 200, json: await audit.verify(anchor) };
      },
    }),
  ];
}

function period(query: { from?: string; to?: string }): Pick<AuditQuery, 'from' | 'to'> {
  return {
    ...(query.from === undefined ? {} : { from: isoOf('from', query.from) }),
    ...(query.to === undefined ? {} : { to: isoOf('to', query.to) }),
  };
}

function isoOf(name: string, text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw invalidQuery(name, `${name} is no date or time that exists`);
  return new Date(ms).toISOString();
}
