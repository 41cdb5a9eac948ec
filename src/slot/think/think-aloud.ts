import { monotonicMs } from '../../platform/clock.ts';
import type {
  LlmCacheUse,
  LlmDelta,
  LlmFinish,
  LlmUsage,
  ToolCall,
} from '../../providers/contract/language-model.ts';
import { ClauseSplitter } from '../speak/text/clause-splitter.ts';

/** What came with an answer besides its words; complete once the stream has ended. */
export interface AnswerRecord {
  note: string | null;
  toolCalls: ToolCall[];
  usage: LlmUsage;
  /** How the prompt cache served it; null where nothing was said about it. */
  cache: LlmCacheUse | null;
  /** It broke off or was broken off: what the vendor would have told at the end is missing. */
  isCut: boolean;
  /** Why it ended; null where it broke off, or where the model does not say. */
  finish: LlmFinish | null;
  /** Who answered in the end; null where it was the provider that was asked. */
  servedBy: { provider: string; model: string | null } | null;
  /** From the request to the first token of content, be it a word or a tool call; null before one came. */
  firstTokenMs: number | null;
}

/** One answer may be this long; what a model writes beyond it is not spoken. */
const MAX_ANSWER_CHARS = 20_000;

/**
 * Turns a streamed answer into clauses for speech, and keeps what else it carries. `onFirstDelta` is called once, when
 * the model shows its first sign of life. A clause that waits for its end is given when its time is over (RT-38).
 */
export async function* thinkAloud(
  deltas: AsyncIterable<LlmDelta>,
  record: AnswerRecord,
  onFirstDelta: () => void,
): AsyncGenerator<string> {
  const startedAtMs = monotonicMs();
  const splitter = new ClauseSplitter();
  let isFirst = true;
  let characters = 0;
  record.isCut = true;
  for await (const delta of withDueTimes(deltas, () => splitter.dueAtMs())) {
    if (delta === DUE) {
      yield* splitter.flushDue(monotonicMs());
      continue;
    }
    if (delta.type === 'note') record.note = delta.note;
    if (delta.type === 'usage') record.usage = delta.usage;
    if (delta.type === 'cache') record.cache = delta.cache;
    if (delta.type === 'finish') record.finish = delta.reason;
    if (delta.type === 'served_by') record.servedBy = { provider: delta.provider, model: delta.model };
    if (delta.type === 'tool_call') record.toolCalls.push(delta.call);
    if (delta.type === 'text' || delta.type === 'tool_call')
      record.firstTokenMs ??= monotonicMs() - startedAtMs;
    if (isFirst && isSignOfLife(delta)) {
      isFirst = false;
      onFirstDelta();
    }
    if (delta.type !== 'text' || characters >= MAX_ANSWER_CHARS) continue;
    characters += delta.text.length;
    yield* splitter.push(delta.text);
  }
  record.isCut = false;
  if (isFirst) onFirstDelta();
  yield* splitter.flush();
}

/** A note comes ahead of the words and belongs to the same sign of life; who serves, and for what, is none yet. */
function isSignOfLife({ type }: LlmDelta): boolean {
  return type === 'text' || type === 'tool_call' || type === 'finish';
}

export const NO_USAGE: LlmUsage = {
  promptTokens: null,
  completionTokens: null,
  cacheReadTokens: null,
  cacheCreationTokens: null,
};

export function newAnswerRecord(): AnswerRecord {
  return {
    note: null,
    toolCalls: [],
    usage: NO_USAGE,
    cache: null,
    isCut: false,
    finish: null,
    servedBy: null,
    firstTokenMs: null,
  };
}

const DUE = Symbol('due');
/** A clause that is due and has no place to end is asked for again after this. */
const DUE_PAUSE_MS = 25;

/** The deltas, and between them {@link DUE} whenever the moment that `dueAtMs` names passes without one. */
async function* withDueTimes(
  deltas: AsyncIterable<LlmDelta>,
  dueAtMs: () => number | null,
): AsyncGenerator<LlmDelta | typeof DUE> {
  const source = deltas[Symbol.asyncIterator]();
  let next = source.next();
  let isOver = false;
  let askedAtMs = 0;
  try {
    for (;;) {
      const dueMs = dueAtMs();
      const atMs = Math.max(dueMs ?? 0, askedAtMs + DUE_PAUSE_MS);
      const settled = dueMs === null ? await next : await nextOrDue(next, atMs - monotonicMs());
      if (settled === DUE) {
        askedAtMs = monotonicMs();
        yield DUE;
        continue;
      }
      if (settled.done) {
        isOver = true;
        return;
      }
      yield settled.value;
      next = source.next();
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    if (!isOver) {
      next.catch(() => undefined);
      source.return?.().catch(() => undefined);
    }
  }
}

async function nextOrDue<T>(next: Promise<T>, ms: number): Promise<T | typeof DUE> {
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<typeof DUE>((resolve) => {
    timer = setTimeout(() => resolve(DUE), Math.max(0, ms));
  });
  try {
    return await Promise.race([next, due]);
  } finally {
    clearTimeout(timer);
  }
}
