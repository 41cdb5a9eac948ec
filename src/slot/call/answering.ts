import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { within } from '../../platform/clock.ts';
import type { CallMeter } from '../measure/call-measures.ts';
import { type BotVoice, justThis } from '../speak/bot-voice.ts';
import type { Fillers } from '../speak/fillers.ts';
import type { Clause, Reply, ReplyEnd, ReplyFailure } from '../speak/speaker.ts';
import type { Agent } from '../think/agent.ts';
import type { AnswerHooks } from '../think/answer.ts';
import { type ClosurePhrases, closurePhrases } from '../think/closure-phrases.ts';
import type { AfterSpeech } from '../tools/call-tool.ts';
import type { TransferOutcome } from '../transfer/transfer-machine.ts';
import type { TurnDriver } from '../turn/turn-driver.ts';
import type { TurnWaits } from '../turn/turn-waits.ts';
import type { CallReporter, UserTurn } from './call-reporter.ts';
import type { FailureHandler, Mending, StandingOrder } from './failure-handler.ts';
import type { PreemptiveGeneration, Thinking } from './preemptive-generation.ts';

/** Before words are said once more, the rest of the answer is waited for; the rescue line is heard meanwhile. */
const ORDER_BOUND_MS = 2_000;

export interface AnsweringParts {
  config: RuntimeConfig;
  voice: BotVoice;
  agent: Agent;
  reporter: CallReporter;
  failureHandler: FailureHandler;
  measures: CallMeter;
  fillers: Fillers;
  preemptive: PreemptiveGeneration;
  floor: () => { turns: TurnDriver; waits: TurnWaits };
  /** A reply was heard that something follows from; `end_call` is the turn machine's to carry out. */
  onAfterSpeech(after: Exclude<AfterSpeech, { kind: 'end_call' }>): void;
  onTurnLogged(): void;
}

/** An answer on its way to the caller, over as many replies as it takes to say it. */
interface Saying {
  readonly answer: Thinking;
  readonly turn: UserTurn | null;
  /** Ends the thinking. */
  readonly thinking: AbortController;
  /** Asks the model once more, where the words are what failed. */
  readonly anew: () => void;
  /** What says it now. */
  reply: Reply | null;
  /** It has begun what cannot be taken back, which holds for every reply that says it. */
  bound: { isProtected: boolean } | null;
  /** The voice failed before anything was heard: the thinking goes on, since the same words will be said once more. */
  isKept: boolean;
}

/**
 * Has the bot say things: answers to turns, which the agent makes, and lines of its own. Each becomes a reply of the
 * voice, belongs into the history as far as it was heard, and can be made once more when a provider failed it.
 */
export class Answering {
  private readonly parts: AnsweringParts;
  private readonly closures: ClosurePhrases;
  private readonly prompts = new WeakMap<Reply, Mending>();
  /** The latest answer. */
  private saying: Saying | null = null;
  private takenTurn: UserTurn | undefined;
  /** Said in place of the next answer. */
  private readyLine: string | null = null;
  /** Why the bot hangs up, once it does. */
  endReason = '';

  constructor(parts: AnsweringParts) {
    this.parts = parts;
    this.closures = closurePhrases(parts.config.conversation_policy);
  }

  /** Answers a turn; `isUncertain` where it was understood too poorly to act on it (RT-83). */
  answer(turn: UserTurn, isUncertain = false): void {
    if (this.readyLine !== null) {
      this.dropPreemptive('the turn is not answered');
      this.turnTaken(turn, null);
      this.parts.measures.turnTaken(timesOf(turn), this.sayReadyLine(this.readyLine).id);
      return;
    }
    const reply = this.tryAnswer(turn, isUncertain);
    this.parts.measures.turnTaken(timesOf(turn), reply.id);
    this.parts.fillers.turnTaken(turn.endpointMs + turn.transcribeMs);
  }

  /** A turn that was understood too poorly is asked for once more instead. */
  askAgain(turn: UserTurn): void {
    this.parts.preemptive.drop('the turn is not answered');
    this.turnTaken(turn, null);
    const reply = this.parts.failureHandler.askAgain();
    if (reply) this.parts.measures.turnTaken(timesOf(turn), reply.id);
  }

