import type { Agent } from '../think/agent.ts';
import type { Answer, AnswerHooks } from '../think/answer.ts';
import { type AnswerClause, ClauseQueue } from '../think/clause-queue.ts';
import type { AnswerRecord } from '../think/think-aloud.ts';
import { estimateTokens } from '../think/token-estimate.ts';
import { normalised } from '../turn/interruption-meaning.ts';

/** What may be written for nothing, as a share of what was written for answers that were used (RT-51). */
const WASTE_SHARE = 0.15;
/** So much is allowed before there is anything to take a share of, in tokens. */
const FREE_TOKENS = 200;

/** A reply in the making, whether begun now or guessed before. */
export type Thinking = Pick<Answer, 'bind' | 'after' | 'isEmpty' | 'finish' | 'thought' | 'clauses'>;

export interface PreemptiveGenerationParts {
  agent: Agent;
  /** `llm.speculate` of the bot. */
  isOn: boolean;
  onUsed(turn: number): void;
  /** A guess was wrong, or came to nothing; called once it has stopped. */
  onWasted(waste: {
    turn: number;
    reason: string;
    completionTokens: number;
    record: AnswerRecord | null;
  }): void;
}

/**
 * Thinks ahead (RT-51): when a turn is probably over and its words are probably known, the model is asked before both
 * are certain. No tool runs and nothing is spoken until the guess has come true; if it does not, what it cost is told.
 */
export class PreemptiveGeneration {
  private readonly parts: PreemptiveGenerationParts;
  private pending: PreemptiveAnswer | null = null;
  private usedTokens = 0;
  private wastedTokens = 0;

  constructor(parts: PreemptiveGenerationParts) {
    this.parts = parts;
  }

  /** The turn is probably over with these words. */
  begin(turn: number, text: string): void {
    const { parts } = this;
    const isTheSame = this.pending?.turn === turn && normalised(this.pending.text) === normalised(text);
    if (!parts.isOn || text.trim() === '' || isTheSame) return;
    this.drop('the words changed');
    if (this.wastedTokens > FREE_TOKENS + WASTE_SHARE * this.usedTokens) return;
    const answer = parts.agent.answer({ id: turn, text }, { isPreemptive: true });
    this.pending = new PreemptiveAnswer(turn, text, answer);
  }

  /** The turn has come: the answer that was begun for it, or null where there is none for these words. */
  take(turn: number, text: string): Thinking | null {
    const { pending } = this;
    if (pending?.turn !== turn || normalised(pending.text) !== normalised(text)) {
      this.drop('the words changed');
      return null;
    }
    this.pending = null;
    this.parts.onUsed(turn);
    return pending;
  }

  /** The caller goes on, or somebody else does. */
  drop(reason: string): void {
    const { pending } = this;
    if (!pending) return;
    this.pending = null;
    this.parts.agent.withdraw(pending.turn);
    void pending.stop().then((record) => {
      const told = record?.usage.completionTokens ?? null;
      // Of an answer that was stopped a vendor has not told all, and some tell nothing.
      const isAll = told !== null && record?.isCut === false;
      const completionTokens = isAll ? told : Math.max(told ?? 0, estimateTokens(pending.written));
      this.wastedTokens += completionTokens;
      this.parts.onWasted({ turn: pending.turn, reason, completionTokens, record });
    });
  }

  /** A request for an answer that counts is over. */
  used(record: AnswerRecord): void {
    this.usedTokens += record.usage.completionTokens ?? 0;
  }
}

/** An answer whose words are kept until somebody wants them. */
class PreemptiveAnswer implements Thinking {
  readonly turn: number;
  readonly text: string;
  /** What the model has written so far. */
  written = '';
  private readonly answer: Answer;
  private readonly abort = new AbortController();
  private readonly queue = new ClauseQueue();
  private readonly pumped: Promise<void>;
  private hooks: AnswerHooks | null = null;
  /** What happened before anybody wanted to know. */
  private readonly untold: ((hooks: AnswerHooks) => void)[] = [];
  private lastRecord: AnswerRecord | null = null;

  constructor(turn: number, text: string, answer: Answer) {
    this.turn = turn;
    this.text = text;
    this.answer = answer;
    this.pumped = this.pump();
  }

  get after() {
    return this.answer.after;
  }

  get isEmpty(): boolean {
    return this.answer.isEmpty;
  }

  get finish() {
    return this.answer.finish;
  }

  get thought() {
    return this.answer.thought;
  }

  bind(replyId: number): void {
    this.answer.bind(replyId);
  }

  async *clauses(signal: AbortSignal, hooks: AnswerHooks): AsyncGenerator<AnswerClause> {
    const stop = () => this.abort.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    this.hooks = hooks;
    for (const tell of this.untold.splice(0)) tell(hooks);
    this.answer.confirm();
    yield* this.queue.read(signal);
  }

  /** Gives up; resolves to what its request cost, null where the model was not even reached. */
  async stop(): Promise<AnswerRecord | null> {
    this.abort.abort(new DOMException('the words turned out to be others', 'AbortError'));
    this.answer.confirm();
    await this.pumped;
    return this.lastRecord;
  }

  private async pump(): Promise<void> {
    const tell = (what: (hooks: AnswerHooks) => void) => {
      if (this.hooks) what(this.hooks);
      else this.untold.push(what);
    };
    try {
      const clauses = this.answer.clauses(this.abort.signal, {
        onFirstToken: (note) => tell((hooks) => hooks.onFirstToken(note)),
        onBound: (how) => tell((hooks) => hooks.onBound(how)),
        onStep: (record) => {
          this.lastRecord = record;
          tell((hooks) => hooks.onStep(record));
        },
      });
      for await (const clause of clauses) {
        this.written += `${clause.text} `;
        this.queue.push(clause);
      }
      this.queue.end();
    } catch (error) {
      this.queue.fail(error);
    }
  }
}
