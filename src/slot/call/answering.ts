import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { CallMeter } from '../measure/call-measures.ts';
import { type BotVoice, justThis } from '../speak/bot-voice.ts';
import type { Fillers } from '../speak/fillers.ts';
import type { Clause, Reply, ReplyEnd } from '../speak/speaker.ts';
import type { Agent } from '../think/agent.ts';
import { type ClosurePhrases, closurePhrases } from '../think/closure-phrases.ts';
import type { AfterSpeech } from '../tools/call-tool.ts';
import type { TransferOutcome } from '../transfer/transfer-machine.ts';
import type { TurnDriver } from '../turn/turn-driver.ts';
import type { TurnWaits } from '../turn/turn-waits.ts';
import type { CallReporter, UserTurn } from './call-reporter.ts';
import type { FailureHandler } from './failure-handler.ts';
import type { PreemptiveGeneration, Thinking } from './preemptive-generation.ts';

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

/**
 * Has the bot say things: answers to turns, which the agent makes, and lines of its own. Each becomes a reply of the
 * voice, belongs into the history as far as it was heard, and can be made once more when a provider failed it.
 */
export class Answering {
  private readonly parts: AnsweringParts;
  private readonly closures: ClosurePhrases;
  private readonly attempts = new WeakMap<Reply, () => void>();
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
    this.attempts.set(reply, () => this.sayText(kind, text, isProtected));
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

  /** Makes a failed reply once more; null where it is not worth it. */
  attemptOf(reply: Reply): (() => void) | null {
    return this.attempts.get(reply) ?? null;
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

  private sayAnswer(answer: Thinking, turn: UserTurn | null, again: () => void): Reply {
    const { voice, failureHandler } = this.parts;
    const reply: Reply = voice.say('answer', (signal) => this.think(answer, turn, signal, () => reply.id));
    answer.bind(reply.id);
    this.parts.measures.modelAsked(reply.id);
    this.attempts.set(reply, again);
    void reply.ended.then((how) => {
      this.onReplyEnded(reply, how);
      if (how !== 'played') return;
      const { after } = answer;
      if (after?.kind === 'transfer' || after?.kind === 'handoff') this.parts.onAfterSpeech(after);
      else if (answer.isEmpty) failureHandler.nothingSaid(answer.finish);
      else if (answer.finish === 'refused' && after === null) failureHandler.answerCutShort(reply);
      else this.closeOnPhrase(reply);
    });
    return reply;
  }

  private async *think(
    answer: Thinking,
    turn: UserTurn | null,
    signal: AbortSignal,
    replyId: () => number,
  ): AsyncGenerator<Clause> {
    const { reporter, measures } = this.parts;
    const { turns } = this.parts.floor();
    const clauses = answer.clauses(signal, {
      onFirstToken: (note) => {
        measures.modelAnswers(replyId());
        if (turn) this.turnTaken(turn, note);
      },
      onBound: ({ isProtected }) => {
        turns.send({ type: 'reply_bound', reply: replyId(), isProtected });
        // To a machine nothing more is said.
        if (answer.after?.kind === 'voicemail') this.parts.onAfterSpeech(answer.after);
      },
      onStep: (record) => {
        measures.modelEnded(replyId());
        reporter.answered(record);
        this.parts.preemptive.used(record);
      },
    });
    yield* clauses;
    if (answer.after?.kind !== 'end_call' || signal.aborted) return;
    this.endReason = answer.after.reason;
    turns.send({ type: 'close', cause: 'end_call' });
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
