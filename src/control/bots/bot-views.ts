import { type Static, Type } from 'typebox';
import { BotContent, BotId, NewBot } from '../../contracts/bot.ts';
import type { BotFinding } from './bot-finding.ts';
import type { BotSummary, BotVersionRow, StoredBot } from './bot-store.ts';
import { newContent } from './merge-bot.ts';

/** What the API shows of bots, and what it takes. */
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** Fields of a bot that the plane keeps itself. */
const standing = {
  widget_api_key: Nullable(Type.String({ description: 'Public by design; `rotate-widget-key` makes one' })),
  revision: Type.Integer({ description: 'Grows with every change; the ETag' }),
  version: Type.Integer({ description: 'Version of what is shown here, the draft' }),
  published_version: Nullable(
    Type.Integer({ description: 'What calls get; null before the first publishing' }),
  ),
  published_at: Nullable(Type.String()),
  has_unpublished_changes: Type.Boolean(),
  created_at: Type.String(),
  updated_at: Type.String(),
};

export const BotView = Type.Object(
  { bot_id: BotId, ...BotContent.properties, ...standing },
  { title: 'Bot' },
);

export const BotRow = Type.Object({
  bot_id: BotId,
  name: Type.String(),
  timezone: Type.String(),
  version: standing.version,
  published_version: standing.published_version,
  has_unpublished_changes: standing.has_unpublished_changes,
  updated_at: standing.updated_at,
});

export const CreateBotBody = Type.Object(
  {
    bot_id: Type.Optional(BotId),
    ...NewBot.properties,
    publish: Type.Optional(Type.Boolean({ description: 'Calls may use it at once (false)' })),
  },
  { additionalProperties: false },
);

/** What `GET` gave may be sent back whole: the fields that the plane keeps are passed over. */
export const ReplaceBotBody = Type.Object(
  {
    bot_id: Type.Optional(BotId),
    ...BotContent.properties,
    ...Type.Partial(Type.Object(standing)).properties,
  },
  { additionalProperties: false },
);

export const PatchBotBody = Type.Object(Type.Partial(BotContent).properties, {
  title: 'BotPatch',
  additionalProperties: false,
});

export const VersionRow = Type.Object({
  version: Type.Integer(),
  saved_at: Type.String(),
  saved_by: Nullable(Type.String()),
  note: Nullable(Type.String()),
  published: Type.Boolean({ description: 'Calls get this one' }),
});

export const VersionView = Type.Object({ ...VersionRow.properties, content: BotContent });

export const FindingView = Type.Object({
  severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
  code: Type.String(),
  pointer: Type.String({ description: 'JSON pointer into the bot' }),
  message: Type.String(),
});

/** The first example is what `POST /api/v1/bots` can be sent as it stands. */
export const BOT_EXAMPLE: Static<typeof CreateBotBody> = {
  bot_id: 'collections',
  name: 'Collections',
  timezone: 'Asia/Kolkata',
  system_prompt:
    'You call for a bank. Be polite.\nYou speak with {{crm.CUSTOMERNAME}}, today is {{system.current_date}}.',
  opening_message: 'Namaste {{crm.FIRSTNAME_HI}}, am I speaking with {{crm.CUSTOMERNAME}}?',
  stt: { provider: 'scripted', script: [] },
  llm: { provider: 'scripted', rules: [] },
  tts: { provider: 'espeak', language: 'hi' },
  active_hours: { enabled: true, days: ['monday', 'friday'], start_time: '09:00', end_time: '19:00' },
  tools: [{ type: 'built_in', name: 'end_call' }],
  voicemail_detection: { enabled: true },
  voicemail_message: 'This was {{call.company}}. We will call again.',
};

/** The same bot, whole, as `PUT` and a file want it. */
export const BOT_CONTENT_EXAMPLE: BotContent = newContent(contentOfExample());

function contentOfExample(): NewBot {
  const { bot_id, publish, ...bot } = BOT_EXAMPLE;
  return bot;
}

export function botView(bot: StoredBot): Static<typeof BotView> {
  const { draft, ...kept } = bot;
  return {
    ...draft,
    ...kept,
    has_unpublished_changes: bot.version !== bot.published_version,
  };
}

export function botRow(bot: BotSummary): Static<typeof BotRow> {
  return {
    bot_id: bot.bot_id,
    name: bot.name,
    timezone: bot.timezone,
    version: bot.version,
    published_version: bot.published_version,
    has_unpublished_changes: bot.version !== bot.published_version,
    updated_at: bot.updated_at,
  };
}

/** The content in a replacing body. */
export function replacingContent(body: Static<typeof ReplaceBotBody>): BotContent {
  const kept = new Set(['bot_id', ...Object.keys(standing)]);
  const fields = Object.entries(body).filter(([name]) => !kept.has(name));
  return Object.fromEntries(fields) as unknown as BotContent;
}

export function versionRow(version: BotVersionRow, bot: StoredBot): Static<typeof VersionRow> {
  return {
    version: version.version,
    saved_at: version.saved_at,
    saved_by: version.saved_by,
    note: version.note,
    published: version.version === bot.published_version,
  };
}

/** Findings as the mistakes of a refused request. */
export function findingIssues(findings: readonly BotFinding[]) {
  return findings.map(({ pointer, message, code }) => ({
    loc: ['bot', ...pointer.split('/').slice(1)],
    msg: message,
    type: code,
    pointer,
  }));
}
