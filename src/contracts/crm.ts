import { type Static, Type } from 'typebox';

/**
 * What a bot says about its CRM (R153, R154, D-26), and what a call record keeps of it.
 * Every text here may hold `{{namespace.field}}`. Before the call the namespaces are `system`, `call` and `crm`; after
 * it `results`, `analysis` and `bot` come in addition. `{{secret.NAME}}` works in header values only.
 */

/**
 * The host of a URL is fixed: a caller who chose it could send the CRM's credentials to a host of their own.
 */
const TEMPLATE_URL = '^https?://[^/?#@{}\\s\\\\]+([/?#][^\\s\\\\]*)?$';

const HeaderTemplates = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  Type.String({ maxLength: 2_000 }),
  { maxProperties: 20, description: 'Headers of the request; the values are templates' },
);

export const CrmPrefetchConfig = Type.Object(
  {
    enabled: Type.Boolean(),
    url: Type.String({
      maxLength: 2_000,
      pattern: TEMPLATE_URL,
      description: 'Template; values are percent-encoded where they stand, and the host is fixed',
    }),
    method: Type.Optional(Type.Union([Type.Literal('GET'), Type.Literal('POST')])),
    headers: Type.Optional(HeaderTemplates),
    body: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'JSON of a POST; each text in it is a template',
      }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 8_000,
        description: 'The call starts without CRM data after this (3000)',
      }),
    ),
    mapping: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' }),
        Type.String({ maxLength: 300 }),
        {
          maxProperties: 200,
          description:
            'CRM field to its dotted place in the answer (`data.0.name`). Without a mapping every value of the answer becomes a field, nested names joined by dots',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'Asked once at call start; what it answers fills `{{crm.*}}`, over what the dialler sent',
  },
);
export type CrmPrefetchConfig = Static<typeof CrmPrefetchConfig>;

export const CRM_PREFETCH_EXAMPLE: CrmPrefetchConfig = {
  enabled: true,
  url: 'https://crm.example.com/customers?phone={{call.caller_id}}',
  method: 'GET',
  headers: { authorization: 'Bearer {{secret.crm_token}}' },
  timeout_ms: 2_000,
  mapping: { CUSTOMERNAME: 'customer.name', due_amount: 'loans.0.due' },
};

export const PostCallPush = Type.Object(
  {
    enabled: Type.Boolean(),
    push_url: Type.String({ maxLength: 2_000, pattern: TEMPLATE_URL, description: 'As in the pre-fetch' }),
    headers: Type.Optional(HeaderTemplates),
    key_mapper: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description:
          'The JSON that is sent; each text in it is a template. A text that is one variable keeps the type of its value. Without a mapper the call results payload is sent',
      }),
    ),
    missing: Type.Optional(
      Type.Union([Type.Literal('literal'), Type.Literal('null'), Type.Literal('omit')], {
        description:
          'What becomes of a text with an unknown variable: it stays as written (literal), becomes null, or its key is left out',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Sent once after each call, signed as a Standard Webhook, repeated until the CRM answers 2xx',
  },
);
export type PostCallPush = Static<typeof PostCallPush>;

export const POST_CALL_PUSH_EXAMPLE: PostCallPush = {
  enabled: true,
  push_url: 'https://crm.example.com/calls',
  headers: { authorization: 'Bearer {{secret.crm_token}}' },
  key_mapper: {
    phone: '{{call.caller_id}}',
    customer: '{{crm.CUSTOMERNAME}}',
    seconds: '{{results.call_duration_seconds}}',
    outcome: '{{results.disconnected_by}}',
    intent: '{{analysis.intent}}',
    note: 'Call {{results.session_id}} by {{bot.name}}',
  },
  missing: 'null',
};

/** One line of `integration_log` (R154). No path and no query of the URL: they hold personal data. */
export const IntegrationLogEntry = Type.Object({
  kind: Type.Union([Type.Literal('prefetch'), Type.Literal('push'), Type.Literal('pre_call')]),
  at: Type.String({ description: 'ISO 8601 UTC' }),
  url_host: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status, null without an answer' }),
  ms: Type.Number(),
  attempt: Type.Integer({ description: 'From 1; 0 where nothing was sent' }),
  error: Type.Union([Type.String(), Type.Null()]),
});
export type IntegrationLogEntry = Static<typeof IntegrationLogEntry>;
