import type { HttpTool } from '../../contracts/bot/tools.ts';
import type { BotContent } from '../../contracts/bot.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { usableTimezone } from '../../platform/local-time.ts';
import { compileRulePattern } from '../../providers/llm/rule-pattern.ts';
import { transferNames } from '../runtime-config/served-tools.ts';
import type { BotFinding, ValidationWorld } from './bot-finding.ts';
import { COMMON_NAMESPACES, knowsVariable, scanTemplate, templatesOf } from './bot-templates.ts';
import { checkProviders } from './check-providers.ts';

/** So many findings tell enough; a broken import may have thousands. */
const MAX_FINDINGS = 200;

/** Checks what no schema can: whether the parts of a bot fit each other and this installation. */
export async function validateBot(bot: BotContent, world: ValidationWorld): Promise<BotFinding[]> {
  const findings = [
    ...(await checkProviders(bot, world)),
    ...checkTimezone(bot),
    ...checkTools(bot),
    ...checkTemplates(bot),
    ...checkAnswerRules(bot),
  ];
  // Errors first: they are what stands between the editor and a live bot.
  return [
    ...findings.filter((finding) => finding.severity === 'error'),
    ...findings.filter((finding) => finding.severity === 'warning'),
  ].slice(0, MAX_FINDINGS);
}

function checkTemplates(bot: BotContent): BotFinding[] {
  const isKnown = knowsVariable(bot);
  return templatesOf(bot).flatMap(({ pointer, text, also }) => {
    const { variables, broken } = scanTemplate(text);
    const namespaces: readonly string[] = [...COMMON_NAMESPACES, ...also];
    return [
      ...broken.map((spot) =>
        finding('error', 'broken_template', pointer, `${quoted(spot)} is no {{namespace.field}}`),
      ),
      ...[...new Set(variables)].flatMap((name) => {
        const namespace = name.slice(0, name.indexOf('.'));
        if (!namespaces.includes(namespace)) {
          const known = namespaces.join(', ');
          return [finding('error', 'unknown_namespace', pointer, `${quoted(name)} is in none of ${known}`)];
        }
        if (isKnown(name)) return [];
        return [
          finding('warning', 'unknown_variable', pointer, `${quoted(name)} will be spoken as it is written`),
        ];
      }),
    ];
  });
}

function checkAnswerRules(bot: BotContent): BotFinding[] {
  return (bot.vad.answer_rules ?? []).flatMap(({ pattern }, index) => {
    const refusal = compileRulePattern(pattern);
    const pointer = `/vad/answer_rules/${index}/pattern`;
    return typeof refusal === 'string'
      ? [finding('error', 'bad_pattern', pointer, `the pattern ${refusal}`)]
      : [];
  });
}

function checkTimezone(bot: BotContent): BotFinding[] {
  if (usableTimezone(bot.timezone).known) return [];
  return [
    finding('warning', 'timezone', '/timezone', `${quoted(bot.timezone)} is no time zone, so UTC is used`),
  ];
}

/** Names that are offered, used by a step, or called by a script, against each other. */
function checkTools(bot: BotContent): BotFinding[] {
  const names = bot.tools.map((tool) => tool.name);
  const offered = new Set<string>(names);
  if (bot.voicemail_detection?.enabled) offered.add('detected_voicemail');
  const targets = transferNames(bot);
  const found: BotFinding[] = [];
  for (const [index, tool] of bot.tools.entries()) {
    if (names.indexOf(tool.name) !== index) {
      found.push(
        finding('error', 'duplicate_tool', `/tools/${index}/name`, `${quoted(tool.name)} stands twice`),
      );
    }
    if (tool.type === 'http') found.push(...checkHttpTool(tool, `/tools/${index}`));
  }
  const used = [
    ...(bot.conversation_policy?.steps ?? []).flatMap(({ tool }, index) =>
      tool === undefined ? [] : [{ tool, pointer: `/conversation_policy/steps/${index}/tool` }],
    ),
    ...scriptedTools(bot.llm),
  ];
  for (const { tool, pointer } of used) {
    if (offered.has(tool)) continue;
    found.push(finding('error', 'unknown_tool', pointer, `the bot has no tool ${quoted(tool)}`));
  }
  const target = bot.conversation_policy?.escalation?.target;
  if (target !== undefined && !targets.includes(target)) {
    const pointer = '/conversation_policy/escalation/target';
    found.push(
      finding('error', 'unknown_target', pointer, `${quoted(target)} is no transfer number or target`),
    );
  }
  if (offered.has('transfer_call') && targets.length === 0 && !bot.agent_desk?.enabled) {
    found.push(
      finding(
        'warning',
        'unknown_target',
        '/transfer_targets',
        'transfer_call has nowhere to send the caller',
      ),
    );
  }
  if (offered.has('search_knowledge') && !bot.knowledge?.enabled) {
    found.push(
      finding('warning', 'unused', '/knowledge', 'search_knowledge is not offered while knowledge is off'),
    );
  }
  if (bot.voicemail_message && !offered.has('detected_voicemail')) {
    found.push(
      finding('warning', 'unused', '/voicemail_message', 'nothing detects a voicemail, so it is never left'),
    );
  }
  return found;
}

/** Headers that usually carry a secret. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|x-api-key|api-key)$|token|secret/i;

function checkHttpTool(tool: HttpTool, pointer: string): BotFinding[] {
  const found: BotFinding[] = [];
  if (tool.parameters.type !== 'object') {
    found.push(finding('error', 'bad_tool', `${pointer}/parameters`, 'parameters must be of `type: object`'));
  }
  for (const [name, value] of Object.entries(tool.headers ?? {})) {
    if (!SECRET_HEADER.test(name) || value.includes('{{')) continue;
    const advice = 'keep the secret of the bot under a name and write {{secret.NAME}} here';
    found.push(finding('warning', 'plain_secret', `${pointer}/headers/${name}`, advice));
  }
  return found;
}

/** Tools that the rules of the local language model call (docs of the provider `scripted`). */
function scriptedTools(llm: ProviderConfig): { tool: string; pointer: string }[] {
  if (llm.provider !== 'scripted' || !Array.isArray(llm.rules)) return [];
  return llm.rules.flatMap((rule: unknown, index) => {
    const tool = (rule as { tool?: { name?: unknown } } | null)?.tool?.name;
    return typeof tool === 'string' ? [{ tool, pointer: `/llm/rules/${index}/tool/name` }] : [];
  });
}

function finding(
  severity: BotFinding['severity'],
  code: BotFinding['code'],
  pointer: string,
  message: string,
): BotFinding {
  return { severity, code, pointer, message };
}

function quoted(text: string): string {
  return `"${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`;
}
