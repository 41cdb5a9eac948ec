import { monotonicMs } from '../../platform/clock.ts';
import type { LlmDelta, LlmFinish, ToolCall } from '../../providers/contract/language-model.ts';
import { isMalformedCall } from '../../providers/contract/provider-error.ts';
import type { AfterSpeech, ToolOutcome } from '../tools/call-tool.ts';
import type { ToolRun, ToolRunner } from '../tools/tool-runner.ts';
import { type AnswerClause, ClauseQueue } from './clause-queue.ts';
import type { ReplyEntry, ReplyStep } from './history.ts';
import { type AnswerRecord, newAnswerRecord, thinkAloud } from './think-aloud.ts';

/** Rounds of tools in one reply (RT-48); after the last one the model is asked for words once more. */
const MAX_TOOL_ROUNDS = 5;
/** Tools of one reply, all rounds together (RT-48). What takes longer goes on, and its result comes into the history. */
const TOOLS_PER_TURN_MS = 12_000;
/** A tool's filler is said where the caller has waited so long without a word before it. */
const FILLER_AFTER_MS = 500;
/** An answer without words is asked for once more before it counts as one. */
const MAX_EMPTY_ANSWERS = 2;
/** So often in a reply is a model asked again that called a tool in a form which cannot be read. */
const MAX_MALFORMED_CALLS = 1;

/** Follows the clauses of one answer of the model in order, and says what of them can be spoken. */
export interface SpeakableWords {
  /** The words as they are written; empty where none can be spoken, or where only what follows tells. */
  clause(text: string): string;
  /** What was kept back and is spoken after all, as nothing more comes; null where nothing was. */
  end(): string | null;
}

export interface AnswerHooks {
  /** The model's first sign of life, and what it remarked. Once. */
  onFirstToken(note: string | null): void;
  /**
   * The reply has begun what cannot be taken back. `isProtected`: it will end the bot's part of the call, so what is
   * said from here on is heard to its end (RT-15, RT-23).
   */
  onBound(how: { isProtected: boolean }): void;
  /** The model is asked; its first word or call of this request; the request is over, complete or not. */
  onAsked?(): void;
  onAnswering?(): void;
  onStep(record: AnswerRecord): void;
  onTool?(what: 'started' | 'ended', tool: string): void;
}

export interface AnswerParts {
  entry: ReplyEntry;
  turnId: number;
  isUncertain: boolean;
  isPreemptive: boolean;
  /** Said where the model says nothing. */
  fallbackLine: string | null;
  ask: (signal: AbortSignal) => AsyncIterable<LlmDelta>;
  tools: ToolRunner;
  speakableWords: () => SpeakableWords;
  onBound(): void;
  onTransferAsked(callId: string): void;
}

/** One reply of the bot: words, tools, words, until the model has nothing more to do. */
export class Answer {
  private readonly parts: AnswerParts;
  private readonly queue = new ClauseQueue();
  private readonly whenConfirmed: Promise<void>;
  private settleConfirmed: () => void;
  private wanted: AfterSpeech | null = null;
  private hasWords = false;
  private speakable: SpeakableWords;
  private lastFinish: LlmFinish | null = null;
  private toolsMs = 0;
  private askedAtMs = 0;
  private isBegun = false;
  private settleThought: () => void;
  /** Settles once nothing more comes of it, well or not. */
  readonly thought: Promise<void>;

  constructor(parts: AnswerParts) {
    this.parts = parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.whenConfirmed = promise;
    this.settleConfirmed = resolve;
    const thought = Promise.withResolvers<void>();
    this.thought = thought.promise;
    this.settleThought = thought.resolve;
    this.speakable = parts.speakableWords();
    if (!parts.isPreemptive) resolve();
  }

  /** What is to be done once the reply has been heard to its end; complete when the clauses are. */
  get after(): AfterSpeech | null {
    return this.wanted;
  }

  /** It has come to its end and says nothing, nor does anything follow from it. */
  get isEmpty(): boolean {
    return !this.hasWords && !this.wanted;
  }

  /** Why the model stopped, the last time it was asked. */
  get finish(): LlmFinish | null {
    return this.lastFinish;
  }

