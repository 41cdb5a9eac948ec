import type { BotContent } from '../../contracts/bot.ts';
import { variableNameOf } from '../runtime-config/sip-context.ts';
import { NAME_FIELDS, SYSTEM_VARIABLES } from '../runtime-config/variables.ts';

/** One text of a bot that may hold variables, with its place and what may stand in it. */
export interface BotTemplate {
  /** JSON pointer into the bot. */
  pointer: string;
  text: string;
  /** Namespaces beyond `system`, `call` and `crm`. */
  also: readonly string[];
}

/** Namespaces of every template (R77, R78, R80). */
export const COMMON_NAMESPACES = ['system', 'call', 'crm'] as const;
const AFTER_CALL = ['results', 'analysis', 'bot'];

/** Every template of a bot. */
export function templatesOf(bot: BotContent): BotTemplate[] {
  const { tools, crm_prefetch: prefetch, post_call_push: push } = bot;
  return [
    ...texts('/system_prompt', bot.system_prompt),
    ...texts('/opening_message', bot.opening_message),
    ...texts('/re_engagement/prompts', bot.re_engagement.prompts),
    ...texts('/conversation_policy', bot.conversation_policy),
    ...texts('/transfer_numbers', bot.transfer_numbers),
    ...texts('/transfer_targets', bot.transfer_targets),
    ...texts('/pre_transfer_message', bot.pre_transfer_message),
    ...texts('/post_call_analysis_prompt', bot.post_call_analysis_prompt),
    ...texts('/qc_prompt', bot.qc_prompt),
    ...texts('/voicemail_message', bot.voicemail_message),
    ...texts('/voicemail_detection/screening_answer', bot.voicemail_detection?.screening_answer),
    ...texts('/agent_desk/context', bot.agent_desk?.context),
    ...tools.flatMap((tool, index) => {
      if (tool.type !== 'http') return [];
      return [
        ...texts(`/tools/${index}/url`, tool.url, ['args']),
        ...texts(`/tools/${index}/headers`, tool.headers, ['args', 'secret']),
        ...texts(`/tools/${index}/body`, tool.body, ['args']),
      ];
    }),
    ...texts('/crm_prefetch/url', prefetch?.url),
    ...texts('/crm_prefetch/headers', prefetch?.headers, ['secret']),
    ...texts('/crm_prefetch/body', prefetch?.body),
    ...texts('/post_call_push/push_url', push?.push_url, AFTER_CALL),
    ...texts('/post_call_push/headers', push?.headers, [...AFTER_CALL, 'secret']),
    ...texts('/post_call_push/key_mapper', push?.key_mapper, AFTER_CALL),
  ];
}

/** What a template holds: the variables that can be filled, and the spots that never can. */
export function scanTemplate(text: string): { variables: string[]; broken: string[] } {
  const variables: string[] = [];
  const broken: string[] = [];
  const rest = text.replace(/\{\{([^{}]*)\}\}/g, (literal, inner: string) => {
    const name = inner.trim();
    if (/^[^.\s]+\.\S.*$/.test(name)) variables.push(name);
    else broken.push(literal);
    return '';
  });
  // Closing braces alone are no mistake: prompts show JSON to the language model.
  for (const [spot] of rest.matchAll(/\{\{.{0,20}/g)) broken.push(spot);
  return { variables, broken };
}

/** Deeper than this a value has no templates; schemas and people stay far above. */
const MAX_DEPTH = 16;

function texts(pointer: string, value: unknown, also: readonly string[] = [], depth = 0): BotTemplate[] {
  if (typeof value === 'string') return [{ pointer, text: value, also }];
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    texts(`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, inner, also, depth + 1),
  );
}

/** What every dialler handshake brings (docs/dialler-protocol.md, "Dialler to bot"). */
const HANDSHAKE_FIELDS = [
  'stream_id',
  'caller_id',
  'from_number',
  'to_number',
  'call_direction',
  'room_name',
  'trunk_id',
] as const;

const CALLBACK_FIELDS = [
  'callback_requested_at',
  'callback_at',
  'callback_timezone',
  'callback_note',
  'callback_previous_session_id',
  'callback_previous_summary',
] as const;

/**
 * Whether a variable can be expected to have a value in the calls of this bot. `system.*` is a closed set. What diallers
 * and CRMs bring is open, unless the bot says in `expected_variables` what comes; then everything else is unknown.
 */
export function knowsVariable(bot: BotContent): (name: string) => boolean {
  const system = new Set(SYSTEM_VARIABLES.map((field) => `system.${field}`));
  const brought = bot.expected_variables ? broughtVariables(bot, bot.expected_variables) : null;
  return (name) => {
    if (name.startsWith('system.')) return system.has(name);
    if (!name.startsWith('call.') && !name.startsWith('crm.')) return true;
    return brought === null || brought.has(name);
  };
}

/** Every `call.*` field is a `crm.*` field too, unless it came with the SIP headers. */
function broughtVariables(bot: BotContent, expected: readonly string[]): Set<string> {
  const fields = [
    ...HANDSHAKE_FIELDS,
    ...expected.filter((name) => name.startsWith('call.')).map((name) => name.slice('call.'.length)),
  ];
  const prefetched = Object.keys(bot.crm_prefetch?.mapping ?? {});
  const sip = (bot.sip_header_config?.headers ?? []).map(({ header, as }) => as ?? variableNameOf(header));
  return new Set([
    ...expected,
    ...fields.flatMap((field) => [`call.${field}`, `crm.${field}`]),
    ...prefetched.map((field) => `crm.${field}`),
    ...sip.map((field) => `call.${field}`),
    ...CALLBACK_FIELDS.map((field) => `call.${field}`),
    'crm.CUSTOMERNAME_HI',
    'crm.FIRSTNAME',
    'crm.FIRSTNAME_HI',
    ...NAME_FIELDS.flatMap((field) =>
      ['hi', 'firstname', 'firstname_hi'].map((kind) => `call.${field}_${kind}`),
    ),
  ]);
}
