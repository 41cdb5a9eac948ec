import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';
import { compileRulePattern, MAX_INPUT_LENGTH } from '../../llm/rule-pattern.ts';

/** What a rule says: one of the texts, in turn. `{1}` stands for what the first bracket of the pattern matched. */
export interface ScriptedReply {
  intent: string;
  replies: readonly string[];
  /** The bot hangs up after the reply. */
  end: boolean;
  tool: { name: string; args: Record<string, unknown>; replies: readonly string[] } | null;
}

export interface ScriptRule extends ScriptedReply {
  pattern: RegExp;
}

export interface RuleScript {
  rules: readonly ScriptRule[];
  /** No rule matched. */
  fallback: ScriptedReply;
  /** There is nothing to answer: the turn has no words, or the conversation no turn. */
  noInput: ScriptedReply;
}

/** A settled answer: which rule, and the brackets of its pattern. */
export interface RuleMatch {
  reply: ScriptedReply;
  captures: readonly string[];
}

const MAX_RULES = 200;
const MAX_REPLY_LENGTH = 4_000;
const MAX_REPLIES = 20;
const MAX_CAPTURE_LENGTH = 200;
const INTENT = /^[a-z0-9_-]{1,64}$/i;
const TOOL_NAME = /^[a-z0-9_-]{1,64}$/i;

/** Reads `rules`, `fallback` and `no_input` of the bot's `llm`. Throws `bad_provider_config` naming the key. */
export function readRuleScript(config: ProviderConfig): RuleScript {
  const settings = new ProviderSettings('llm', config);
  const rules = settings.raw('rules') ?? [];
  if (!Array.isArray(rules) || rules.length > MAX_RULES) {
    throw settings.refusal('rules', `must be a list of at most ${MAX_RULES} rules`);
  }
  const fallback = settings.raw('fallback') ?? { reply: 'Sorry, I did not understand that.' };
  const noInput = settings.raw('no_input') ?? fallback;
  return {
    rules: rules.map((rule, index) => readRule(settings, `rules[${index}]`, rule)),
    fallback: readReply(settings, 'fallback', {
      intent: 'fallback',
      ...objectOf(settings, 'fallback', fallback),
    }),
    noInput: readReply(settings, 'no_input', {
      intent: 'no_input',
      ...objectOf(settings, 'no_input', noInput),
    }),
  };
}

/** The first rule whose pattern is found in what the caller said, else the fallback. */
export function matchRule(script: RuleScript, said: string): RuleMatch {
  const input = said.trim().slice(0, MAX_INPUT_LENGTH);
  if (input === '') return { reply: script.noInput, captures: [] };
  for (const rule of script.rules) {
    const found = rule.pattern.exec(input);
    if (found)
      return {
        reply: rule,
        captures: found.slice(1).map((text) => (text ?? '').slice(0, MAX_CAPTURE_LENGTH)),
      };
  }
  return { reply: script.fallback, captures: [] };
}

/** Puts what the brackets matched in the places `{1}`, `{2}`, …; a number without a bracket becomes nothing. */
export function fillCaptures(template: string, captures: readonly string[]): string {
  return template.replace(/\{([1-9]\d?)\}/g, (_, number: string) => captures[Number(number) - 1] ?? '');
}

function readRule(settings: ProviderSettings, key: string, value: unknown): ScriptRule {
  const rule = objectOf(settings, key, value);
  if (typeof rule.pattern !== 'string')
    throw settings.refusal(`${key}.pattern`, 'must be a regular expression');
  const pattern = compileRulePattern(rule.pattern);
  if (typeof pattern === 'string') throw settings.refusal(`${key}.pattern`, pattern);
  return { ...readReply(settings, key, rule), pattern };
}

function readReply(settings: ProviderSettings, key: string, value: Record<string, unknown>): ScriptedReply {
  const { intent, reply, end = false, tool } = value;
  if (typeof intent !== 'string' || !INTENT.test(intent)) {
    throw settings.refusal(`${key}.intent`, 'must be a name of at most 64 letters, digits, "-" or "_"');
  }
  if (typeof end !== 'boolean') throw settings.refusal(`${key}.end`, 'must be true or false');
  const replies = readReplies(settings, `${key}.reply`, reply);
  return { intent, replies, end, tool: tool == null ? null : readTool(settings, `${key}.tool`, tool) };
}

function readTool(settings: ProviderSettings, key: string, value: unknown): ScriptedReply['tool'] {
  const tool = objectOf(settings, key, value);
  if (typeof tool.name !== 'string' || !TOOL_NAME.test(tool.name)) {
    throw settings.refusal(`${key}.name`, 'must be the name of a tool');
  }
  return {
    name: tool.name,
    args: objectOf(settings, `${key}.args`, tool.args ?? {}),
    replies: tool.reply == null ? [] : readReplies(settings, `${key}.reply`, tool.reply),
  };
}

function readReplies(settings: ProviderSettings, key: string, value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  const fits = (text: unknown) => typeof text === 'string' && text.length <= MAX_REPLY_LENGTH;
  if (list.length === 0 || list.length > MAX_REPLIES || !list.every(fits)) {
    throw settings.refusal(
      key,
      `must be a text of at most ${MAX_REPLY_LENGTH} characters, or 1 to ${MAX_REPLIES} such`,
    );
  }
  return list as string[];
}

function objectOf(settings: ProviderSettings, key: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw settings.refusal(key, 'must be an object');
  }
  return value as Record<string, unknown>;
}
