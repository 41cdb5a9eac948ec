import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { Reply } from '../speak/speaker.ts';
import type { Conversation } from '../think/conversation.ts';
import { type AnswerRecord, newAnswerRecord, thinkAloud } from '../think/think-aloud.ts';
import type { CallAction } from '../turn/turn-driver.ts';
import { msOf, reEngagementLines } from '../turn/turn-rules.ts';
import type { CallLog } from '../wrap-up/call-log.ts';
import { type BotVoice, justThis } from './bot-voice.ts';
import type { CallEars } from './call-ears.ts';
import type { CallReporter, UserTurn } from './call-reporter.ts';
import { durationWarning } from './duration-warning.ts';
import type { EndSignal } from './end-arbiter.ts';
import type { Rescuer } from './rescuer.ts';

/** Below this mean confidence the caller is asked to say it again, once (RT-83). */
const LOW_CONFIDENCE = 0.4;

export interface FloorParts {
  config: RuntimeConfig;
  voice: BotVoice;
  conversation: Conversation;
  reporter: CallReporter;
  rescuer: Rescuer;
  log: CallLog;
  ears: () => CallEars;
  end(signal: EndSignal): void;
  onTurnLogged(): void;
}

/**
 * Does what the turn machine asks for: lets the bot begin, pause, go on and stop, has turns answered, and tells the
 * record. Who speaks when is not decided here.
 */
export class FloorKeeper {
  private readonly parts: FloorParts;
  private readonly prompts: readonly string[];
  /** How a reply is made once more when its providers failed. */
  private readonly attempts = new WeakMap<Reply, () => void>();
  /** What noise cut off, until somebody says something: the bot goes on with it. */
  private unheard = '';
  private endReason = '';
  private takenTurn: UserTurn | undefined;
  private askedAgain = false;
  private warningIsDue = false;
  private readonly expired: Record<string, number> = {};
  userTurns = 0;
  overlaps = 0;

  constructor(parts: FloorParts) {
    this.parts = parts;
    this.prompts = reEngagementLines(parts.config.re_engagement);
  }

  /** Timers that guarded against something stuck and fired, by name (RT-09). */
  get expiredTimers(): Record<string, number> {
    return this.expired;
  }

  obey(action: CallAction): void {
    const { voice, rescuer, log } = this.parts;
    switch (action.type) {
      case 'hold_bot':
        voice.hold();
        log.event('bot_held');
        return;
      case 'resume_bot':
        voice.resume();
        log.event('bot_resumed');
        return;
      case 'cut_bot':
        this.cut();
        return;
      case 'withdraw':
        voice.cut();
        this.parts.conversation.withdrawTurn();
        this.parts.reporter.withdrawn(action.reply);
        return;
      case 'take_turn':
        this.takeTurn(action);
        return;
      case 'overlap':
        this.keepOverlap(action);
        return;
      case 'empty_turn':
        this.onEmptyTurn(action.mayContinue);
        return;
      case 'say_again':
        rescuer.transcriptionFailed(this.parts.ears().turns.lastFailure);
        return;
      case 're_engage':
        log.event('re_engagement', { line: action.line });
        this.sayText('prompt', this.prompts[action.line] ?? '');
        return;
      case 'say_filler':
      case 'say_rescue':
        rescuer.bridge();
        return;
      case 'warn_duration':
        this.warningIsDue = true;
        this.warnWhenQuiet();
        return;
      case 'closing_cancelled':
        log.event('closing_cancelled', { reason: 'the caller spoke' });
        return;
      case 'expired':
        this.expired[action.timer] = (this.expired[action.timer] ?? 0) + 1;
        log.event('timer_expired', { timer: action.timer, count: this.expired[action.timer] });
        return;
      case 'end':
        this.onEnd(action.cause);
        return;
    }
  }

  /** The bot's first line. */
  open(text: string): void {
    this.sayText('opening', text, this.parts.config.vad.protect_opening ?? false);
  }

  /** A line of the bot's own that belongs into the conversation. */
  sayText(kind: Reply['kind'], text: string, isProtected = false): void {
    const { voice, conversation } = this.parts;
    const reply = voice.say(kind, () => justThis(text), { isProtected });
    conversation.botReplies(reply.id);
    this.attempts.set(reply, () => this.sayText(kind, text, isProtected));
    void reply.ended.then((how) => this.onReplyEnded(reply, how === 'played'));
  }

  /** Makes a failed reply once more; null where it is not worth it. */
  attemptOf(reply: Reply): (() => void) | null {
    return this.attempts.get(reply) ?? null;
  }

  /** A line that nobody waits for is said when nobody else speaks. */
  warnWhenQuiet(): void {
    const { voice, config, log } = this.parts;
    if (!this.warningIsDue || voice.isBusy || this.parts.ears().turns.state.phase !== 'caller_silent') return;
    this.warningIsDue = false;
    log.event('duration_warning');
    this.sayText('prompt', durationWarning(config));
  }