  /** What was thought ahead for a turn that does not come is given up. */
  dropPreemptive(reason: string): void {
    this.parts.preemptive.drop(reason);
  }

  /** The caller is still here after a transfer, and hears why. */
  afterTransfer(outcome: Extract<TransferOutcome, { kind: 'failed' }>): void {
    const reply = this.sayAnswer(this.parts.agent.afterTransfer(outcome), null, () =>
      this.afterTransfer(outcome),
    );
    this.parts.measures.replyBegun(reply.id);
  }

  /** What the other side asks is known already: it hears this once it has stopped talking, and no model is asked. */
  answerNextWith(line: string): void {
    if (line.trim() !== '') this.readyLine = line;
  }

  /** Says that line where no turn came that it could answer. */
  answerWhenQuiet(): void {
    const { phase, isSpeech } = this.parts.floor().turns.state;
    if (this.readyLine === null || this.parts.voice.isBusy || isSpeech || phase !== 'caller_silent') return;
    this.sayReadyLine(this.readyLine);
  }

  private sayReadyLine(line: string): Reply {
    this.readyLine = null;
    return this.sayText('prompt', line);
  }

  /** A line of the bot's own that belongs into the conversation. */
  sayText(kind: Reply['kind'], text: string, isProtected = false): Reply {
    const { voice, agent } = this.parts;
    const reply = voice.say(kind, () => justThis(text), { isProtected });
    agent.botSays(reply.id);
    this.prompts.set(reply, { order: () => null, again: () => void this.sayText(kind, text, isProtected) });
    void reply.ended.then((how) => this.onReplyEnded(reply, how));
    return reply;
  }

  /** A turn that is answered a second time is told once. */
  private turnTaken(turn: UserTurn, note: string | null): void {
    if (this.takenTurn === turn) return;
    this.takenTurn = turn;
    this.parts.reporter.turnTaken(turn, note);
    this.parts.onTurnLogged();
  }

  /** How a reply that has just failed can be mended; null where nothing is worth it. */
  mendingOf(reply: Reply, failure: ReplyFailure): Mending | null {
    const { saying } = this;
    if (saying?.reply !== reply) return this.prompts.get(reply) ?? null;
    saying.isKept = failure.stage === 'voice' && !failure.spoke;
    return {
      order: () => this.orderOf(saying),
      again: () => {
        if (saying.isKept) this.parts.measures.replyBegun(this.sayOnce(saying, true).id);
        else saying.anew();
      },
    };
  }

  /** Nothing more is thought for anybody. */
  stop(): void {
    this.saying?.thinking.abort(new DOMException('nobody answers any more', 'AbortError'));
  }

  private tryAnswer(turn: UserTurn, isUncertain: boolean): Reply {
    // A guess was made before anybody knew how poorly the words were understood.
    if (isUncertain) this.dropPreemptive('the words are uncertain');
    const begun = this.parts.preemptive.take(turn.id, turn.text);
    const answer = begun ?? this.parts.agent.answer({ id: turn.id, text: turn.text, isUncertain });
    return this.sayAnswer(answer, turn, () => {
      this.parts.measures.replyBegun(this.tryAnswer(turn, isUncertain).id);
    });
  }

  private sayAnswer(answer: Thinking, turn: UserTurn | null, anew: () => void): Reply {
    // Whatever was kept to be said once more is not said any more, nor told to the model as if it were.
    if (this.saying?.isKept) this.stop();
    const thinking = new AbortController();
    const saying: Saying = { answer, turn, thinking, anew, reply: null, bound: null, isKept: false };
    this.saying = saying;
    return this.sayOnce(saying);
  }

