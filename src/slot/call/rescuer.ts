import { describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { LlmFinish } from '../../providers/language-model.ts';
import { failureClass } from '../../providers/provider-error.ts';
import type { RescueLines } from '../../providers/rescue-lines.ts';
import type { Reply, ReplyFailure, Speaker } from '../speak/speaker.ts';
import type { CallLog } from '../wrap-up/call-log.ts';
import { RescueWatch } from './rescue-watch.ts';

/** So many replies in a row that failed: the call ends with a farewell. */
const MAX_FAILED_REPLIES = 2;
/** So many turns in a row that could not be transcribed: the ears are gone and the call with them. */
const MAX_DEAF_TURNS = 3;
/** A farewell that is not over by then is cut by the hang-up. */
const FAREWELL_BOUND_MS = 12_000;

export interface RescuerHooks {
  /** From here on nothing is listened to, and whatever ends the call, the error is its reason. */
  onGivingUp(error: string): void;
  /** The farewell is over, or cannot be spoken. */
  onGivenUp(error: string): void;
}

/**
 * What the caller hears when a provider fails (RT-59): a line that bridges the wait, a request to say it again, or a
 * farewell. The layer below has tried its fallbacks by then; nothing here knows providers. The call goes on wherever
 * it can and never ends in silence.
 */
export class Rescuer {
  private readonly speaker: Speaker;
  private readonly lines: RescueLines;
  private readonly log: CallLog;
  private readonly hooks: RescuerHooks;
  private readonly watch = new RescueWatch();
  private failedReplies = 0;
  private deafTurns = 0;
  /** The reply in which the bridging line was put already. */
  private bridgedReply = -1;
  private isOver = false;

  constructor(options: { speaker: Speaker; lines: RescueLines; log: CallLog; hooks: RescuerHooks }) {
    this.speaker = options.speaker;
    this.lines = options.lines;
    this.log = options.log;
    this.hooks = options.hooks;
  }

  /** Several times a second; the arguments are those of {@link RescueWatch.tick}. */
  tick(owes: boolean, quietSinceMs: number, nowMs: number): void {
    if (this.isOver) return;
    const step = this.watch.tick(owes, quietSinceMs, nowMs);
    if (step === 'give_up') this.giveUp('the bot owed the caller an answer for too long', false);
    if (step === 'rescue') this.bridge();
  }

  /** A reply of the bot's own was heard to its end. */
  replyPlayed(): void {
    this.failedReplies = 0;
    this.watch.settled();
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

  /** The model had no words for an answer, as when its filter refused them: the caller must not wait for any. */
  nothingSaid(finish: LlmFinish | null): void {
    if (!this.isOver) this.say('again', finish === 'refused' ? 'answer_refused' : 'answer_empty', false);
  }

  /** One turn could not be transcribed: the caller is asked again. A bot that stays deaf ends the call. */
  transcriptionFailed(error: Error): void {
    if (this.isOver) return;
    if (++this.deafTurns >= MAX_DEAF_TURNS) this.deaf(error);
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

  private bridge(): void {
    const reply = this.speaker.replyAtWork;
    if (reply) {
      void this.speaker.interject(this.lines.rescue).then((spoken) => {
        if (!spoken) return;
        this.bridgedReply = reply.id;
        this.log.event('rescue_spoken', { line: 'rescue', reason: 'late' });
      });
    } else if (!this.speaker.isBusy) {
      this.say('rescue', 'late', false);
    }
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
    const text = this.lines[line];
    return this.speaker.say(
      'rescue',
      async function* () {
        yield text;
      },
      { withoutVoice },
    );
  }
}
