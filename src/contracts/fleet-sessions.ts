import { type Static, Type } from 'typebox';

const Sessions = (description: string) => Type.Array(Type.String(), { description });

/** Answer of `GET /sessions`: what a host still has of calls. A call is in both lists, or in the second alone. */
export const HostSessions = Type.Object(
  {
    live: Sessions('Their callers may be talking, with the bot or with an agent'),
    owed: Sessions('Their results have not been delivered yet'),
  },
  { title: 'HostSessions', additionalProperties: true },
);
export type HostSessions = Static<typeof HostSessions>;
