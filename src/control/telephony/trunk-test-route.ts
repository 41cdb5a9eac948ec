import { type TSchema, Type } from 'typebox';
import { PHONE_NUMBER_PATTERN } from '../../contracts/system-settings.ts';
import { AppError, describeError } from '../../platform/app-error.ts';
import { MediaServer } from '../../platform/media-server.ts';
import { ADMIN } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import type { SystemSettings } from '../settings/system-settings.ts';
import { mediaAccess } from './media-access.ts';
import { mayDial } from './media-setup.ts';
import { type RingOutcome, ringOnce } from './ring-once.ts';
import { sendOptions } from './sip-options.ts';
import { dials, type Trunk } from './trunk.ts';
import { TRUNKS_PATH, TRUNKS_TAG, TrunkId } from './trunk-routes.ts';
import { noSuchTrunk, type TrunkStore } from './trunk-store.ts';
import type { SyncedTrunks } from './trunk-sync.ts';

export interface TrunkTestParts {
  trunks: Pick<TrunkStore, 'get'>;
  synced: SyncedTrunks;
  settings: () => Promise<SystemSettings>;
}

/** A test is a request to somebody else, and a test call rings. */
const TESTS_PER_MINUTE = 30;

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const TrunkTest = Type.Object(
  {
    options: Nullable(
      Type.Object({
        outcome: Type.Union([Type.Literal('answers'), Type.Literal('silent'), Type.Literal('failed')]),
        status: Nullable(
          Type.Integer({ description: 'SIP status; any at all shows that the other side is there' }),
        ),
        detail: Type.String(),
        ms: Type.Integer(),
      }),
    ),
    call: Nullable(
      Type.Object({
        outcome: Type.Union([
          Type.Literal('rang'),
          Type.Literal('answered'),
          Type.Literal('refused'),
          Type.Literal('failed'),
        ]),
        sip_code: Nullable(Type.Integer()),
        sip_status: Nullable(Type.String()),
        detail: Type.String(),
        ms: Type.Integer(),
      }),
    ),
  },
  { title: 'TrunkTest' },
);

/** `POST /api/v1/trunks/{trunk_id}/test` (docs/media-server.md, "Trunks and numbers"). */
export function trunkTestRoute(parts: TrunkTestParts): AnyRoute {
  return route({
    method: 'POST',
    path: `${TRUNKS_PATH}/{trunk_id}/test`,
    operationId: 'testTrunk',
    summary: 'Try a SIP trunk: OPTIONS to its address, or a call that rings once',
    description:
      'Without `to_number` its address is asked by OPTIONS, from the control plane, and nothing rings. With it the SIP service of the media server rings that telephone once. Whatever is found is a 200.',
    tag: TRUNKS_TAG,
    auth: ADMIN,
    rateLimit: TESTS_PER_MINUTE,
    params: TrunkId,
    body: {
      schema: Type.Object(
        {
          to_number: Type.Optional(
            Type.String({ pattern: PHONE_NUMBER_PATTERN, description: 'Telephone that rings once' }),
          ),
        },
        { additionalProperties: false },
      ),
      optional: true,
      example: {},
    },
    responses: { 200: { description: 'What was found', schema: TrunkTest } },
    async handler({ params, body }) {
      const trunk = await parts.trunks.get(params.trunk_id);
      if (!trunk) throw noSuchTrunk();
      if (body?.to_number !== undefined) {
        return { status: 200, json: { options: null, call: await testCall(parts, trunk, body.to_number) } };
      }
      const options = trunk.address === null ? null : await optionsOf(trunk.address, trunk);
      return { status: 200, json: { options, call: null } };
    },
  });
}

async function optionsOf(address: string, trunk: Trunk) {
  const found = await sendOptions(address, trunk.transport);
  switch (found.outcome) {
    case 'answers':
      return {
        outcome: found.outcome,
        status: found.status,
        detail: `it answers ${found.status} ${found.reason}`,
        ms: found.ms,
      };
    case 'silent':
      return {
        outcome: found.outcome,
        status: null,
        detail: 'nothing came back; some carriers do not answer OPTIONS',
        ms: found.ms,
      };
    case 'failed':
      return { outcome: found.outcome, status: null, detail: found.detail, ms: found.ms };
  }
}

async function testCall(parts: TrunkTestParts, trunk: Trunk, to: string): Promise<RingOutcome> {
  if (!dials(trunk)) throw invalidBody('/to_number', 'this trunk does not dial; its direction is inbound');
  if (!mayDial(trunk, to)) {
    throw invalidBody('/to_number', 'this trunk does not dial this destination; see its `destinations`');
  }
  const failed = (detail: string): RingOutcome => ({
    outcome: 'failed',
    sip_code: null,
    sip_status: null,
    detail,
    ms: 0,
  });
  const access = mediaAccess(await parts.settings());
  if (access === null) return failed('no media server is set up');
  const trunkId = parts.synced.outboundId(trunk.id, access.url);
  if (trunkId === null) return failed('the trunk is not in the media server yet; its `sync` says why');
  try {
    return await ringOnce(new MediaServer(access), { trunkId, from: trunk.numbers[0] ?? '', to });
  } catch (error) {
    if (error instanceof AppError) throw error;
    return failed(`the media server does not answer: ${describeError(error)}`);
  }
}