  /** The number under which the speaker keeps what is heard of it. */
  bind(replyId: number): void {
    this.parts.entry.replyId = replyId;
  }

  /** The turn that was guessed has come: tools may run. */
  confirm(): void {
    this.settleConfirmed();
  }

  /**
   * The words, clause by clause; thinking begins with the first one that is asked for and does not wait for the voice.
   * Throws what the model throws, and the signal's reason. Where a voice failed, the words can be read once more from
   * the clause on that it could not speak; signal and hooks are those of the first time.
   */
  async *clauses(signal: AbortSignal, hooks: AnswerHooks): AsyncGenerator<AnswerClause> {
    if (!this.isBegun) this.begin(signal, hooks);
    yield* this.queue.read(signal);
  }

  private begin(signal: AbortSignal, hooks: AnswerHooks): void {
    this.isBegun = true;
    const done = this.make(signal, once(hooks)).then(
      () => this.queue.end(),
      (error: unknown) => this.queue.fail(error),
    );
    const over = () => {
      this.parts.entry.isLive = false;
    };
    signal.addEventListener('abort', over, { once: true });
    void done.then(over).then(this.settleThought);
  }

  private async make(signal: AbortSignal, hooks: AnswerHooks): Promise<void> {
    let rounds = 0;
    let empties = 0;
    let malformed = 0;
    for (;;) {
      const step: ReplyStep = { text: '', calls: [], results: new Map() };
      const calls = await this.think(step, signal, hooks).catch((error: unknown) => {
        if (signal.aborted || !isMalformedCall(error) || ++malformed > MAX_MALFORMED_CALLS) throw error;
        return null;
      });
      // What was said before the call is said, and the model goes on behind it.
      if (calls === null) continue;
      await this.whenConfirmed;
      signal.throwIfAborted();
      const mayCall = rounds < MAX_TOOL_ROUNDS;
      if (calls.length > 0 && mayCall) {
        rounds++;
        if (await this.useTools(step, calls, signal, hooks)) continue;
        break;
      }
      if (calls.length > 0) this.refuseTools(step, calls);
      if (this.hasWords || this.wanted) break;
      // What a content filter has refused it will refuse again.
      if (this.lastFinish !== 'refused' && ++empties < MAX_EMPTY_ANSWERS) continue;
      if (this.parts.fallbackLine !== null) this.say(step, this.parts.fallbackLine);
      break;
    }
    const message = announcementOf(this.wanted);
    const last = this.parts.entry.steps.at(-1);
    if (message && last) this.say(last, message);
  }

  /** One request: its words go to the voice as they come. */
  private async think(step: ReplyStep, signal: AbortSignal, hooks: AnswerHooks): Promise<ToolCall[]> {
    const record = newAnswerRecord();
    this.askedAtMs = monotonicMs();
    hooks.onAsked?.();
    const deltas = this.parts.ask(signal);
    this.speakable = this.parts.speakableWords();
    this.parts.entry.steps.push(step);
    try {
      const clauses = thinkAloud(deltas, record, () => {
        hooks.onAnswering?.();
        hooks.onFirstToken(record.note);
      });
      for await (const clause of clauses) this.say(step, clause);
      this.endText(step);
    } finally {
      this.lastFinish = record.finish;
      hooks.onStep(record);
    }
    return record.toolCalls;
  }

  private say(step: ReplyStep, text: string): void {
    this.keep(step, this.speakable.clause(text));
    this.queue.push({ text, isAside: false });
  }

  /** The answer is complete: what began like code and was none is spoken, and the next answer begins afresh. */
  private endText(step: ReplyStep): void {
    const rest = this.speakable.end();
    if (rest === null) return;
    this.keep(step, rest);
    this.queue.push({ text: '', isAside: false, isLast: true });
  }

  /** What no voice can say is heard by nobody, and so it was never said. */
  private keep(step: ReplyStep, words: string): void {
    if (words === '') return;
    this.hasWords = true;
    step.text = step.text === '' ? words : `${step.text} ${words}`;
  }

