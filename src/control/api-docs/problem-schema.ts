import { Type } from 'typebox';

/** The one error body (D-27) as the API document shows it. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence: what is wrong and what to do' }),
    code: Type.String({ description: 'Stable; `docs/errors.md` lists all' }),
    request_id: Type.String({ description: 'Also in the log of the server' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
          msg: Type.String(),
          type: Type.String(),
          pointer: Type.String({ description: 'JSON pointer into the body' }),
        }),
        { description: 'Every issue of a request that does not fit, with its place' },
      ),
    ),
  },
  { title: 'Problem', description: 'An error (RFC 9457)', additionalProperties: true },
);

/** Errors of the fleet ingress: the word of the interface (R162), and the code of the catalogue. */
export const FleetErrorSchema = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    detail: Type.Optional(Type.String()),
    retry_after_seconds: Type.Optional(Type.Integer()),
  },
  { title: 'FleetError', additionalProperties: true },
);
