import { Type } from 'typebox';
import type { Bot } from '../../contracts/bot.ts';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { newId } from '../../platform/secret-token.ts';
import { causedBy } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { DEFAULT_PAGE, PAGE_QUERY, Page, pageOf, readTextPosition } from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import { MAX_NUMBERS, NewNumber, NumberChange, PhoneNumber } from './number.ts';
import { type NumberStore, noSuchNumber } from './number-store.ts';
import { takesCalls } from './trunk.ts';
import { ADMIN_AND_SUPERVISOR, TRUNKS_TAG } from './trunk-routes.ts';
import type { TrunkStore } from './trunk-store.ts';
import type { TrunkSync } from './trunk-sync.ts';

export interface NumberRouteParts {
  numbers: NumberStore;
  trunks: Pick<TrunkStore, 'get'>;
  sync: Pick<TrunkSync, 'wake'>;
  bot: (id: string) => Promise<Bot | null>;
  nowIso: () => string;
}

const NUMBERS_PATH = `${API_PREFIX}/numbers`;
const NumberId = Type.Object({ number_id: Type.String({ pattern: '^num_[0-9a-f]{24}$' }) });
const MAX_BODY_BYTES = 16_384;

/** `/api/v1/numbers` (docs/media-server.md, "Trunks and numbers"): which bot answers which number. */
export function numberRoutes(parts: NumberRouteParts): AnyRoute[] {
  const { numbers, sync, nowIso } = parts;
  return [
    route({
      method: 'GET',
      path: NUMBERS_PATH,
      operationId: 'listNumbers',
      summary: 'All numbers that bots answer, in the order of their digits',
      tag: TRUNKS_TAG,
      auth: ADMIN_AND_SUPERVISOR,
      query: Type.Object(PAGE_QUERY),
      responses: { 200: { description: 'A page', schema: Page(PhoneNumber) } },
      async handler({ query }) {
        const limit = query.limit ?? DEFAULT_PAGE;
        const after = query.cursor === undefined ? {} : { after: readTextPosition(query.cursor) };
        const found = await numbers.list({ limit: limit + 1, ...after });
        return {
          status: 200,
          json: pageOf(
            found,
            limit,
            (number) => number,
            (last) => last.number,
          ),
        };
      },
    }),
    route({
      method: 'POST',
      path: NUMBERS_PATH,
      operationId: 'createNumber',
      summary: 'Let a bot answer a number',
      description:
        'With `trunk_id` the number is brought into the media server; calls to numbers that are not there are refused by its SIP service.',
      tag: TRUNKS_TAG,
      auth: ADMIN,
      idempotent: true,
      body: {
        schema: NewNumber,
        maxBytes: MAX_BODY_BYTES,
        example: { number: '+911140001234', bot_id: 'demo', label: 'Front desk' },
      },
      responses: {
        201: { description: 'The number', schema: PhoneNumber, headers: { etag: 'For `If-Match`' } },
        409: { description: `The number is there already, or there are ${MAX_NUMBERS} of them` },
      },
      async handler(request) {
        const now = nowIso();
        const number: PhoneNumber = {
          label: '',
          enabled: true,
          fallback_bot_id: null,
          trunk_id: null,
          ...request.body,
          id: newId('num_'),
          version: 1,
          created_at: now,
          updated_at: now,
        };
        await checkNumber(parts, number);
        await numbers.insert(number, causedBy(request, 'number.create'));
        sync.wake();
        return {
          status: 201,
          headers: { etag: etagOf(1), location: `${NUMBERS_PATH}/${number.id}` },
          json: number,
        };
      },
    }),
    route({
      method: 'GET',
      path: `${NUMBERS_PATH}/{number_id}`,
      operationId: 'getNumber',
      summary: 'One number',
      tag: TRUNKS_TAG,
      auth: ADMIN_AND_SUPERVISOR,
      params: NumberId,
      responses: {
        200: { description: 'The number', schema: PhoneNumber, headers: { etag: 'For `If-Match`' } },
      },
      async handler({ params }) {
        const number = await numbers.get(params.number_id);
        if (!number) throw noSuchNumber();
        return { status: 200, headers: { etag: etagOf(number.version) }, json: number };
      },
    }),
    route({
      method: 'PATCH',
      path: `${NUMBERS_PATH}/{number_id}`,
      operationId: 'updateNumber',
      summary: 'Give a number another bot, label or trunk',
      description: 'Fields that are absent stay. The next call obeys.',
      tag: TRUNKS_TAG,
      auth: ADMIN,
      params: NumberId,
      body: { schema: NumberChange, maxBytes: MAX_BODY_BYTES, example: { bot_id: 'demo' } },
      responses: {
        200: { description: 'The number', schema: PhoneNumber, headers: { etag: 'For `If-Match`' } },
        412: { description: 'It has changed meanwhile' },
      },
      async handler(request) {
        const { body, headers } = request;
        await checkNumber(parts, body);
        const change = (before: PhoneNumber): PhoneNumber => {
          requireMatch(headers, before.version);
          return { ...before, ...body, updated_at: nowIso() };
        };
        const after = await numbers.update(
          request.params.number_id,
          change,
          causedBy(request, 'number.update'),
        );
        sync.wake();
        return { status: 200, headers: { etag: etagOf(after.version) }, json: after };
      },
    }),
    route({
      method: 'DELETE',
      path: `${NUMBERS_PATH}/{number_id}`,
      operationId: 'deleteNumber',
      summary: 'Remove a number; calls to it are refused from then on',
      tag: TRUNKS_TAG,
      auth: ADMIN,
      params: NumberId,
      responses: { 204: { description: 'It is gone' }, 412: { description: 'It has changed meanwhile' } },
      async handler(request) {
        const check = (before: PhoneNumber) => requireMatch(request.headers, before.version);
        await numbers.remove(request.params.number_id, check, causedBy(request, 'number.delete'));
        sync.wake();
        return { status: 204 };
      },
    }),
  ];
}

/** Bots and trunk must be there now; one that is removed later is told by the call. */
async function checkNumber(parts: NumberRouteParts, fields: NumberChange): Promise<void> {
  for (const name of ['bot_id', 'fallback_bot_id'] as const) {
    const id = fields[name];
    if (id == null || (await parts.bot(id))) continue;
    throw invalidBody(`/${name}`, 'there is no published bot with this id');
  }
  if (fields.trunk_id == null) return;
  const trunk = await parts.trunks.get(fields.trunk_id);
  if (!trunk) throw invalidBody('/trunk_id', 'there is no trunk with this id');
  if (!takesCalls(trunk))
    throw invalidBody('/trunk_id', 'this trunk takes no calls; its direction is outbound');
}
