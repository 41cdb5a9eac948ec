import { type Static, type TSchema, Type } from 'typebox';
import { PHONE_NUMBER_PATTERN } from '../../contracts/system-settings.ts';

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Host name or address with an optional port, as a SIP request goes there: no scheme, no user. */
const SIP_ADDRESS_PATTERN = '^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$';
const NETWORK_PATTERN = '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)(/[0-9]{1,3})?$';

/** A carrier, a PBX or a gateway that calls come from or go to. */
export const MAX_TRUNKS = 100;
const MAX_TRUNK_NUMBERS = 100;
const MAX_ADDRESSES = 64;
const MAX_DESTINATIONS = 200;

export const Direction = Type.Union([
  Type.Literal('inbound'),
  Type.Literal('outbound'),
  Type.Literal('both'),
]);
export type Direction = Static<typeof Direction>;

export const SipTransport = Type.Union([
  Type.Literal('auto'),
  Type.Literal('udp'),
  Type.Literal('tcp'),
  Type.Literal('tls'),
]);
export type SipTransport = Static<typeof SipTransport>;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
  direction: Direction,
  enabled: Type.Boolean({ description: 'A disabled trunk is taken out of the media server' }),
  address: Nullable(
    Type.String({
      maxLength: 253,
      pattern: SIP_ADDRESS_PATTERN,
      description: 'Where calls are sent to, `sip.carrier.example:5060`; needed to dial',
    }),
  ),
  transport: SipTransport,
  auth_username: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Of an inbound trunk: what callers must send. Of any other: what is sent to the carrier when it asks',
    }),
  ),
  allowed_addresses: Type.Array(Type.String({ maxLength: 50, pattern: NETWORK_PATTERN }), {
    maxItems: MAX_ADDRESSES,
    description: 'Addresses and networks that may call in; none named means all',
  }),
  numbers: Type.Array(Type.String({ pattern: PHONE_NUMBER_PATTERN }), {
    maxItems: MAX_TRUNK_NUMBERS,
    description: 'Caller IDs for dialling; the first is used where a call names none',
  }),
  destinations: Type.Array(Type.String({ pattern: '^\\+?[0-9]{1,15}$' }), {
    maxItems: MAX_DESTINATIONS,
    description: 'What numbers that are dialled must begin with; none named means all',
  }),
  default_outbound: Type.Boolean({
    description:
      'Outbound calls go through this trunk; at most one has it, setting it takes it from the other',
  }),
};

const Password = Nullable(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[\\x20-\\x7e]+$',
    writeOnly: true,
    description: 'Never shown again; null takes it away',
  }),
);

const { name, direction, ...settable } = fields;

/** Body of `POST /api/v1/trunks`. */
export const NewTrunk = Type.Object(
  {
    name,
    direction,
    ...optional(settable),
    auth_password: Type.Optional(Password),
  },
  { title: 'NewTrunk', additionalProperties: false },
);
export type NewTrunk = Static<typeof NewTrunk>;

/** Body of `PATCH /api/v1/trunks/{trunk_id}`: what is absent stays. */
export const TrunkChange = Type.Object(
  { ...optional(fields), auth_password: Type.Optional(Password) },
  { title: 'TrunkChange', additionalProperties: false },
);
export type TrunkChange = Static<typeof TrunkChange>;

export const SyncState = Type.Object(
  {
    state: Type.Union(
      [
        Type.Literal('in_sync'),
        Type.Literal('waiting'),
        Type.Literal('failed'),
        Type.Literal('off'),
        Type.Literal('not_configured'),
      ],
      {
        description:
          '`in_sync`: the media server has it as it stands here. `waiting`: it will be brought there. `failed`: `error` says why. `off`: there is nothing to bring, since it is disabled or has no numbers. `not_configured`: no media server is set up',
      },
    ),
    at: Nullable(Type.String({ description: 'When this was last found out' })),
    error: Nullable(Type.String()),
    inbound_trunk_id: Nullable(Type.String({ description: 'Id in the media server' })),
    outbound_trunk_id: Nullable(Type.String({ description: 'Id in the media server' })),
  },
  { title: 'TrunkSync' },
);
export type SyncState = Static<typeof SyncState>;

export const TrunkView = Type.Object(
  {
    id: Type.String(),
    ...fields,
    auth_password_set: Type.Boolean(),
    sync: SyncState,
    version: Type.Integer({ minimum: 1 }),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'Trunk' },
);
export type TrunkView = Static<typeof TrunkView>;

/** A trunk as it is kept; the password sealed. */
export interface Trunk {
  id: string;
  name: string;
  direction: Direction;
  enabled: boolean;
  address: string | null;
  transport: SipTransport;
  auth_username: string | null;
  auth_password: string | null;
  allowed_addresses: string[];
  numbers: string[];
  destinations: string[];
  default_outbound: boolean;
  version: number;
  created_at: string;
  updated_at: string;
}

export function takesCalls(trunk: Pick<Trunk, 'direction'>): boolean {
  return trunk.direction !== 'outbound';
}

export function dials(trunk: Pick<Trunk, 'direction'>): boolean {
  return trunk.direction !== 'inbound';
}

/** Each field may be left out. */
function optional<T extends Record<string, TSchema>>(
  schemas: T,
): { [K in keyof T]: ReturnType<typeof Type.Optional<T[K]>> } {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, Type.Optional(schema)])) as {
    [K in keyof T]: ReturnType<typeof Type.Optional<T[K]>>;
  };
}
