import {
  abandonRequest,
  admits,
  type Breaker,
  beginRequest,
  newBreaker,
  recordFailure,
  recordSuccess,
} from '../../platform/circuit-breaker.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import type { CallTool, ToolOutcome } from './call-tool.ts';

/** Where passages come from. A call without a knowledge base has none. */
export interface KnowledgePort {
  /** At most `topK` passages, best first. Rejects where the base cannot be asked. */
  search(question: KnowledgeQuestion, signal: AbortSignal): Promise<KnowledgePassage[]>;
}

export interface KnowledgeQuestion {
  query: string;
  knowledgeBaseIds: readonly string[];
  topK: number;
  minScore: number;
}

export interface KnowledgePassage {
  text: string;
  source: string | null;
  score: number;
}

/** The caller waits for the answer that the passages are for (D-31). */
export const KNOWLEDGE_BUDGET_MS = 300;
const MAX_QUERY_CHARS = 1_000;
/** All passages together: more would crowd the conversation out of the model's context. */
const MAX_PASSAGE_CHARS = 6_000;

/**
 * `search_knowledge`. A base that is slow or down costs one budget and no more: after some failures it is not asked for
 * a while, and the bot answers without it.
 */
export function searchKnowledgeTool(
  declaration: Record<string, unknown>,
  knowledge: Readonly<Record<string, unknown>>,
  port: KnowledgePort | null,
): CallTool {
  const breaker = newBreaker();
  const settings = {
    knowledgeBaseIds: Array.isArray(knowledge.knowledge_base_ids)
      ? knowledge.knowledge_base_ids.map(String)
      : [],
    topK: typeof knowledge.top_k === 'number' ? knowledge.top_k : 4,
    minScore: typeof knowledge.min_score === 'number' ? knowledge.min_score : 0.2,
  };
  return {
    name: 'search_knowledge',
    isBuiltIn: true,
    declaration,
    isSideEffect: false,
    timeoutMs: KNOWLEDGE_BUDGET_MS,
    filler: null,
    run(args, { signal }) {
      const query = typeof args.query === 'string' ? args.query.trim().slice(0, MAX_QUERY_CHARS) : '';
      if (query === '') return refused('bad_arguments', 'the query is empty');
      if (!port || knowledge.enabled === false || !admits(breaker, monotonicMs())) return notAvailable();
      return ask(port, { query, ...settings }, breaker, signal);
    },
  };
}

async function ask(
  port: KnowledgePort,
  question: KnowledgeQuestion,
  breaker: Breaker,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const overdue = new AbortController();
  beginRequest(breaker, monotonicMs());
  try {
    const searching = port.search(question, AbortSignal.any([signal, overdue.signal]));
    // A base that does not hear the signal is not waited for either.
    const passages = await within(searching, KNOWLEDGE_BUDGET_MS, null);
    if (passages === null) {
      overdue.abort();
      recordFailure(breaker, monotonicMs());
      return refused('timeout', 'the knowledge base did not answer in time; answer without it');
    }
    recordSuccess(breaker, monotonicMs());
    return { status: 'ok', result: { passages: bounded(passages.slice(0, question.topK)) } };
  } catch (error) {
    if (signal.aborted) {
      abandonRequest(breaker);
      throw error;
    }
    recordFailure(breaker, monotonicMs());
    return notAvailable();
  }
}

function bounded(passages: readonly KnowledgePassage[]): { text: string; source: string | null }[] {
  let room = MAX_PASSAGE_CHARS;
  const kept: { text: string; source: string | null }[] = [];
  for (const { text, source } of passages) {
    if (room <= 0) break;
    kept.push({ text: text.slice(0, room), source });
    room -= text.length;
  }
  return kept;
}

function notAvailable(): ToolOutcome {
  return refused('not_available', 'there is no knowledge base to search now; answer without it');
}

function refused(status: string, error: string): ToolOutcome {
  return { status, result: { error }, error };
}
