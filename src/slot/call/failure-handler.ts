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
/** A farewell that is not over by then is cut by the hang-up. */
const FAREWELL_BOUND_MS = 12_000;

export interface FailureHandlerHooks {
  /** From here on nothing is listened to, and whatever ends the call, the error is its reason. */
  onGivingUp(error: string): void;
  /** The farewell is over, or cannot be spoken. */
  onGivenUp(error: string): void;
}

/**
 * What the caller hears when a provider fails (RT-59): a line that bridges the wait, a request to say it again, or a
 * farewell. The layer below has tried its fallbacks by then; nothing here knows providers. The call goes on wherever
 * it can and never ends in silence. How long the bot has owed an answer is the turn machine's to count.
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

  /** A turn was transcribed. */
  heardTurn(): void {
    this.deafTurns = 0;
  }

  /** `again` makes the reply once more; null where it is not worth it. */
  replyFailed(reply: Reply, failure: ReplyFailure, again: (() => void) | null): void {
    if (this.isOver && reply.kind !== 'rescue') return;
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
      if (this.failedReplies >= MAX_FAILED_REPLIES) this.giveUp(error, withoutVoice);
      else if (failure.spoke) this.say('again', 'reply_broke_off', withoutVoice);
      else if (isRefusal) this.say('again', 'answer_refused', withoutVoice);
      else this.tryAgain(reply, withoutVoice, again);
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

  /** One turn could not be transcribed: the caller is asked again. A bot that stays deaf ends the call. */
  transcriptionFailed(error: Error): void {
    if (this.isOver) return;
    if (++this.deafTurns >= MAX_SILENT_STT_TURNS) this.deaf(error);
    else this.say('again', 'not_transcribed', false);
  }

  /** Speech to text is gone for good. */
  deaf(error: Error): void {
    this.giveUp(`the bot cannot hear: ${describeError(error)}`, false);
  }

  private tryAgain(reply: Reply, withoutVoice: boolean, again: (() => void) | null): void {
    if (!again) return;
    if (this.bridgedReply === reply.id) {
      again();
      return;
    }
    // The next attempt is made while the line is heard.
    const line = this.say('rescue', 'reply_failed', withoutVoice);
    void line.made.then((ok) => {
      if (ok && !this.isOver) again();
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

  private say(line: keyof RescueLines, reason: string, withoutVoice: boolean): Reply {
    this.log.event('rescue_spoken', { line, reason });
    return this.voice.say('rescue', () => justThis(this.lines[line]), { withoutVoice });
  }
}
