import { type Static, Type } from 'typebox';

/**
 * What a bot can do besides talking (D-26). A slot offers these to the language model; texts with
 * `{{namespace.field}}` are filled by the slot when the tool runs, from the context maps of the config.
 */
const ToolName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' });

/** The tools that the platform itself brings: R11 to R14, and ours beside them for keypads. */
export const BUILT_IN_TOOLS = [
  'end_call',
  'transfer_call',
  'detected_voicemail',
  'search_knowledge',
  'collect_digits',
  'send_dtmf',
] as const;
export type BuiltInToolName = (typeof BUILT_IN_TOOLS)[number];

export const BuiltInTool = Type.Object(
  {
    type: Type.Literal('built_in'),
    name: Type.Union([
      Type.Literal('end_call'),
      Type.Literal('transfer_call'),
      Type.Literal('detected_voicemail'),
      Type.Literal('search_knowledge'),
      Type.Literal('collect_digits'),
      Type.Literal('send_dtmf'),
    ]),
    description: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'What the language model is told instead of the standard text',
      }),
    ),
  },
  {
    title: 'BuiltInTool',
    additionalProperties: false,
    description: 'A tool of the platform; its parameters are added when the config is served',
    examples: [
      { type: 'built_in', name: 'end_call', description: 'End the call once the caller has said goodbye.' },
    ],
  },
);

export const HttpTool = Type.Object(
  {
    type: Type.Literal('http'),
    name: ToolName,
    description: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Tells the language model when to use it',
    }),
    parameters: Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON Schema of the arguments, `type: object`; an argument is `{{args.name}}` below',
    }),
    method: Type.Union([
      Type.Literal('GET'),
      Type.Literal('POST'),
      Type.Literal('PUT'),
      Type.Literal('PATCH'),
      Type.Literal('DELETE'),
    ]),
    url: Type.String({
      maxLength: 2_000,
      pattern: '^https?://[^/?#@{}\\s\\\\]+([/?#][^\\s\\\\]*)?$',
      description: 'Template with a fixed host; values are percent-encoded',
    }),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
        Type.String({ maxLength: 2_000 }),
        {
          maxProperties: 20,
          description:
            'Templates; `{{secret.NAME}}` is filled with a secret of the bot when the config is served',
        },
      ),
    ),
    body: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'JSON; each text in it is a template. Without it the arguments are sent',
      }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 30_000,
        description: 'Without an answer by then the tool has failed (6000)',
      }),
    ),
    side_effect: Type.Optional(
      Type.Boolean({ description: 'It changes something, so an interruption never cancels it (false)' }),
    ),
    filler: Type.Optional(
      Type.String({ maxLength: 300, description: 'Spoken while the caller would otherwise wait in silence' }),
    ),
  },
  {
    title: 'HttpTool',
    additionalProperties: false,
    description: 'A request to a server of the customer; its answer goes back to the language model',
    examples: [
      {
        type: 'http',
        name: 'book_visit',
        description: 'Book a visit once the caller has agreed to a day.',
        parameters: {
          type: 'object',
          properties: { day: { type: 'string', format: 'date' } },
          required: ['day'],
        },
        method: 'POST',
        url: 'https://crm.example.com/customers/{{crm.id}}/visits',
        headers: { authorization: 'Bearer {{secret.crm_token}}' },
        body: { day: '{{args.day}}', phone: '{{call.caller_id}}' },
        timeout_ms: 4_000,
        side_effect: true,
        filler: 'One moment, I am writing that down.',
      },
    ],
  },
);
export type HttpTool = Static<typeof HttpTool>;

export const BotTool = Type.Union([BuiltInTool, HttpTool]);
export type BotTool = Static<typeof BotTool>;