  private takeTurn(action: Extract<CallAction, { type: 'take_turn' }>): void {
    const { reporter, rescuer, conversation, log } = this.parts;
    const ears = this.parts.ears();
    const evidence = ears.turns.evidenceOf(action.turn);
    const now = ears.turns.state.nowSample;
    const turn: UserTurn = {
      id: action.turn,
      text: action.text,
      confidence: evidence.confidence,
      fromSample: action.fromSample,
      toSample: action.toSample,
      decidedBy: action.decidedBy,
      probability: action.probability,
      ruleReason: action.decidedBy === 'silence_rule' ? evidence.ruleReason : null,
      endpointMs: msOf(Math.max(0, action.decidedAtSample - action.toSample)),
      transcribeMs: msOf(Math.max(0, now - action.decidedAtSample)),
    };
    this.userTurns++;
    this.unheard = '';
    rescuer.heardTurn();
    reporter.turn(turn, now);
    const isUncertain = turn.confidence !== null && turn.confidence < LOW_CONFIDENCE;
    if (isUncertain) {
      const action = this.askedAgain ? 'accepted' : 'asked_again';
      log.event('low_confidence', { confidence: Math.round((turn.confidence ?? 0) * 100) / 100, action });
    }
    const asks = isUncertain && !this.askedAgain;
    this.askedAgain = asks;
    if (asks) {
      this.turnTaken(turn, null);
      rescuer.askAgain();
      return;
    }
    conversation.userSaid(turn.text);
    this.answer(turn);
  }

  private answer(turn: UserTurn): void {
    const { voice, conversation, reporter } = this.parts;
    const record = newAnswerRecord();
    const reply = voice.say('answer', (signal) => this.think(turn, record, signal));
    conversation.botReplies(reply.id);
    this.attempts.set(reply, () => this.answer(turn));
    void reply.ended.then((how) => {
      reporter.answered(record);
      this.onReplyEnded(reply, how === 'played');
    });
  }

  private async *think(turn: UserTurn, record: AnswerRecord, signal: AbortSignal): AsyncGenerator<string> {
    const answer = this.parts.conversation.answer(signal);
    yield* thinkAloud(answer, record, () => this.turnTaken(turn, record.note));
    if (!signal.aborted) this.callTools(record);
  }

  private callTools(record: AnswerRecord): void {
    for (const call of record.toolCalls) {
      const isEndCall = call.name === 'end_call';
      this.parts.reporter.toolCall(call, isEndCall);
      if (!isEndCall) continue;
      const { reason } = call.args;
      this.endReason = typeof reason === 'string' ? reason : '';
      this.parts.ears().turns.send({ type: 'close', cause: 'end_call' });
    }
  }

  /** A turn that is answered a second time is told once. */
  private turnTaken(turn: UserTurn, note: string | null): void {
    if (this.takenTurn === turn) return;
    this.takenTurn = turn;
    this.parts.reporter.turnTaken(turn, note);
    this.parts.onTurnLogged();
  }

  private onReplyEnded(reply: Reply, wasPlayed: boolean): void {
    this.parts.ears().waits.botSaid(this.parts.voice.ledger.heardText(reply.id));
    if (wasPlayed) this.parts.rescuer.replyPlayed();
  }

  private cut(): void {
    const { voice, reporter } = this.parts;
    const droppedMs = voice.queuedMs;
    const reply = voice.cut();
    if (!reply) return;
    this.unheard = voice.ledger.unheardText(reply.id);
    reporter.interrupted(reply, droppedMs);
  }

  private keepOverlap(action: Extract<CallAction, { type: 'overlap' }>): void {
    this.overlaps++;
    const { turns } = this.parts.ears();
    this.parts.reporter.overlap(
      action.text,
      turns.overlapMeaning(action.text),
      action.fromSample,
      turns.state.nowSample,
    );
  }

  /** Speech without words. Where it cut the bot off, the bot goes on with what the caller has not heard. */
  private onEmptyTurn(mayContinue: boolean): void {
    this.parts.log.event('empty_turn');
    const rest = this.unheard;
    this.unheard = '';
    if (mayContinue && rest !== '' && !this.parts.voice.isBusy) this.sayText('prompt', rest);
  }

  private onEnd(cause: Extract<CallAction, { type: 'end' }>['cause']): void {
    const { end, rescuer } = this.parts;
    if (cause === 'bot_debt') rescuer.owedTooLong();
    else if (cause === 'end_call') end({ kind: 'end_call', reason: this.endReason });
    else if (cause === 'closure_phrase') end({ kind: 'closure_phrase' });
    else end({ kind: cause });
  }
}
