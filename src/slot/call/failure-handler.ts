import { describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { LlmFinish } from '../../providers/contract/language-model.ts';
import { failureClass } from '../../providers/contract/provider-error.ts';
import type { RescueLines } from '../../providers/spoken-lines/rescue-lines.ts';
import type { CallLog } from '../record/call-log.ts';
import { type BotVoice, justThis } from '../speak/bot-voice.ts';
import type { Reply, ReplyFailure } from '../speak/speaker.ts';

/** So many replies in a row that failed: the call ends with a farewell. */
const MAX_FAILED_REPLIES = 2;
/** So often the caller is asked to wait for one answer; after that only its end is waited for. */
const MAX_BRIDGES = 3;
/** So many turns in a row that could not be transcribed: the speech input is gone and the call with them. */
const MAX_SILENT_STT_TURNS = 3;
/** The same for an engine that stands, has never told a word, and has no other behind it. */
const MAX_MUTE_STT_TURNS = 2;
/** A farewell that is not over by then is cut by the hang-up. */
const FAREWELL_BOUND_MS = 12_000;

/** How a reply that failed can be mended. */
export interface Mending {
  /** What follows from it whatever becomes of its words, as far as that is known by now. */
  order(): StandingOrder | null;
  /** Makes it once more. */
  again(): void;
}

/** The bot was to hang up, or to pass the caller on, once its words were heard. */
export interface StandingOrder {
  /** Said in place of those words. */
  line: 'goodbye' | 'connecting';
  /** Done with `lastWords`, or without them where they cannot be spoken either. */
  carryOut(lastWords: Reply): void;
}

export interface FailureHandlerHooks {
  /** From here on nothing is listened to, and whatever ends the call, the error is its reason. */
  onGivingUp(error: string): void;
  /** The farewell is over, or cannot be spoken. */
  onGivenUp(error: string): void;
}

/**
 * What the caller hears when a provider fails (RT-59): a line that bridges the wait, a request to say it again, or a
 * farewell. The layer below has tried its fallbacks by then; nothing here knows providers. The call goes on wherever
 * it can and never ends in silence; what a reply ordered is done though its words failed. How long the bot has owed an answer is the turn machine's to count.
 */
export class FailureHandler {
  private readonly voice: BotVoice;
  private readonly lines: RescueLines;
  private readonly log: CallLog;
  private readonly hooks: FailureHandlerHooks;
  private bridges = 0;
  private failedReplies = 0;
  private deafTurns = 0;
  /** The reply in which the bridging line was put already. */
  private bridgedReply = -1;
  /** Stands in for the words of an order, which is carried out with it whether or not it can be spoken. */
  private lastWords: Reply | null = null;
  private isOver = false;

  constructor(options: { voice: BotVoice; lines: RescueLines; log: CallLog; hooks: FailureHandlerHooks }) {
    this.voice = options.voice;
    this.lines = options.lines;
    this.log = options.log;
    this.hooks = options.hooks;
  }

  /** The bot owes the caller words, and the line is silent: a line bridges the wait. */
  bridge(): void {
    if (this.isOver || this.bridges >= MAX_BRIDGES) return;
    const reply = this.voice.replyAtWork;
    if (reply) {
      void this.voice.interject(this.lines.rescue).then((spoken) => {
        if (spoken) this.bridged(reply.id);
      });
    } else if (!this.voice.isBusy) {
      this.voice.sayAside(this.lines.rescue);
      this.bridged(-1);
    }
  }

  /** The bot has owed an answer for too long. */
  onResponseTimeout(): void {
    this.giveUp('the bot owed the caller an answer for too long', false);
  }

  /** A reply of the bot's own was heard to its end. */
  replyPlayed(): void {
    this.failedReplies = 0;
    this.bridges = 0;
  }

  /** Words of the caller were understood. */
  heardTurn(): void {
    this.deafTurns = 0;
  }

  replyFailed(reply: Reply, failure: ReplyFailure, mending: Mending | null): void {
    if ((this.isOver && reply.kind !== 'rescue') || reply === this.lastWords) return;
    const withoutVoice = failure.stage === 'voice';
    if (reply.kind === 'rescue') {
      this.isOver = true;
      this.hooks.onGivenUp(`the bot cannot speak: ${describeError(failure.error)}`);
      return;
    }
    // What a model refuses to answer it refuses again; the caller may have something else to say.
    const isRefusal = failureClass(failure.error) === 'content';
    if (!isRefusal) this.failedReplies++;
    const error = `the bot cannot ${withoutVoice ? 'speak' : 'answer'}: ${describeError(failure.error)}`;
    // What was spoken before the failure is heard out first.
    void reply.ended.then((how) => {
      if (how !== 'failed' || this.isOver) return;
      const order = mending?.order();
      if (order) this.keepOrder(order, withoutVoice);
      else if (this.failedReplies >= MAX_FAILED_REPLIES) this.giveUp(error, withoutVoice);
      else if (failure.spoke) this.say('again', 'reply_broke_off', withoutVoice);
      else if (isRefusal) this.say('again', 'answer_refused', withoutVoice);
      else this.tryAgain(reply, withoutVoice, mending);
    });
  }

  /** What was heard is too uncertain to act on. */
  askAgain(): Reply | null {
    return this.isOver ? null : this.say('again', 'not_understood', false);
  }

  /** The model had no words for an answer, as when its filter refused them: the caller must not wait for any. */
  nothingSaid(finish: LlmFinish | null): void {
    if (!this.isOver) this.say('again', finish === 'refused' ? 'answer_refused' : 'answer_empty', false);
  }

  /** The model's filter has stopped it within an answer: the caller heard a part of it, and is not left with that. */
  answerCutShort(reply: Reply): void {
    if (this.isOver) return;
    this.log.event('provider_failed', {
      family: 'llm',
      class: 'content',
      in_answer: true,
      reply: reply.id,
      error: "the model's content filter stopped its answer",
    });
    this.say('again', 'answer_refused', false);
  }

  /**
   * One turn could not be transcribed: the caller is asked again. A bot that stays deaf ends the call; `isMute` where
   * its engine has never told a word and no other can be asked.
   */
  transcriptionFailed(error: Error, isMute = false): void {
    if (this.isOver) return;
    if (++this.deafTurns >= (isMute ? MAX_MUTE_STT_TURNS : MAX_SILENT_STT_TURNS)) this.deaf(error);
    else this.say('again', 'not_transcribed', false);
  }

  /** Speech to text is gone for good. */
  deaf(error: Error): void {
    this.giveUp(`the bot cannot hear: ${describeError(error)}`, false);
  }

  private keepOrder(order: StandingOrder, withoutVoice: boolean): void {
    this.lastWords = this.say(order.line, 'order_stands', withoutVoice, true);
    order.carryOut(this.lastWords);
  }

  private tryAgain(reply: Reply, withoutVoice: boolean, mending: Mending | null): void {
    if (!mending) return;
    if (this.bridgedReply === reply.id) {
      mending.again();
      return;
    }
    // The next attempt is made while the line is heard.
    const line = this.say('rescue', 'reply_failed', withoutVoice);
    void line.made.then((ok) => {
      if (ok && !this.isOver) mending.again();
    });
  }

  private bridged(replyId: number): void {
    this.bridges++;
    this.bridgedReply = replyId;
    this.log.event('rescue_spoken', { line: 'rescue', reason: 'late' });
  }

  private giveUp(error: string, withoutVoice: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.hooks.onGivingUp(error);
    const farewell = this.say('farewell', 'giving_up', withoutVoice);
    void within(farewell.ended, FAREWELL_BOUND_MS, 'cut').then(() => this.hooks.onGivenUp(error));
  }

  private say(line: keyof RescueLines, reason: string, withoutVoice: boolean, isProtected = false): Reply {
    this.log.event('rescue_spoken', { line, reason });
    return this.voice.say('rescue', () => justThis(this.lines[line]), { withoutVoice, isProtected });
  }
}
