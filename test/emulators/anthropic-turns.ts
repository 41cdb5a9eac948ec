import { refused } from './anthropic-models.ts';
import type { PromptBlock } from './llm/breakpoint-cache.ts';
import { type Complaint, isRecord, records } from './llm/complaint.ts';
import { wordsInside } from './llm/tokens.ts';

type Block = Record<string, unknown>;

export interface Turn {
  role: string;
  blocks: Block[];
}

/** Messages with their content as blocks; neighbours of one role count as one turn. */
export function turnsOf(body: Record<string, unknown>): Turn[] {
  const turns: Turn[] = [];
  for (const message of records(body.messages)) {
    const blocks = blocksOf(message.content);
    const last = turns.at(-1);
    if (last && last.role === message.role) last.blocks.push(...blocks);
    else turns.push({ role: String(message.role), blocks });
  }
  return turns;
}

export function blocksOf(content: unknown): Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : records(content);
}

/** The first break of the rules for turns: who begins, who ends, and each tool use with its result right after it. */
export function claudeTurnComplaint(turns: readonly Turn[]): Complaint | null {
  if (turns[0]?.role !== 'user') return refused('messages: first message must use the "user" role');
  if (turns.at(-1)?.role !== 'user') {
    return refused(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  for (const [index, turn] of turns.entries()) {
    const results = turn.blocks.filter((block) => block.type === 'tool_result');
    const before = turns[index - 1];
    const used = (before?.blocks ?? []).filter((block) => block.type === 'tool_use').map((block) => block.id);
    const answered = results.map((block) => block.tool_use_id);
    const stray = answered.find((id) => !used.includes(id));
    if (stray !== undefined) {
      return refused(
        `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    const left = used.filter((id) => !answered.includes(id));
    // A result that stands behind other content counts as missing.
    const late = turn.blocks.slice(0, results.length).some((block) => block.type !== 'tool_result');
    if (left.length > 0 || late) {
      return refused(
        `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${used.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    if (new Set(answered).size !== answered.length) {
      return refused(
        'each tool_use must have a single result. Found multiple `tool_result` blocks with one id.',
      );
    }
  }
  return null;
}

/** At most four marks, the long-lived ones first (Anthropic's documentation, prompt caching). */
export function markComplaint(blocks: readonly PromptBlock[]): Complaint | null {
  const marks = blocks.flatMap((block) => (block.mark ? [block.mark.ttl] : []));
  if (marks.length > 4) {
    return refused(`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`);
  }
  const firstShort = marks.indexOf('5m');
  if (firstShort !== -1 && marks.lastIndexOf('1h') > firstShort) {
    return refused(
      "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    );
  }
  return null;
}

/** The prompt as the cache sees it: tools, then system, then messages. */
export function promptBlocks(body: Record<string, unknown>, turns: readonly Turn[]): PromptBlock[] {
  const blocks = [
    ...records(body.tools).map((tool) => promptBlock('tool', tool)),
    ...blocksOf(body.system).map((block) => promptBlock('system', block)),
    ...turns.flatMap((turn) => turn.blocks.map((block) => promptBlock(turn.role, block))),
  ];
  // A mark on the request itself counts as one on its last block.
  const last = blocks.at(-1);
  if (last && isRecord(body.cache_control)) last.mark ??= { ttl: ttlOf(body.cache_control) };
  return blocks;
}

function promptBlock(place: string, block: Block): PromptBlock {
  const { cache_control: mark, ...rest } = block;
  return { text: `${place} ${wordsInside(rest)}`, mark: isRecord(mark) ? { ttl: ttlOf(mark) } : null };
}

function ttlOf(mark: Record<string, unknown>): '5m' | '1h' {
  return mark.ttl === '1h' ? '1h' : '5m';
}
