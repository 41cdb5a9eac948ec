import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { newId } from '../../platform/secret-token.ts';
import { causedBy } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import {
  type CreatedPosition,
  DEFAULT_PAGE,
  PAGE_QUERY,
  Page,
  pageOf,
  readCreatedPosition,
} from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import { dials, MAX_TRUNKS, NewTrunk, type Trunk, TrunkChange, TrunkView } from './trunk.ts';
import { noSuchTrunk, type TrunkStore } from './trunk-store.ts';
import type { TrunkSync } from './trunk-sync.ts';

export interface TrunkRouteParts {
  trunks: TrunkStore;
  sync: TrunkSync;
  box: SecretBox;
  nowIso: () => string;
}

export const TRUNKS_PATH = `${API_PREFIX}/trunks`;
export const TRUNKS_TAG = 'Trunks and numbers';
export const ADMIN_AND_SUPERVISOR = { kind: 'users', roles: ['admin', 'supervisor'] } as const;
export const TrunkId = Type.Object({ trunk_id: Type.String({ pattern: '^trk_[0-9a-f]{24}$' }) });

const EXAMPLE: NewTrunk = {
  name: 'Carrier in Pune',
  direction: 'both',
  address: 'sip.carrier.example:5060',
  transport: 'udp',
  auth_username: 'trunkline',
  auth_password: 'the password of the carrier',
  allowed_addresses: ['203.0.113.0/28'],
  numbers: ['+911140000000'],
  destinations: ['+91'],
  default_outbound: true,
};

/** `/api/v1/trunks` (docs/media-server.md, "Trunks and numbers"): where calls come from and go to. */
export function trunkRoutes(parts: TrunkRouteParts): AnyRoute[] {
  const { trunks, sync, nowIso } = parts;
  const view = (trunk: Trunk) => trunkView(trunk, parts.sync);
  return [
    route({
      method: 'GET',
      path: TRUNKS_PATH,
      operationId: 'listTrunks',
      summary: 'All SIP trunks, newest first, each with its state in the media server',
      tag: TRUNKS_TAG,
      auth: ADMIN_AND_SUPERVISOR,
      query: Type.Object(PAGE_QUERY),
      responses: { 200: { description: 'A page', schema: Page(TrunkView) } },
      async handler({ query }) {
        const limit = query.limit ?? DEFAULT_PAGE;
        const all = await trunks.all();
        const from = query.cursor === undefined ? 0 : placeAfter(all, readCreatedPosition(query.cursor));
        const found = all.slice(from, from + limit + 1);
        return { status: 200, json: pageOf(found, limit, view, (last) => [last.created_at, last.id]) };
      },
    }),
    route({
      method: 'POST',
      path: TRUNKS_PATH,
      operationId: 'createTrunk',
      summary: 'Add a SIP trunk',
      description:
        'It is brought into the media server within a second; `sync` of the trunk says how that went. Numbers that are called come by `POST /api/v1/numbers`.',
      tag: TRUNKS_TAG,
      auth: ADMIN,
      idempotent: true,
      body: { schema: NewTrunk, maxBytes: MAX_BODY_BYTES, example: EXAMPLE },
      responses: {
        201: { description: 'The trunk', schema: TrunkView, headers: { etag: 'For `If-Match`' } },
        409: { description: `There are ${MAX_TRUNKS} trunks already` },
      },
      async handler(request) {
        const { auth_password: password, ...body } = request.body;
        const now = nowIso();
        const trunk: Trunk = {
          ...DEFAULTS,
          ...body,
          id: newId('trk_'),
          auth_password: password == null ? null : parts.box.seal(password),
          version: 1,
          created_at: now,
          updated_at: now,
        };
        checkTrunk(trunk);
        await trunks.insert(trunk, causedBy(request, 'trunk.create'));
        sync.wake();
        return {
          status: 201,
          headers: { etag: etagOf(1), location: `${TRUNKS_PATH}/${trunk.id}` },
          json: view(trunk),
        };
      },
    }),
    route({
      method: 'GET',
      path: `${TRUNKS_PATH}/{trunk_id}`,
      operationId: 'getTrunk',
      summary: 'One SIP trunk',
      tag: TRUNKS_TAG,
      auth: ADMIN_AND_SUPERVISOR,
      params: TrunkId,
      responses: {
        200: { description: 'The trunk', schema: TrunkView, headers: { etag: 'For `If-Match`' } },
      },
      async handler({ params }) {
        const trunk = await trunks.get(params.trunk_id);
        if (!trunk) throw noSuchTrunk();
        return { status: 200, headers: { etag: etagOf(trunk.version) }, json: view(trunk) };
      },
    }),
    route({
      method: 'PATCH',
      path: `${TRUNKS_PATH}/{trunk_id}`,
      operationId: 'updateTrunk',
      summary: 'Change a SIP trunk',
      description:
        'Fields that are absent stay. Calls that run go on as they are; the next call uses the change.',
      tag: TRUNKS_TAG,
      auth: ADMIN,
      params: TrunkId,
      body: { schema: TrunkChange, maxBytes: MAX_BODY_BYTES, example: { enabled: false } },
      responses: {
        200: { description: 'The trunk', schema: TrunkView, headers: { etag: 'For `If-Match`' } },
        412: { description: 'It has changed meanwhile' },
      },
      async handler(request) {
        const { auth_password: password, ...body } = request.body;
        const sealed = password === undefined ? {} : { auth_password: password && parts.box.seal(password) };
        const change = (before: Trunk): Trunk => {
          requireMatch(request.headers, before.version);
          const after = { ...before, ...body, ...sealed, updated_at: nowIso() };
          checkTrunk(after);
          return after;
        };
        const after = await trunks.update(request.params.trunk_id, change, causedBy(request, 'trunk.update'));
        sync.wake();
        return { status: 200, headers: { etag: etagOf(after.version) }, json: view(after) };
      },
    }),
    route({
      method: 'DELETE',
      path: `${TRUNKS_PATH}/{trunk_id}`,
      operationId: 'deleteTrunk',
      summary: 'Remove a SIP trunk',
      tag: TRUNKS_TAG,
      auth: ADMIN,
      params: TrunkId,
      responses: {
        204: { description: 'It is gone, and goes from the media server' },
        409: { description: 'Numbers lead through it' },
        412: { description: 'It has changed meanwhile' },
      },
      async handler(request) {
        const check = (before: Trunk) => requireMatch(request.headers, before.version);
        await trunks.remove(request.params.trunk_id, check, causedBy(request, 'trunk.delete'));
        sync.wake();
        return { status: 204 };
      },
    }),
  ];
}

