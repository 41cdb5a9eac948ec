import type { ChatMessage, ToolCall } from '../../providers/contract/language-model.ts';
import { messageTokens } from './token-estimate.ts';

/** One request to the model and what came of it. */
export interface ReplyStep {
  /** What it wrote, clause by clause joined. */
  text: string;
  calls: ToolCall[];
  /** By the id of the call; they come when they come, also after the reply was cut (RT-49). */
  results: Map<string, unknown>;
}

export interface ReplyEntry {
  role: 'reply';
  /** Null for what the bot says without a turn before it. */
  turnId: number | null;
  /** Set once the speaker has given it a number. */
  replyId: number | null;
  steps: ReplyStep[];
  /** Being made: the model sees what it wrote, since none of it can have been heard yet. */
  isLive: boolean;
}

type Entry = { role: 'user'; turnId: number; text: string } | ReplyEntry;

/** Entries beyond this are forgotten, oldest first. */
const MAX_ENTRIES = 400;
/** Once the budget is passed the history shrinks to this share of it, so that not every turn changes its beginning. */
const SHRINK_TO = 0.75;
/** Stands for a result that is not there yet. */
const STILL_RUNNING = { status: 'running', note: 'Not finished yet. Do not call it again.' };

/**
 * What was said, as the model is told it: the caller's words, and of the bot's only those that were heard (RT-17); tool
 * calls always together with their results. It keeps to a budget of tokens (RT-54): the oldest exchanges go first and
 * whole, the last thing that the caller said always stays.
 */
export class History {
  private readonly heardText: (replyId: number) => string;
  private readonly budgetTokens: number;
  private readonly entries: Entry[] = [];

  /** `heardText`: what the caller heard of a reply so far, by its number. */
  constructor(options: { heardText: (replyId: number) => string; budgetTokens: number }) {
    this.heardText = options.heardText;
    this.budgetTokens = options.budgetTokens;
  }

  /** The same turn is told once, however often it is answered. */
  userSaid(turnId: number, text: string): void {
    if (this.entries.some((entry) => entry.role === 'user' && entry.turnId === turnId)) return;
    this.add({ role: 'user', turnId, text });
  }

  beginReply(turnId: number | null): ReplyEntry {
    const entry: ReplyEntry = { role: 'reply', turnId, replyId: null, steps: [], isLive: true };
    this.add(entry);
    return entry;
  }

  /** The caller takes a turn back by going on: the turn and what was made of it never were. */
  withdraw(turnId: number): void {
    for (let index = this.entries.length - 1; index >= 0; index--) {
      if (this.entries[index]?.turnId === turnId) this.entries.splice(index, 1);
    }
  }

  /** For a request; shrinks the history where it has grown beyond its budget. */
  messages(): ChatMessage[] {
    let parts = this.entries.map((entry) => this.messagesOf(entry));
    const costs = parts.map((messages) => messages.reduce((sum, message) => sum + messageTokens(message), 0));
    let total = costs.reduce((sum, cost) => sum + cost, 0);
    if (total > this.budgetTokens) {
      const lastUser = this.entries.findLastIndex((entry) => entry.role === 'user');
      let drop = 0;
      while (drop < lastUser && total > this.budgetTokens * SHRINK_TO) total -= costs[drop++] ?? 0;
      // An answer without its question would be the first thing that the model reads.
      while (drop < lastUser && this.entries[drop]?.role === 'reply') drop++;
      this.entries.splice(0, drop);
      parts = parts.slice(drop);
    }
    return parts.flat();
  }

  private add(entry: Entry): void {
    this.entries.push(entry);
    if (this.entries.length > MAX_ENTRIES) this.entries.shift();
  }

  private messagesOf(entry: Entry): ChatMessage[] {
    if (entry.role === 'user') return [{ role: 'user', text: entry.text }];
    const heard = entry.replyId === null ? '' : this.heardText(entry.replyId);
    if (entry.steps.length === 0) return heard === '' ? [] : [{ role: 'assistant', text: heard }];
    const texts = entry.isLive ? entry.steps.map(({ text }) => text) : shareOut(heard, entry.steps);
    return entry.steps.flatMap((step, index) => stepMessages(step, texts[index] ?? ''));
  }
}

function stepMessages(step: ReplyStep, text: string): ChatMessage[] {
  if (step.calls.length === 0) return text === '' ? [] : [{ role: 'assistant', text }];
  return [
    { role: 'assistant', text, toolCalls: step.calls },
    ...step.calls.map(
      (call): ChatMessage => ({
        role: 'tool',
        callId: call.id,
        name: call.name,
        result: step.results.get(call.id) ?? STILL_RUNNING,
      }),
    ),
  ];
}

/** Divides what was heard of a reply among its steps: each has what it wrote until the words heard are used up. */
export function shareOut(heard: string, steps: readonly Pick<ReplyStep, 'text'>[]): string[] {
  let rest = heard;
  return steps.map(({ text }, index) => {
    const isLast = index === steps.length - 1;
    if (text === '' && !isLast) return '';
    const share = !isLast && rest.startsWith(text) ? text : isLast || rest.length <= text.length ? rest : '';
    rest = rest.slice(share.length).trimStart();
    return share;
  });
}
