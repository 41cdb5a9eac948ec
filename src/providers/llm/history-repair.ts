import type { ChatMessage, ToolCall } from '../contract/language-model.ts';
import type { ProviderContext } from '../contract/provider-context.ts';

export type HistoryRepair =
  /** A tool call got a result that says it was not finished. */
  | 'result_missing'
  /** A result that answers no call was left out. */
  | 'result_without_call'
  /** A second result for one call was left out. */
  | 'result_repeated'
  /** A result was moved up to its call. */
  | 'result_moved'
  /** Two calls bore one id; the later got another. */
  | 'call_id_repeated'
  /** A message without words was left out. */
  | 'empty_text'
  /** A last turn of the bot got a remark after it: no current model goes on from its own words. */
  | 'trailing_assistant';

export interface RepairedHistory {
  messages: ChatMessage[];
  /** What had to be done, each kind once, in the order found; empty for a sound history. */
  repairs: HistoryRepair[];
}

/** Stands for a result that never came: the tool was interrupted, or the slot that ran it was. */
export const UNFINISHED_RESULT = { error: 'The tool was interrupted and has no result.' };
/** Where vendors want the first word from the user, but the bot has opened the call. */
export const CALL_STARTED = '[The call has started.]';
/** Where the bot is to speak again although nobody answered. */
export const NO_ANSWER_YET = '[The caller has not answered yet.]';

/**
 * Makes a history that every vendor takes (RT-86). One interrupted tool leaves a call without a result, and vendors
 * refuse every request that carries such a pair with 400 for the rest of the call. Results stand right after their
 * calls, in the order of the calls; nothing is empty; the last turn is not the bot's. The input is left as it is.
 *
 * `opensWithUser` is for vendors that refuse a history which the bot has opened; that is how most calls begin, so it
 * does not count as a repair.
 */
export function repairHistory(
  history: readonly ChatMessage[],
  rule: { opensWithUser: boolean },
): RepairedHistory {
  const repairs = new Set<HistoryRepair>();
  const results = indexResults(history, repairs);
  const messages: ChatMessage[] = [];
  const usedIds = new Set<string>();
  for (const [position, message] of history.entries()) {
    if (message.role === 'tool') continue;
    if (message.role === 'user' || !message.toolCalls?.length) {
      if (message.text.trim() === '') repairs.add('empty_text');
      else messages.push(message.role === 'user' ? message : { role: 'assistant', text: message.text });
      continue;
    }
    const calls = message.toolCalls.map((call) => withOwnId(call, usedIds, repairs));
    messages.push({ ...message, toolCalls: calls });
    for (const [index, call] of message.toolCalls.entries()) {
      const found = takeResult(results, call.id, position);
      if (!found) repairs.add('result_missing');
      else if (isMoved(history, position, found.position)) repairs.add('result_moved');
      messages.push({
        role: 'tool',
        callId: calls[index]?.id ?? call.id,
        name: call.name,
        result: found ? found.result : UNFINISHED_RESULT,
      });
    }
  }
  if ([...results.values()].some((left) => left.length > 0)) repairs.add('result_without_call');
  return { messages: withEnds(messages, rule, repairs), repairs: [...repairs] };
}

interface PlacedResult {
  position: number;
  result: unknown;
}

/** Results by the id of their call. Where an id has more results than calls, the first ones count. */
function indexResults(
  history: readonly ChatMessage[],
  repairs: Set<HistoryRepair>,
): Map<string, PlacedResult[]> {
  const callCounts = new Map<string, number>();
  for (const message of history) {
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) callCounts.set(call.id, (callCounts.get(call.id) ?? 0) + 1);
  }
  const results = new Map<string, PlacedResult[]>();
  for (const [position, message] of history.entries()) {
    if (message.role !== 'tool') continue;
    const known = results.get(message.callId) ?? [];
    const calls = callCounts.get(message.callId) ?? 0;
    if (calls > 0 && known.length >= calls) {
      repairs.add('result_repeated');
      continue;
    }
    results.set(message.callId, [...known, { position, result: message.result }]);
  }
  return results;
}

/** A result belongs to a call only if it came after it. */
function takeResult(
  results: Map<string, PlacedResult[]>,
  callId: string,
  callPosition: number,
): PlacedResult | null {
  const waiting = results.get(callId) ?? [];
  const index = waiting.findIndex((result) => result.position > callPosition);
  if (index < 0) return null;
  return waiting.splice(index, 1)[0] ?? null;
}

/** Between a call and its result there may be nothing but other results. */
function isMoved(history: readonly ChatMessage[], callPosition: number, resultPosition: number): boolean {
  return history.slice(callPosition + 1, resultPosition).some((message) => message.role !== 'tool');
}

function withOwnId(call: ToolCall, usedIds: Set<string>, repairs: Set<HistoryRepair>): ToolCall {
  let id = call.id;
  for (let count = 2; usedIds.has(id); count++) id = `${call.id}_${count}`;
  usedIds.add(id);
  if (id === call.id) return call;
  repairs.add('call_id_repeated');
  return { ...call, id };
}

function withEnds(
  messages: ChatMessage[],
  rule: { opensWithUser: boolean },
  repairs: Set<HistoryRepair>,
): ChatMessage[] {
  if (messages.length === 0) return [{ role: 'user', text: CALL_STARTED }];
  const last = messages.at(-1);
  if (last?.role === 'assistant') {
    repairs.add('trailing_assistant');
    messages.push({ role: 'user', text: NO_ANSWER_YET });
  }
  if (rule.opensWithUser && messages[0]?.role !== 'user') {
    messages.unshift({ role: 'user', text: CALL_STARTED });
  }
  return messages;
}

/** {@link repairHistory} for a client: what was repaired becomes an event of the call. */
export function repairForVendor(
  history: readonly ChatMessage[],
  how: { opensWithUser: boolean; provider: string; context: ProviderContext },
): ChatMessage[] {
  const { messages, repairs } = repairHistory(history, how);
  if (repairs.length > 0) {
    how.context.report({ event: 'history_repaired', provider: how.provider, family: 'llm', repairs });
  }
  return messages;
}