const MAX_BODY_BYTES = 65_536;

const DEFAULTS = {
  enabled: true,
  address: null,
  transport: 'auto' as const,
  auth_username: null,
  allowed_addresses: [] as string[],
  numbers: [] as string[],
  destinations: [] as string[],
  default_outbound: false,
};

export function trunkView({ auth_password: password, ...trunk }: Trunk, sync: TrunkSync): TrunkView {
  return {
    ...trunk,
    auth_password_set: password !== null,
    sync: sync.state({ ...trunk, auth_password: password }),
  };
}

/** What no single field can say. */
function checkTrunk(trunk: Trunk): void {
  if (dials(trunk)) {
    if (trunk.address === null) throw invalidBody('/address', 'a trunk that dials needs an address');
    if (trunk.numbers.length === 0) {
      throw invalidBody(
        '/numbers',
        'a trunk that dials needs a number, the caller ID where a call names none',
      );
    }
  } else if (trunk.default_outbound) {
    throw invalidBody(
      '/default_outbound',
      'this trunk does not dial; give it the direction both or outbound',
    );
  }
  if ((trunk.auth_username === null) !== (trunk.auth_password === null)) {
    throw invalidBody('/auth_password', 'auth_username and auth_password belong together; set both or none');
  }
}

function placeAfter(all: readonly Trunk[], { created_at, id }: CreatedPosition): number {
  const next = all.findIndex(
    (trunk) => trunk.created_at < created_at || (trunk.created_at === created_at && trunk.id < id),
  );
  return next === -1 ? all.length : next;
}
