import { type Static, Type } from 'typebox';

/** How a bot leads a conversation and where it may pass it on (D-26). Texts are templates. */
const Line = (maxLength = 500) => Type.String({ minLength: 1, maxLength });
const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_ -]{0,63}$' });
/** What a telephone network or a SIP server can be asked to reach. */
const Destination = Type.String({
  maxLength: 200,
  pattern:
    '^(\\+?[0-9*#]{2,32}|sips?:[^\\s<>"]{3,190}|tel:\\+?[0-9*#;=a-z-]{2,190}|\\{\\{[^{}]{1,100}\\}\\})$',
  description: 'Telephone number, SIP or tel URI, or one variable that holds such',
});

export const ConversationPolicy = Type.Object(
  {
    role: Line(1_000),
    goal: Line(1_000),
    language: Type.Optional(Line(100)),
    style: Type.Optional(Type.Array(Line(), { maxItems: 20 })),
    facts: Type.Optional(Type.Array(Line(1_000), { maxItems: 50, description: 'What the bot may state' })),
    steps: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Name,
            instruction: Line(2_000),
            tool: Type.Optional(
              Type.String({ maxLength: 64, description: 'Tool of the bot that this step uses' }),
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: 40, description: 'In this order' },
      ),
    ),
    rules: Type.Optional(Type.Array(Line(), { maxItems: 50, description: 'Always hold' })),
    forbidden: Type.Optional(
      Type.Array(Line(), { maxItems: 50, description: 'Never said and never promised' }),
    ),
    objections: Type.Optional(
      Type.Array(Type.Object({ when: Line(), answer: Line(1_000) }, { additionalProperties: false }), {
        maxItems: 50,
      }),
    ),
    escalation: Type.Optional(
      Type.Object(
        {
          when: Type.Array(Line(), { minItems: 1, maxItems: 20 }),
          target: Type.Optional(
            Type.String({ maxLength: 64, description: 'Name in `transfer_targets` or `transfer_numbers`' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    closing: Type.Optional(Line(1_000)),
    closure_phrases: Type.Optional(
      Type.Array(Line(200), {
        maxItems: 20,
        description: 'Once the caller has heard the bot say one of these, the bot hangs up',
      }),
    ),
  },
  {
    title: 'ConversationPolicy',
    additionalProperties: false,
    description:
      'A bot with a policy is prompted from it, section by section; `system_prompt` then only adds background',
    examples: [
      {
        role: 'You are Meera, who calls for {{call.company}}.',
        goal: 'Agree with {{crm.CUSTOMERNAME}} on a day of payment.',
        language: 'Hindi, in plain words',
        style: ['One question at a time.', 'At most two short sentences.'],
        facts: ['The amount due is {{crm.due_amount}} rupees.'],
        steps: [
          { name: 'greet', instruction: 'Make sure that you speak with {{crm.CUSTOMERNAME}}.' },
          { name: 'agree', instruction: 'Ask for a day within a week.' },
          { name: 'close', instruction: 'Repeat the day and say goodbye.', tool: 'end_call' },
        ],
        rules: ['Stop at once when the caller says that this is a wrong number.'],
        forbidden: ['Threats of any kind.'],
        objections: [{ when: 'The caller has paid already.', answer: 'Thank them and ask for the date.' }],
        escalation: { when: ['The caller asks for a person.'], target: 'collections' },
        closing: 'Thank the caller by name.',
        closure_phrases: ['Thank you for your time'],
      },
    ],
  },
);
export type ConversationPolicy = Static<typeof ConversationPolicy>;

export const TransferNumbers = Type.Record(Name, Destination, {
  maxProperties: 50,
  description: 'Name to destination: where `transfer_call` may send the caller by that name',
  examples: [{ front_desk: '+912240000001' }],
});

export const TransferTarget = Type.Object(
  {
    name: Name,
    destination: Destination,
    description: Type.Optional(
      Type.String({ maxLength: 500, description: 'Tells the language model when this is the right one' }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String({ pattern: '^X-[A-Za-z0-9-]{1,60}$' }), Type.String({ maxLength: 500 }), {
        maxProperties: 20,
        description: 'SIP headers of the transfer; the values are templates',
      }),
    ),
    message: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'Spoken instead of `pre_transfer_message`' }),
    ),
  },
  {
    title: 'TransferTarget',
    additionalProperties: false,
    description: 'A named place for a transfer, with what to tell the caller and the other side',
    examples: [
      {
        name: 'collections',
        destination: 'sip:collections@pbx.example.com',
        description: 'Questions about a payment plan',
        headers: { 'X-Customer': '{{crm.id}}' },
        message: 'I am passing you to a colleague.',
      },
    ],
  },
);
export type TransferTarget = Static<typeof TransferTarget>;

export const AmbientSound = Type.Object(
  {
    enabled: Type.Boolean(),
    sound: Type.Optional(
      Type.Union([
        Type.Literal('office'),
        Type.Literal('call_center'),
        Type.Literal('cafe'),
        Type.Literal('street'),
      ]),
    ),
    gain_db: Type.Optional(
      Type.Number({ minimum: -60, maximum: -6, description: 'Loudness against full scale (-28)' }),
    ),
  },
  {
    title: 'AmbientSound',
    additionalProperties: false,
    description: 'A quiet background under the voice of the bot, so that the line does not sound dead',
    examples: [{ enabled: true, sound: 'office', gain_db: -32 }],
  },
);

export const Pronunciation = Type.Object(
  {
    word: Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'As the bot writes it, whole words only; in small letters it fits any case, with capitals only as written',
    }),
    spoken: Type.String({ minLength: 1, maxLength: 200, description: 'What the voice is given instead' }),
  },
  {
    title: 'Pronunciation',
    additionalProperties: false,
    description: 'How the voice says a word; transcripts keep the word as it is written',
    examples: [{ word: 'Thiruvananthapuram', spoken: 'Tiru vanantha puram' }],
  },
);
export type Pronunciation = Static<typeof Pronunciation>;

