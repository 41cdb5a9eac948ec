import type { CallEventName } from '../../contracts/call-events.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { VoicemailSettings } from '../../contracts/runtime-config.ts';
import { type AmdVerdict, MachineDetector } from './machine-detector.ts';
import {
  createMessageDrop,
  type DropAction,
  type DropEvent,
  type MessageDrop,
  stepMessageDrop,
} from './message-drop.ts';
import type { ToneEvent } from './tone-detector.ts';

export interface GuardHooks {
  report(event: CallEventName, detail: Record<string, unknown>): void;
  /** It is no person: silence the bot, drop what it thinks, answer nothing any more. */
  stopBot(): void;
  /** Say this, protected, from its beginning; where it is being said already, cut that first. */
  sayMessage(text: string): void;
  /** An assistant asks who calls: say this once, or the opening message where it is null. */
  answerScreening(text: string | null): void;
  /** `customer` where the far end has gone and left a busy tone. */
  hangUp(disconnectedBy: 'voicemail' | 'customer', reason: string): void;
}

export interface GuardOptions {
  language: string | undefined;
  /** `voicemail_detection` of the config; without it only the tool of the language model counts. */
  settings: VoicemailSettings | null;
  /** `voicemail_message` of the config. */
  message: string | null;
  hooks: GuardHooks;
}

/**
 * What a call does about whoever has answered: judges beside the conversation, and when it is a mailbox stops the bot,
 * leaves `voicemail_message` and hangs up (RT-27, RT-28, RT-29). Everything comes with its sample of the line clock at
 * 8 kHz; `audio` or `tick` at least every 100 ms keeps its timers going.
 */
export class VoicemailPolicy {
  private readonly detector: MachineDetector;
  private readonly hooks: GuardHooks;
  private readonly settings: VoicemailSettings | null;
  private readonly message: string | null;
  private drop: MessageDrop | null = null;
  private takesMessage = false;
  private isOver = false;
  private beganSpeakingSample = 0;

  constructor(options: GuardOptions) {
    const { language, settings, message, hooks } = options;
    this.hooks = hooks;
    this.settings = settings?.enabled ? settings : null;
    this.message = message?.trim() || null;
    this.detector = new MachineDetector({
      language,
      ownPhrases: { voicemail: settings?.phrases, screening: settings?.screening_phrases },
    });
  }

  /** A mailbox has answered: no turn is taken, nothing but the message is said. */
  get isLeaving(): boolean {
    return this.drop !== null || this.isOver;
  }

  /** Audio of the far end. */
  audio(samples: Int16Array, fromSample: number): void {
    if (this.isOver) return;
    const now = fromSample + samples.length;
    if (this.drop) {
      for (const event of this.detector.hearTones(samples, fromSample)) this.onToneWhileLeaving(event, now);
      this.step({ type: 'tick' }, now);
    } else if (this.isJudging) {
      for (const event of this.detector.hearTones(samples, fromSample)) this.reportBeep(event);
      this.take(this.detector.tick(now), now);
    }
  }

  speechStart(atSample: number): void {
    const verdict = this.detector.speechStart(atSample);
    if (this.drop) this.step({ type: 'speech_start' }, atSample);
    else if (this.isJudging) this.take(verdict, atSample);
  }

  speechStop(lastSample: number): void {
    const verdict = this.detector.speechStop(lastSample);
    if (this.drop) this.step({ type: 'speech_stop', lastSample }, lastSample);
    else if (this.isJudging) this.take(verdict, lastSample);
  }

  /** What the far end says, so far or in the end. */
  text(text: string, atSample: number): void {
    if (this.isJudging) this.take(this.detector.text(text, atSample), atSample);
  }

  digit(atSample: number): void {
    if (this.isJudging) this.take(this.detector.digit(atSample), atSample);
  }

  /** The language model has called `detected_voicemail`; it counts at any time, and without settings too. */
  toldByModel(atSample: number): void {
    if (!this.isLeaving) this.take(this.detector.llmVerdict('voicemail', atSample), atSample);
  }

  /** The message has been heard to its end, or could not be said. */
  messageEnded(how: 'played' | 'failed', atSample: number): void {
    this.step({ type: how }, atSample);
  }

  /** Time passes without audio. */
  tick(nowSample: number): void {
    if (this.drop) this.step({ type: 'tick' }, nowSample);
    else if (this.isJudging) this.take(this.detector.tick(nowSample), nowSample);
  }

  private get isJudging(): boolean {
    return this.settings !== null && !this.isLeaving && !this.detector.isSettled;
  }

  private take(verdict: AmdVerdict | null, now: number): void {
    if (!verdict) return;
    const { hooks } = this;
    const evidence = verdict.evidence.map(({ layer, what }) => `${layer}:${what}`);
    hooks.report('screening', {
      verdict: verdict.kind,
      evidence,
      is_provisional: verdict.isProvisional,
      is_retraction: verdict.isRetraction,
      duration_ms: toMs(verdict.atSample),
    });
    if (verdict.kind === 'screening') hooks.answerScreening(this.settings?.screening_answer ?? null);
    else if (verdict.kind === 'voicemail') this.leave(verdict, evidence, now);
    else if (verdict.kind === 'tone') this.leaveDeadLine(evidence);
  }

  private leave(verdict: AmdVerdict, evidence: string[], now: number): void {
    this.takesMessage = verdict.takesMessage;
    this.hooks.report('voicemail_detected', {
      by: verdict.evidence.at(-1)?.layer ?? 'timing',
      evidence,
      duration_ms: toMs(verdict.atSample),
    });
    this.hooks.stopBot();
    const { beepEndSample } = verdict;
    this.drop = createMessageDrop({ nowSample: now, beepEndSample, ...this.detector.farEnd });
    this.step({ type: 'tick' }, now);
  }

  private leaveDeadLine(evidence: string[]): void {
    const tone = evidence.findLast((one) => one.startsWith('tone:'))?.slice(5) ?? 'tone';
    this.isOver = true;
    this.hooks.stopBot();
    this.hooks.hangUp(tone === 'busy' || tone === 'congestion' ? 'customer' : 'voicemail', tone);
  }

  private onToneWhileLeaving(event: ToneEvent, now: number): void {
    this.reportBeep(event);
    if (event.type === 'tone_end' && event.isBeep)
      this.step({ type: 'beep', endSample: event.toSample }, now);
    else if (event.type === 'progress' && event.kind !== 'ringback') this.step({ type: 'line_dead' }, now);
  }

  private step(event: DropEvent, now: number): void {
    if (!this.drop || this.isOver) return;
    const canLeave = this.takesMessage && this.message !== null;
    const action = stepMessageDrop(this.drop, event, now, canLeave);
    if (action) this.obey(action, now);
  }

  private obey(action: DropAction, now: number): void {
    if (action.type !== 'hang_up') {
      this.beganSpeakingSample = now;
      this.hooks.sayMessage(this.message ?? '');
      return;
    }
    this.isOver = true;
    this.hooks.report('message_left', {
      status: action.wasLeft ? 'left' : 'not_left',
      reason: action.why,
      duration_ms: action.wasLeft ? toMs(now - this.beganSpeakingSample) : 0,
    });
    this.hooks.hangUp('voicemail', action.why);
  }

  private reportBeep(event: ToneEvent): void {
    if (event.type !== 'tone_end' || !event.isBeep) return;
    const detail = { hz: Math.round(event.hz), duration_ms: toMs(event.toSample - event.fromSample) };
    this.hooks.report('beep', detail);
  }
}

function toMs(samples: number): number {
  return Math.round((samples * 1_000) / LINE_RATE_HZ);
}