  /** `isAgain`: from the clause on that no voice could speak. */
  private sayOnce(saying: Saying, isAgain = false): Reply {
    const { answer, thinking } = saying;
    saying.isKept = false;
    const reply = this.parts.voice.say('answer', (_signal, begun) => {
      saying.reply = begun;
      answer.bind(begun.id);
      if (!isAgain) this.parts.measures.modelAsked(begun.id);
      return this.think(saying, isAgain);
    });
    if (saying.bound) this.tellBound(reply, saying.bound);
    reply.signal.addEventListener('abort', () => {
      if (!saying.isKept) thinking.abort(reply.signal.reason);
    });
    void reply.ended.then((how) => {
      this.onReplyEnded(reply, how);
      if (how === 'cut') thinking.abort(reply.signal.reason);
      if (how !== 'played') return;
      const { after } = answer;
      if (after?.kind === 'transfer' || after?.kind === 'handoff') this.parts.onAfterSpeech(after);
      else if (answer.isEmpty) this.parts.failureHandler.nothingSaid(answer.finish);
      else if (answer.finish === 'refused' && after === null) this.parts.failureHandler.answerCutShort(reply);
      else this.closeOnPhrase(reply);
    });
    return reply;
  }

  private async *think(saying: Saying, isAgain: boolean): AsyncGenerator<Clause> {
    const { answer, thinking } = saying;
    // A voice that fails at once must not be faster than the order that stands behind the words.
    if (isAgain) await within(answer.thought, ORDER_BOUND_MS, undefined);
    yield* answer.clauses(thinking.signal, this.hooksOf(saying));
    if (answer.after?.kind === 'end_call' && !thinking.signal.aborted) this.endCall(answer.after.reason);
  }

  private hooksOf(saying: Saying): AnswerHooks {
    const { reporter, measures } = this.parts;
    const { answer, turn } = saying;
    const replyId = () => saying.reply?.id ?? -1;
    return {
      onFirstToken: (note) => {
        measures.modelAnswers(replyId());
        if (turn) this.turnTaken(turn, note);
      },
      onBound: ({ isProtected }) => {
        saying.bound = { isProtected: isProtected || saying.bound?.isProtected === true };
        if (saying.reply) this.tellBound(saying.reply, saying.bound);
        // To a machine nothing more is said.
        if (answer.after?.kind === 'voicemail') this.parts.onAfterSpeech(answer.after);
      },
      onStep: (record) => {
        measures.modelEnded(replyId());
        reporter.answered(record);
        this.parts.preemptive.used(record);
      },
    };
  }

  private tellBound(reply: Reply, { isProtected }: { isProtected: boolean }): void {
    this.parts.floor().turns.send({ type: 'reply_bound', reply: reply.id, isProtected });
  }

  /** What the answer ordered, to be done though its words failed; a machine was told of at once. */
  private orderOf({ answer }: Saying): StandingOrder | null {
    const { after } = answer;
    if (after?.kind === 'end_call') return { line: 'goodbye', carryOut: () => this.endCall(after.reason) };
    if (after?.kind !== 'transfer' && after?.kind !== 'handoff') return null;
    return {
      line: 'connecting',
      carryOut: (lastWords) => {
        void lastWords.ended.then((how) => {
          if (how !== 'cut') this.parts.onAfterSpeech(after);
        });
      },
    };
  }

  /** The call ends with what is being said. */
  private endCall(reason: string): void {
    this.endReason = reason;
    this.parts.floor().turns.send({ type: 'close', cause: 'end_call' });
  }

  /** The bot has said goodbye in so many words: the call is over unless the caller objects (RT-22). */
  private closeOnPhrase(reply: Reply): void {
    const phrase = this.closures.find(this.parts.voice.ledger.heardText(reply.id));
    if (phrase === null) return;
    this.parts.reporter.closing(phrase);
    this.parts.floor().turns.send({ type: 'close', cause: 'closure_phrase' });
  }

  private onReplyEnded(reply: Reply, how: ReplyEnd): void {
    const { voice, failureHandler } = this.parts;
    this.parts.floor().waits.botSaid(voice.ledger.heardText(reply.id));
    if (how === 'played') failureHandler.replyPlayed();
  }
}

function timesOf({ id, toSample, decidedAtSample, decidedAtMs }: UserTurn) {
  return { turn: id, toSample, decidedAtSample, decidedAtMs };
}
