import type { ChatMessage } from '../../providers/contract/language-model.ts';

/**
 * Roughly how many tokens a text costs, without a vendor's tokenizer: four Latin characters are one, while scripts that
 * vocabularies hold less of come near one for each two. Estimates high rather than low.
 */
export function estimateTokens(text: string): number {
  let other = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x24f) other++;
  return Math.ceil((text.length - other) / 4 + other * 0.6);
}

/** What a message costs besides its text: role and separators. */
const MESSAGE_TOKENS = 6;

export function messageTokens(message: ChatMessage): number {
  const text =
    message.role === 'tool'
      ? `${message.name} ${typeof message.result === 'string' ? message.result : JSON.stringify(message.result)}`
      : message.text;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const asked = calls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`).join(' ');
  return MESSAGE_TOKENS + estimateTokens(text) + estimateTokens(asked);
}
