import type { BuiltInToolName } from '../../contracts/bot/tools.ts';
import type { Bot } from '../../contracts/bot.ts';
import {
  COLLECT_PARAMETERS,
  DIGIT_TOOL_DESCRIPTIONS,
  SEND_DTMF_PARAMETERS,
} from '../../contracts/digit-tools.ts';
import { renderTemplate } from '../../platform/render-template.ts';

type ServedTool = Record<string, unknown>;

/**
 * The tools of a call, each with `name`, `description` and `parameters` as language models take them. Voicemail
 * detection and the agent desk bring their tools along; `search_knowledge` is left out where there is nothing to search. `{{secret.NAME}}` in
 * headers is filled here; every other variable is filled by the slot when the tool runs.
 */
export function servedTools(
  bot: Bot,
  options: { knowledge: boolean; secrets: Readonly<Record<string, string>> },
): ServedTool[] {
  const served = bot.tools
    .filter((tool) => tool.name !== 'search_knowledge' || options.knowledge)
    .map((tool): ServedTool => {
      if (tool.type !== 'built_in') return { ...tool, ...withSecrets(tool.headers, options.secrets) };
      return builtIn(tool.name, bot, tool.description);
    });
  if (bot.voicemail_detection?.enabled && !served.some((tool) => tool.name === 'detected_voicemail')) {
    served.push(builtIn('detected_voicemail', bot, bot.voicemail_detection.description));
  }
  if (bot.agent_desk?.enabled && !served.some((tool) => tool.name === AGENT_TOOL.name)) {
    served.push(AGENT_TOOL);
  }
  return served;
}

/** How a bot with an agent desk escalates (R24, R25); the slot knows what to do by the name. */
const AGENT_TOOL: Readonly<ServedTool & { name: string }> = {
  type: 'built_in',
  name: 'transfer_to_agent',
  description:
    'Hand the caller to a person of the team, when they ask for one or you cannot help them yourself.',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: { reason: { type: 'string', description: 'Why, in one sentence for the person' } },
    required: ['reason'],
  },
};

function withSecrets(
  headers: Readonly<Record<string, string>> | undefined,
  secret: Readonly<Record<string, string>>,
): { headers?: Record<string, string> } {
  if (!headers) return {};
  const filled = Object.entries(headers).map(([name, value]) => [name, renderTemplate(value, { secret })]);
  return { headers: Object.fromEntries(filled) };
}

/** Whether the config of this bot needs its secrets at all; most do not, and opening them costs time. */
export function namesSecrets(bot: Pick<Bot, 'tools'>): boolean {
  return bot.tools.some(
    (tool) => tool.type === 'http' && Object.values(tool.headers ?? {}).some((value) => value.includes('{{')),
  );
}

const DESCRIPTIONS: Record<BuiltInToolName, string> = {
  end_call: 'End the call once both sides have said goodbye, or the caller wants to stop.',
  transfer_call: 'Pass the caller on to a person or another line.',
  detected_voicemail:
    'Call this when an answering machine or a mailbox has picked up instead of a person, never for a person.',
  search_knowledge: 'Look up facts in the knowledge base before answering a question about them.',
  ...DIGIT_TOOL_DESCRIPTIONS,
};

function builtIn(name: BuiltInToolName, bot: Bot, description: string | undefined): ServedTool {
  return {
    type: 'built_in',
    name,
    description: description ?? DESCRIPTIONS[name],
    parameters: { type: 'object', additionalProperties: false, ...PARAMETERS[name](bot) },
  };
}

const PARAMETERS: Record<BuiltInToolName, (bot: Bot) => Record<string, unknown>> = {
  end_call: () => ({ properties: { reason: { type: 'string' } }, required: [] }),
  detected_voicemail: () => ({ properties: { reason: { type: 'string' } }, required: [] }),
  search_knowledge: () => ({ properties: { query: { type: 'string' } }, required: ['query'] }),
  collect_digits: () => COLLECT_PARAMETERS,
  send_dtmf: () => SEND_DTMF_PARAMETERS,
  transfer_call: (bot) => {
    const targets = transferNames(bot);
    const described = (bot.transfer_targets ?? [])
      .filter((target) => target.description)
      .map((target) => `${target.name}: ${target.description}`);
    return {
      properties: {
        target: {
          type: 'string',
          ...(targets.length > 0 ? { enum: targets } : {}),
          ...(described.length > 0 ? { description: described.join(' ') } : {}),
        },
        reason: { type: 'string' },
      },
      required: targets.length > 0 ? ['target'] : [],
    };
  },
};

/** The names that `transfer_call` may be given. */
export function transferNames(bot: Pick<Bot, 'transfer_numbers' | 'transfer_targets'>): string[] {
  const targets = (bot.transfer_targets ?? []).map((target) => target.name);
  return [...new Set([...targets, ...Object.keys(bot.transfer_numbers ?? {})])];
}
