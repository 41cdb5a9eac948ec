import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { spokenLanguage } from '../../providers/rescue-lines.ts';
import { LineClock } from '../audio/line-clock.ts';
import { CallerListener, type UserTurn } from '../listen/caller-listener.ts';
import { LateSession } from '../listen/late-session.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import { liveSystemParts } from '../providers/prompt-cache-client.ts';
import type { Recorder } from '../record/recorder.ts';
import { Pacer } from '../speak/pacer.ts';
import { type Reply, type ReplyFailure, Speaker } from '../speak/speaker.ts';
import { SpeechLedger } from '../speak/speech-ledger.ts';
import { Conversation } from '../think/conversation.ts';
import { declaredTools } from '../think/declared-tools.ts';
import { type AnswerRecord, newAnswerRecord, thinkAloud } from '../think/think-aloud.ts';
import type { CallTransport, TransportHandlers } from '../transport/call-transport.ts';
import type { CallLog } from '../wrap-up/call-log.ts';
import type { OpenedProviders } from './call-providers.ts';
import { CallReporter } from './call-reporter.ts';
import { type EndSignal, type EndVerdict, judgeEnd } from './end-arbiter.ts';
import { Rescuer } from './rescuer.ts';
import { SilenceWatch } from './silence-watch.ts';

/** How far frames run ahead of the caller's ear (RT-43: 200 ms on a telephone socket). */
const PACER_LEAD_MS = 200;
/** Between the last heard sample of a goodbye and the hang-up (RT-23). */
const HANGUP_PAUSE_MS = 300;
/** Speech that is no cough: a caller who said so much and was never understood was not silent. */
const UNHEARD_SPEECH_SAMPLES = LINE_RATE_HZ / 2;
const GAP_BLOCK = new Int16Array(LINE_RATE_HZ);

export interface SessionParts {
  config: RuntimeConfig;
  transport: CallTransport;
  providers: Omit<OpenedProviders, 'context' | 'finish'>;
  vad: VoiceActivity | null;
  turnModel: TurnModel | null;
  recorder: Recorder | null;
  log: CallLog;
  logger: Logger;
  /** The pacer ticked: the audio path lives. */
  onPulse(): void;
  /** It is decided how the call ends; the wind-down follows. */
  onVerdict(verdict: EndVerdict): void;
  /** A turn is complete in the journal. */
  onTurnLogged(): void;
}

/**
 * One live conversation: wires the line to the ears and the voice to the line, and holds the few states that the
 * stages share. Every stage has a file of its own; what stands here is who tells whom.
 */