export const AgentDesk = Type.Object(
  {
    enabled: Type.Boolean(),
    context: Type.Optional(
      Type.Union([Type.String({ maxLength: 8_000 }), Type.Record(Type.String(), Type.Unknown())], {
        description: 'Template, or JSON whose texts are templates: what an agent sees of the caller',
      }),
    ),
    record_agent_leg: Type.Optional(
      Type.Boolean({
        description: 'Keep recording after a person has taken over; the slot stays busy (false)',
      }),
    ),
  },
  {
    title: 'AgentDesk',
    additionalProperties: false,
    description: 'Whether the bot may hand a caller to the agent desk, and what it tells the agent',
    examples: [
      { enabled: true, context: { customer: '{{crm.CUSTOMERNAME}}', due: '{{crm.due_amount}}' } },
      { enabled: true, context: 'Caller {{call.caller_id}}, customer since {{crm.since}}' },
    ],
  },
);

export const VoicemailDetection = Type.Object(
  {
    enabled: Type.Boolean(),
    description: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'What the language model is told about `detected_voicemail`',
      }),
    ),
    phrases: Type.Optional(
      Type.Array(Line(100), {
        maxItems: 50,
        description: 'Only machines say these, beside the built-in lists; a star stands for up to four words',
      }),
    ),
    screening_phrases: Type.Optional(
      Type.Array(Line(100), {
        maxItems: 50,
        description: 'Said by assistants of telephones that ask who calls, beside the built-in lists',
      }),
    ),
    screening_answer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Template: who calls and why, said once to such an assistant (the opening message)',
      }),
    ),
  },
  {
    title: 'VoicemailDetection',
    additionalProperties: false,
    description:
      'When enabled, the tool `detected_voicemail` is served: the bot leaves `voicemail_message` and hangs up',
    examples: [
      { enabled: true },
      {
        enabled: true,
        phrases: ['acme * night line'],
        screening_answer: 'This is {{call.company}}, about your order.',
      },
    ],
  },
);
export type VoicemailDetection = Static<typeof VoicemailDetection>;
