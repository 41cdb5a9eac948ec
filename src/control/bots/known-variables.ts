import type { BotContent } from '../../contracts/bot.ts';
import { NAME_FIELDS } from '../runtime-config/name-variables.ts';
import { variableNameOf } from '../runtime-config/sip-context.ts';
import { SYSTEM_VARIABLES } from '../runtime-config/variables.ts';

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