export class CallSession {
  private readonly parts: SessionParts;
  private readonly log: CallLog;
  private readonly clock = new LineClock(monotonicMs);
  private readonly ledger = new SpeechLedger();
  private readonly pacer: Pacer;
  private readonly speaker: Speaker;
  private readonly silence: SilenceWatch;
  private readonly conversation: Conversation;
  private readonly reporter: CallReporter;
  private readonly settleEnd: (verdict: EndVerdict) => void;
  private readonly whenEnded: Promise<EndVerdict>;
  private readonly rescuer: Rescuer;
  /** How a reply is made once more when its providers failed. */
  private readonly attempts = new WeakMap<Reply, () => void>();
  private listener: CallerListener | undefined;
  private sttSession: LateSession | undefined;
  private verdict: EndVerdict | undefined;
  private durationTimer: NodeJS.Timeout | undefined;
  private closing = false;
  /** Why the call is being given up; a caller who hangs up during the farewell does not change it. */
  private givingUp: string | null = null;
  /** What noise cut off, until somebody says something: the bot goes on with it. */
  private unheard = '';
  private userTurns = 0;
  private takenTurn: UserTurn | undefined;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.log = parts.log;
    const { log } = parts;
    const { stt, llm, tts, lines, rescueLines } = parts.providers;
    const cacheVersion = liveSystemParts(parts.config)?.version ?? null;
    this.reporter = new CallReporter({ log, ledger: this.ledger, stt, llm, tts, cacheVersion });
    const { promise, resolve } = Promise.withResolvers<EndVerdict>();
    this.whenEnded = promise;
    this.settleEnd = resolve;
    this.pacer = new Pacer({
      leadMs: PACER_LEAD_MS,
      now: monotonicMs,
      lineSamples: () => this.clock.samples,
      sink: {
        onFrame: (frame, playAtSample, unitId, playAtMs) => {
          parts.transport.sendAudio(frame);
          parts.recorder?.bot(frame, playAtSample);
          this.speaker.onFrame(unitId, playAtMs, FRAME_SAMPLES);
        },
        onUnitSent: (unitId, playEndMs) => this.speaker.onUnitSent(unitId, playEndMs),
        onUnsent: (unitId, samples) => this.speaker.onUnsent(unitId, samples),
        onTick: () => this.tick(),
      },
    });
    this.speaker = new Speaker({
      tts,
      pacer: this.pacer,
      ledger: this.ledger,
      hooks: {
        onFirstAudio: (reply) => this.onFirstAudio(reply),
        onHeard: (reply) => this.reporter.heard(reply),
        onSynthesized: (clause) =>
          this.reporter.synthesized({ ...clause, servedBy: clause.servedBy?.provider ?? null }),
        onFailure: (reply, failure) => this.onReplyFailure(reply, failure),
        sendMark: (name) => parts.transport.sendMark(name),
        sendClear: () => {
          parts.transport.sendClear();
          parts.recorder?.cutBot();
        },
      },
      lines,
      language: spokenLanguage(parts.config),
    });
    this.rescuer = new Rescuer({
      speaker: this.speaker,
      lines: rescueLines,
      log: parts.log,
      hooks: {
        onGivingUp: (error) => {
          this.givingUp = error;
          this.closing = true;
        },
        onGivenUp: (error) => this.end({ kind: 'pipeline_error', error }),
      },
    });
    this.silence = new SilenceWatch(parts.config.re_engagement);
    this.conversation = new Conversation({
      llm,
      system: parts.config.system_prompt,
      systemParts: liveSystemParts(parts.config),
      tools: declaredTools(parts.config.tools),
      heardText: (replyId) => this.ledger.heardAnswer(replyId),
    });
  }

  /** What the transport calls; audio flows once `run` has begun. */
  readonly transportHandlers: TransportHandlers = {
    onAudio: (samples) => this.onAudio(samples),
    onMark: (name) => this.speaker.onMark(name),
    onDtmf: (digit) => this.log.event('dtmf', { digit }),
    onStop: (reason) => this.end({ kind: 'stop', reason }),
    onGone: (loss) => this.end({ kind: 'line_gone', loss }),
  };

  /** Runs the conversation to its end and says how it ended. The line is closed when this resolves. Never rejects. */
  async run(): Promise<EndVerdict> {
    const { config, transport } = this.parts;
    try {
      this.startListening();
      this.durationTimer = setTimeout(
        () => this.end({ kind: 'max_duration' }),
        config.max_call_duration_seconds * 1000,
      );
      this.pacer.start();
      transport.ready(config.session_id);
      this.log.event('call_started');
      if (config.opening_message.trim() !== '') this.sayText('opening', config.opening_message);
    } catch (error) {
      this.end({ kind: 'pipeline_error', error: describeError(error) });
    }
    const verdict = await this.whenEnded;
    await this.windDown(verdict);
    return verdict;
  }

  /** Takes a signal that the call is over. The first one decides. */
  end(signal: EndSignal): void {
    if (this.verdict) return;
    const verdict = this.judge(signal);
    this.verdict = verdict;
    this.closing = true;
    clearTimeout(this.durationTimer);
    this.parts.onVerdict(verdict);
    this.settleEnd(verdict);
  }

  /** A provider's failure is never the caller's: neither a silence that nobody heard nor leaving during a farewell. */
  private judge(signal: EndSignal): EndVerdict {
    const { givingUp } = this;
    const callerSpoke = this.userTurns > 0;
    if (givingUp !== null && (signal.kind === 'stop' || signal.kind === 'line_gone')) {
      return { ...judgeEnd({ kind: 'pipeline_error', error: givingUp }, callerSpoke), lineStands: false };
    }
    const spokeUnheard = !callerSpoke && (this.listener?.speechSamples ?? 0) >= UNHEARD_SPEECH_SAMPLES;
    if (signal.kind === 'caller_silent' && spokeUnheard && this.parts.providers.hearingTroubles() > 0) {
      const error = 'the caller spoke and no speech to text understood it';
      return judgeEnd({ kind: 'pipeline_error', error }, callerSpoke);
    }
    return judgeEnd(signal, callerSpoke);
  }

  /** Facts for `end_detail`. */
  get facts(): Record<string, unknown> {
    return {
      user_turns: this.userTurns,
      speech_seconds: (this.listener?.speechSamples ?? 0) / LINE_RATE_HZ,
      received_seconds: (this.clock.samples - this.clock.filledSamples) / LINE_RATE_HZ,
      filled_seconds: this.clock.filledSamples / LINE_RATE_HZ,
      ...(this.parts.providers.troubles() > 0 ? { provider_troubles: this.parts.providers.troubles() } : {}),
    };
  }

  /** The bot speaks first and the engine connects meanwhile. */
  private startListening(): void {
    const { vad, turnModel, config } = this.parts;
    const { stt } = this.parts.providers;
    const opening = stt.open({
      onInterim: () => this.listener?.onInterim(),
      onTurn: (event) => this.listener?.onEngineTurn(event),
      onFailure: (error) => this.onDeaf(error),
    });
    opening.catch((error) => this.onDeaf(error));
    this.sttSession = new LateSession(opening);
    this.listener = new CallerListener({
      vad,
      turnModel,
      stt: this.sttSession,
      wantsSilence: () => stt.wantsSilence,
      engineDetectsTurns: () => stt.detectsTurns ?? false,
      config: config.vad,
      hooks: {
        botHasTheFloor: () => this.speaker.isBusy && !this.closing,
        onInterruption: () => this.onInterruption(),
        onTurn: (turn) => this.onTurn(turn),
        onEmptyTurn: () => this.onEmptyTurn(),
        onTranscriptionFailure: (error) => this.onTranscriptionFailure(error),
      },
    });
  }

  private onAudio(samples: Int16Array): void {
    if (this.verdict && !this.verdict.lineStands) return;
    this.clock.received(samples.length);
    this.parts.recorder?.caller(samples);
    if (!this.closing) this.listener?.hear(samples);
  }

  private tick(): void {
    this.parts.onPulse();
    this.parts.transport.tick();
    this.fillGap();
    this.speaker.tick();
    if (this.closing) return;
    const isTranscribing = this.listener?.isTranscribing ?? false;
    const owes = this.speaker.replyAtWork !== null || isTranscribing;
    const quietSinceMs = Math.max(this.pacer.playEndMs, this.listener?.speechEndedAtMs ?? 0);
    this.rescuer.tick(owes && !this.listener?.turnIsOpen, quietSinceMs, monotonicMs());
    const isQuiet =
      !this.speaker.isBusy && !this.pacer.isSpeaking && !this.listener?.turnIsOpen && !isTranscribing;
    const step = this.silence.tick(isQuiet, monotonicMs());
    if (step?.kind === 'give_up') this.end({ kind: 'caller_silent' });
    if (step?.kind === 'prompt') {
      this.log.event('re_engagement');
      this.sayText('prompt', step.text);
    }
  }

  private fillGap(): void {
    const due = this.clock.gapDue();
    if (due.begins) this.log.event('audio_gap', { note: 'no caller audio; silence stands in for it' });
    for (let rest = due.samples; rest > 0; rest -= GAP_BLOCK.length) {
      const block = rest >= GAP_BLOCK.length ? GAP_BLOCK : GAP_BLOCK.subarray(0, rest);
      this.parts.recorder?.gap(block.length);
      if (!this.closing) this.listener?.hear(block);
    }
  }

  private onInterruption(): void {
    const droppedMs = this.pacer.queuedMs;
    const reply = this.speaker.cut();
    if (!reply) return;
    this.silence.callerSpoke();
    this.unheard = this.ledger.unheardText(reply.id);
    this.reporter.interrupted(reply, droppedMs);
  }

  private onTurn(turn: UserTurn): void {
    if (this.closing) return;
    this.userTurns++;
    this.unheard = '';
    this.rescuer.heardTurn();
    this.silence.callerSpoke();
    this.reporter.turn(turn, this.clock.samples);
    this.conversation.userSaid(turn.text);
    this.answer(turn);
  }

  private answer(turn: UserTurn): void {
    const record = newAnswerRecord();
    const reply = this.speaker.say('answer', (signal) =>
      thinkAloud(this.conversation.answer(signal), record, () => this.turnTaken(turn, record.note)),
    );
    this.conversation.botReplies(reply.id);
    this.attempts.set(reply, () => this.answer(turn));
    void reply.ended.then((how) => {
      this.reporter.answered(record);
      // A reply that was cut or failed did not reach its end, and so neither does what was to follow it.
      if (how !== 'played') return;
      this.callTools(record);
      this.rescuer.replyPlayed();
      const isEmpty = record.toolCalls.length === 0 && this.ledger.heardAnswer(reply.id) === '';
      if (isEmpty && !this.closing) this.rescuer.nothingSaid(record.finish);
    });
  }

  /** A turn that is answered a second time is told once. */
  private turnTaken(turn: UserTurn, note: string | null): void {
    if (this.takenTurn === turn) return;
    this.takenTurn = turn;
    this.reporter.turnTaken(turn, note);
    this.parts.onTurnLogged();
  }

  private callTools(record: AnswerRecord): void {
    for (const call of record.toolCalls) {
      const isEndCall = call.name === 'end_call';
      this.reporter.toolCall(call, isEndCall);
      if (!isEndCall) continue;
      const { reason } = call.args;
      this.end({ kind: 'end_call', reason: typeof reason === 'string' ? reason : '' });
    }
  }

  /** Speech without words. Where it cut the bot off, the bot goes on with what the caller has not heard. */
  private onEmptyTurn(): void {
    if (this.closing) return;
    this.log.event('empty_turn');
    const rest = this.unheard;
    this.unheard = '';
    if (rest !== '' && !this.speaker.isBusy) this.sayText('prompt', rest);
  }

  private sayText(kind: Reply['kind'], text: string): void {
    const reply = this.speaker.say(kind, async function* () {
      yield text;
    });
    this.conversation.botReplies(reply.id);
    this.attempts.set(reply, () => this.sayText(kind, text));
    void reply.ended.then((how) => {
      if (how === 'played') this.rescuer.replyPlayed();
    });
  }

  private onFirstAudio(reply: Reply): void {
    this.reporter.replyStarted(reply);
  }

  private onReplyFailure(reply: Reply, failure: ReplyFailure): void {
    const error = describeError(failure.error);
    this.log.event('provider_failed', { error, reply: reply.id, stage: failure.stage });
    this.parts.logger.warn({ err: error }, 'a reply failed');
    if (this.verdict) return;
    this.rescuer.replyFailed(reply, failure, this.attempts.get(reply) ?? null);
  }

  private onTranscriptionFailure(error: Error): void {
    this.log.event('provider_failed', { error: describeError(error) });
    this.parts.logger.warn({ err: describeError(error) }, 'a turn could not be transcribed');
    if (!this.closing) this.rescuer.transcriptionFailed(error);
  }

  /** Speech to text is gone for good. */
  private onDeaf(error: Error): void {
    if (this.verdict) return;
    this.log.event('provider_failed', { error: describeError(error) });
    this.rescuer.deaf(error);
  }

  /** Hangs up where the line still stands, and stops everything. A goodbye has been heard before its `end_call` counts. */
  private async windDown(verdict: EndVerdict): Promise<void> {
    const { transport } = this.parts;
    const { llm, tts } = this.parts.providers;
    if (verdict.trigger === 'end_call_tool') await sleepMs(HANGUP_PAUSE_MS);
    this.speaker.cut();
    this.pacer.stop();
    this.reporter.disconnected(verdict);
    if (verdict.lineStands) await transport.hangUp(verdict.reason);
    else await transport.close(CLOSE.normal, verdict.reason);
    const noise = transport.noise();
    if (Object.keys(noise).length > 0) this.log.event('protocol_noise', { counts: noise });
    await this.listener?.close();
    await Promise.all([this.sttSession?.close(), llm.close(), tts.close()]);
  }
}
