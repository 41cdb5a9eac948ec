import type { ConversationPolicy } from '../../contracts/bot/conversation.ts';

/**
 * The prompt of a policy bot as a template, section by section, the same order for every bot, so that two bots differ
 * only in what their editors wrote. Variables stay in it; the caller renders. `background` is the bot's system prompt.
 */
export function policyPrompt(policy: ConversationPolicy, background: string): string {
  const sections: (string | null)[] = [
    policy.role,
    section('Goal', [policy.goal]),
    section('Language', policy.language ? [policy.language] : []),
    section('How you speak', policy.style),
    section('Rules that always hold', policy.rules),
    section('Never say or promise', policy.forbidden),
    numbered(
      'Steps, in this order',
      policy.steps?.map(
        ({ name, instruction, tool }) => `${name}: ${instruction}${tool ? ` Use the tool ${tool}.` : ''}`,
      ),
    ),
    section('What you know', policy.facts),
    section(
      'When the caller objects',
      policy.objections?.map(({ when, answer }) => `${when} Answer: ${answer}`),
    ),
    escalation(policy.escalation),
    section('Ending', policy.closing ? [policy.closing] : []),
    background.trim() === '' ? null : `# Background\n${background.trim()}`,
  ];
  return sections.filter((text) => text !== null).join('\n\n');
}

function section(title: string, lines: readonly string[] | undefined): string | null {
  if (!lines || lines.length === 0) return null;
  return `# ${title}\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function numbered(title: string, lines: readonly string[] | undefined): string | null {
  if (!lines || lines.length === 0) return null;
  return `# ${title}\n${lines.map((line, index) => `${index + 1}. ${line}`).join('\n')}`;
}

function escalation(rule: ConversationPolicy['escalation']): string | null {
  if (!rule) return null;
  const target = rule.target ? `Transfer the caller to ${rule.target} when:` : 'Transfer the caller when:';
  return `# Passing on\n${target}\n${rule.when.map((line) => `- ${line}`).join('\n')}`;
}