  /** Runs what the model asked for, side by side. True where the model is to be asked again. */
  private async useTools(
    step: ReplyStep,
    calls: readonly ToolCall[],
    signal: AbortSignal,
    hooks: AnswerHooks,
  ): Promise<boolean> {
    const { tools, turnId, isUncertain } = this.parts;
    const runs = calls.map((call) => {
      const run = tools.run(call, { id: turnId, isUncertain, signal, askedAtMs: this.askedAtMs });
      step.calls.push(call);
      hooks.onTool?.('started', call.name);
      // Written when it comes, whoever still waits for it then (RT-49).
      const written = run.outcome.then((outcome) => {
        hooks.onTool?.('ended', call.name);
        this.note(step, call, outcome, hooks);
        return outcome;
      });
      if (run.isBinding) this.bindTo(hooks, false);
      return { ...run, written };
    });
    const outcomes = await this.waitFor(runs, step, signal);
    const isOnlyEnding = outcomes.every((outcome) => outcome?.after !== undefined);
    if (!isOnlyEnding) return this.wanted?.kind !== 'voicemail';
    // A goodbye is owed where the model hung up without a word; any other ending has its own words, or needs none.
    return this.wanted?.kind === 'end_call' && !this.hasWords;
  }

  /** Null stands for a tool that is still at work when the time is over. */
  private async waitFor(
    runs: readonly (ToolRun & { written: Promise<ToolOutcome> })[],
    step: ReplyStep,
    signal: AbortSignal,
  ): Promise<(ToolOutcome | null)[]> {
    const startedAtMs = monotonicMs();
    const room = Math.max(0, TOOLS_PER_TURN_MS - this.toolsMs);
    const filler = runs.find(({ tool }) => tool?.filler)?.tool?.filler ?? null;
    const waits = runs.map(({ written, tool }) => {
      const ownMs = tool?.timeoutMs ?? room;
      return expiring(
        written,
        (tool?.waitsForCaller ? ownMs : Math.min(room, ownMs)) + WAIT_GRACE_MS,
        signal,
      );
    });
    const all = Promise.all(waits);
    all.catch(() => undefined);
    if (filler !== null && step.text === '') {
      const quick = await Promise.race([
        all,
        expiring(new Promise<never>(() => {}), FILLER_AFTER_MS, signal),
      ]);
      if (quick === null) this.queue.push({ text: filler, isAside: true });
    }
    const outcomes = await all;
    if (!runs.some(({ tool }) => tool?.waitsForCaller)) this.toolsMs += monotonicMs() - startedAtMs;
    return outcomes;
  }

  private note(step: ReplyStep, call: ToolCall, outcome: ToolOutcome, hooks: AnswerHooks): void {
    step.results.set(call.id, outcome.result);
    if (outcome.sound) {
      // Who presses keys has said something, whether or not there are words to it.
      this.hasWords = true;
      this.queue.push({ text: '', isAside: false, audio: outcome.sound });
    }
    if (!outcome.after || this.wanted) return;
    this.wanted = outcome.after;
    if (outcome.after.kind === 'transfer' || outcome.after.kind === 'handoff')
      this.parts.onTransferAsked(call.id);
    this.bindTo(hooks, true);
  }

  private bindTo(hooks: AnswerHooks, isProtected: boolean): void {
    this.parts.onBound();
    hooks.onBound({ isProtected });
  }

  private refuseTools(step: ReplyStep, calls: readonly ToolCall[]): void {
    for (const call of calls) {
      step.calls.push(call);
      step.results.set(call.id, { error: 'No more tools in this reply. Answer with what you have.' });
    }
  }
}

/** What the caller hears before they are passed on. */
function announcementOf(after: AfterSpeech | null): string | null {
  if (after?.kind === 'transfer') return after.order.message;
  return after?.kind === 'handoff' ? after.message : null;
}

/** A tool reports its own end; this much later it has none. */
const WAIT_GRACE_MS = 250;

/** The value, or null once the time is over; throws the signal's reason when that fires. */
async function expiring<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T | null> {
  signal.throwIfAborted();
  const { promise: ended, resolve, reject } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ms);
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** The first sign of life is told once, however often the model is asked. */
function once(hooks: AnswerHooks): AnswerHooks {
  let told = false;
  return {
    ...hooks,
    onFirstToken(note) {
      if (told) return;
      told = true;
      hooks.onFirstToken(note);
    },
  };
}
