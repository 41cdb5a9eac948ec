import { type Static, Type } from 'typebox';
import { DisconnectedBy } from '../call-results.ts';

/** When a bot takes calls, what it may know and keep, and how its calls are filed (D-26). */
export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const Days = Type.Union([
  Type.Literal('monday'),
  Type.Literal('tuesday'),
  Type.Literal('wednesday'),
  Type.Literal('thursday'),
  Type.Literal('friday'),
  Type.Literal('saturday'),
  Type.Literal('sunday'),
]);

export const ActiveHours = Type.Object(
  {
    enabled: Type.Boolean(),
    days: Type.Optional(
      Type.Array(Days, {
        minItems: 1,
        maxItems: 7,
        description: 'Local weekdays on which calls are taken (all seven)',
      }),
    ),
    start_time: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'Local, included' }),
    end_time: Type.String({
      pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
      description:
        'Local, left out. Earlier than the start: the window is overnight. The same: the whole day',
    }),
  },
  {
    title: 'ActiveHours',
    additionalProperties: false,
    description:
      'Calls outside are refused with 503. The weekday is that of the moment of the call, also after midnight in an overnight window',
    examples: [
      { enabled: true, days: ['monday', 'tuesday', 'wednesday'], start_time: '09:00', end_time: '18:30' },
      { enabled: true, start_time: '22:00', end_time: '06:00' },
    ],
  },
);
export type ActiveHours = Static<typeof ActiveHours>;

const HeaderName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" });

export const SipHeaderConfig = Type.Object(
  {
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            header: HeaderName,
            as: Type.Optional(
              Type.String({
                pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$',
                description:
                  'Name of the variable; else the header in lower case with `_`, without a leading X-',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: 50 },
      ),
    ),
    prefixes: Type.Optional(
      Type.Array(HeaderName, {
        maxItems: 10,
        description: 'Every header that begins so passes under its own name',
      }),
    ),
  },
  {
    title: 'SipHeaderConfig',
    additionalProperties: false,
    description:
      'Which SIP headers of an inbound call become `sip_context` and `{{call.*}}`; all others are dropped',
    examples: [{ headers: [{ header: 'X-Customer-Id', as: 'customer_id' }], prefixes: ['X-Crm-'] }],
  },
);
export type SipHeaderConfig = Static<typeof SipHeaderConfig>;

export const AutoDisposition = Type.Object(
  {
    disposition: Type.String({ minLength: 1, maxLength: 100 }),
    when: Type.Object(
      {
        disconnected_by: Type.Optional(Type.Array(DisconnectedBy, { minItems: 1, maxItems: 20 })),
        min_duration_seconds: Type.Optional(Type.Number({ minimum: 0 })),
        max_duration_seconds: Type.Optional(Type.Number({ minimum: 0 })),
        was_transferred: Type.Optional(Type.Boolean()),
        customer_spoke: Type.Optional(Type.Boolean()),
        event: Type.Optional(Type.String({ maxLength: 100, description: 'An event of this name happened' })),
      },
      { additionalProperties: false, minProperties: 1, description: 'All that is named must hold' },
    ),
  },
  {
    title: 'AutoDisposition',
    additionalProperties: false,
    description: 'Files a call by how it went, without the language model; the first rule that fits wins',
    examples: [
      { disposition: 'Dropped early', when: { disconnected_by: ['customer'], max_duration_seconds: 10 } },
    ],
  },
);
export type AutoDisposition = Static<typeof AutoDisposition>;

export const KnowledgeUse = Type.Object(
  {
    enabled: Type.Boolean(),
    knowledge_base_ids: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20 })),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: 'Passages per question (4)' })),
    min_score: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Weaker passages are left out (0.2)' }),
    ),
  },
  {
    title: 'KnowledgeUse',
    additionalProperties: false,
    description:
      'Lets `search_knowledge` answer from these knowledge bases, where the system has knowledge enabled',
    examples: [{ enabled: true, knowledge_base_ids: ['kb_tariffs'], top_k: 3 }],
  },
);
export type KnowledgeUse = Static<typeof KnowledgeUse>;

export const PromptCache = Type.Object(
  {
    enabled: Type.Boolean(),
    ttl_seconds: Type.Optional(
      Type.Integer({ minimum: 60, maximum: 86_400, description: 'Life of an entry (3600)' }),
    ),
    retention: Type.Optional(
      Type.Union([Type.Literal('in_memory'), Type.Literal('24h')], {
        description: 'Hint for providers that cache by key',
      }),
    ),
  },
  {
    title: 'PromptCache',
    additionalProperties: false,
    description: 'Lets the provider keep the part of a prompt that is the same in every call',
    examples: [{ enabled: true, ttl_seconds: 1_800, retention: 'in_memory' }],
  },
);

export const CallbackDetection = Type.Object(
  {
    instructions: Type.Optional(Type.String({ maxLength: 2_000 })),
    default_delay_minutes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 43_200, description: 'Where the caller names no time (60)' }),
    ),
  },
  {
    title: 'CallbackDetection',
    additionalProperties: false,
    description:
      'How a wish to be called back is read from the conversation; done only for campaigns that want it',
    examples: [{ instructions: 'Read "evening" as 18:00.', default_delay_minutes: 120 }],
  },
);

export const Retention = Type.Object(
  {
    record_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
    transcript_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
    recording_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
  },
  {
    title: 'Retention',
    additionalProperties: false,
    description:
      'After so many days the data of a call of this bot goes; without a number the system setting holds',
    examples: [{ transcript_days: 180, recording_days: 30 }],
  },
);

export const WidgetUse = Type.Object(
  {
    allowed_origins: Type.Optional(
      Type.Array(Type.String({ maxLength: 200, pattern: '^https?://[A-Za-z0-9.:-]+$' }), { maxItems: 50 }),
    ),
  },
  {
    title: 'WidgetUse',
    additionalProperties: false,
    description: 'Web pages that may start a browser call; none named means all',
    examples: [{ allowed_origins: ['https://www.example.com'] }],
  },
);
