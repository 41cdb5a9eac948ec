import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { LineClock } from '../audio/line-clock.ts';
import type { CallLog } from '../record/call-log.ts';
import type { Reply, ReplyFailure } from '../speak/speaker.ts';
import type { AfterSpeech } from '../tools/call-tool.ts';
import type { TransportHandlers } from '../transport/call-transport.ts';
import { samplesOf } from '../turn/turn-rules.ts';
import { type EndSignal, type EndVerdict, judgeEnd } from '../wrap-up/end-arbiter.ts';
import { assembleCall, type CallComponents } from './assemble-call.ts';
import type { SessionParts } from './session-parts.ts';

/** Speech that is no cough: a caller who said so much and was never understood was not silent. */
const UNHEARD_SPEECH_SAMPLES = LINE_RATE_HZ / 2;
/** Tools that change something outside finish; their outcome belongs into the results. */
const TOOLS_SETTLE_MS = 5_000;
const GAP_BLOCK = new Int16Array(LINE_RATE_HZ);
/** A slot that dies loses so much of what its bot was saying; each time costs a line of the journal. */
const SKETCH_EVERY_MS = 1_000;

/**
 * One live conversation from its first word to the hang-up: puts speech input, voice, turn machine and record together, keeps
 * their clock, and ends them. What is said when is the turn machine's; what follows from that is the floor keeper's.
 */
export class CallSession {
  private readonly parts: SessionParts;
  private readonly log: CallLog;
  private readonly clock = new LineClock(monotonicMs);
  /** What the call is made of (assemble-call.ts). */
  private readonly components: CallComponents;
  private readonly settleEnd: (verdict: EndVerdict) => void;
  private readonly whenEnded: Promise<EndVerdict>;
  private startedAtMs = monotonicMs();
  private sketchedAtMs = Number.NEGATIVE_INFINITY;
  private verdict: EndVerdict | undefined;
  /** Why the call is being given up; a caller who hangs up during the farewell does not change it. */
  private givingUp: string | null = null;
  /** The speech input is closed before the call ends, because it was handed over. */
  private deafened: Promise<void> | null = null;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.log = parts.log;
    const { promise, resolve } = Promise.withResolvers<EndVerdict>();
    this.whenEnded = promise;
    this.settleEnd = resolve;
    this.components = assembleCall(parts, this.clock, {
      isDeaf: () => this.isDeaf,
      tick: () => this.tick(),
      end: (signal) => this.end(signal),
      onGivingUp: (error) => {
        this.givingUp = error;
        this.components.speechInput.turns.stop();
        this.components.answering.stop();
      },
      onReplyFailure: (reply, failure) => this.onReplyFailure(reply, failure),
      onAfterSpeech: (after) => void this.afterSpeech(after),
      onTranscriptionFailure: (error) => this.noteFailure(error, 'a turn could not be transcribed'),
      onDeaf: (error) => this.onDeaf(error),
    });
  }

  /** What the transport calls; audio flows once `run` has begun. */
  readonly transportHandlers: TransportHandlers = {
    onAudio: (samples, wide) => this.onAudio(samples, wide),
    onMark: (name) => this.components.voice.onMark(name),
    onDtmf: (digit) => this.components.pad.signalled(digit, this.clock.samples),
    onTransferResult: (result) => this.components.transfer.onResult(result),
    onStop: (reason) => {
      if (this.components.transfer.callerLeft()) return;
      this.callerLeft({ kind: 'stop', reason });
    },
    onGone: (loss) => {
      if (this.components.transfer.lineGone()) return;
      this.callerLeft({ kind: 'line_gone', loss });
    },
  };

  /** Runs the conversation to its end and says how it ended. The line is closed when this resolves. Never rejects. */
  async run(): Promise<EndVerdict> {
    const { config, transport } = this.parts;
    try {
      this.startedAtMs = monotonicMs();
      this.components.voice.start();
      transport.ready(config.session_id);
      this.log.event('call_started');
      const { opening_message: opening, vad } = config;
      if (opening.trim() !== '')
        this.components.answering.sayText('opening', opening, vad.protect_opening ?? false);
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
    this.components.speechInput.turns.stop();
    this.parts.onVerdict(verdict);
    this.settleEnd(verdict);
  }

  /** Facts for `end_detail`. */
  get facts(): Record<string, unknown> {
    const troubles = this.parts.providers.troubles();
    const { expiredTimers } = this.components.turnActions;
    return {
      user_turns: this.components.turnActions.userTurns,
      speech_seconds: this.components.speechInput.listener.speechSamples / LINE_RATE_HZ,
      received_seconds: (this.clock.samples - this.clock.filledSamples) / LINE_RATE_HZ,
      filled_seconds: this.clock.filledSamples / LINE_RATE_HZ,
      ...(troubles > 0 ? { provider_troubles: troubles } : {}),
      ...(Object.keys(expiredTimers).length > 0 ? { timers_expired: expiredTimers } : {}),
      ...this.components.handoff.facts,
      measures: this.components.measures.results(this.components.speechInput.listener.line),
    };
  }

  /** Nothing the caller says changes anything any more. */
  private get isDeaf(): boolean {
    return this.verdict !== undefined || this.givingUp !== null || this.components.handoff.isOn;
  }

  /** Whoever waits for a person, or has one, may leave: what that means is for the handoff to say. */
  private callerLeft(signal: EndSignal): void {
    if (this.verdict || !this.components.handoff.callerLeft(signal)) this.end(signal);
  }

  private onAudio(samples: Int16Array, wide?: Int16Array): void {
    if (this.verdict && !this.verdict.lineStands) return;
    const { speechInput, measures, pad, voicemailPolicy } = this.components;
    const fromSample = this.clock.samples;
    measures.audioReceived(samples);
    this.clock.received(samples.length);
    if (pad.isSecret) this.parts.recorder?.gap(samples.length);
    else this.parts.recorder?.caller(samples);
    this.components.handoff.caller(samples);
    if (this.isDeaf) return;
    speechInput.listener.hear(samples, wide);
    pad.audio(samples, fromSample);
    voicemailPolicy.audio(samples, fromSample);
  }

  private tick(): void {
    this.parts.onPulse();
    this.parts.transport.tick();
    this.fillGap();
    this.components.voice.tick();
    this.sketchSpeech();
    if (!this.verdict) this.components.handoff.tick();
    if (this.isDeaf) return;
    const { speechInput, pad, voicemailPolicy, turnActions, answering } = this.components;
    pad.tick(this.clock.samples);
    voicemailPolicy.tick(this.clock.samples);
    if (pad.isCollecting) speechInput.turns.send({ type: 'awaits_caller' });
    speechInput.turns.advance();
    speechInput.turns.advanceDuration(samplesOf(monotonicMs() - this.startedAtMs));
    if (voicemailPolicy.isLeaving) return;
    turnActions.warnWhenQuiet();
    answering.answerWhenQuiet();
  }

  /** What the bot has said so far goes to the journal now and then, and not first when it has been heard. */
  private sketchSpeech(): void {
    const { voice, reporter } = this.components;
    if (!voice.isBusy || monotonicMs() < this.sketchedAtMs + SKETCH_EVERY_MS) return;
    this.sketchedAtMs = monotonicMs();
    for (const { reply, heard } of voice.heardSoFar()) reporter.speaking(reply, heard);
  }

  private fillGap(): void {
    const due = this.clock.gapDue();
    if (due.begins) this.log.event('audio_gap', { note: 'no caller audio; silence stands in for it' });
    for (let rest = due.samples; rest > 0; rest -= GAP_BLOCK.length) {
      const block = rest >= GAP_BLOCK.length ? GAP_BLOCK : GAP_BLOCK.subarray(0, rest);
      this.parts.recorder?.gap(block.length);
      this.components.measures.gapFilled(block.length);
      if (!this.isDeaf) this.components.speechInput.listener.hear(block);
    }
  }

  /** What the bot announced has been heard; now it is done. */
  private async afterSpeech(after: Exclude<AfterSpeech, { kind: 'end_call' }>): Promise<void> {
    if (this.isDeaf) return;
    if (after.kind === 'voicemail') {
      this.components.voicemailPolicy.toldByModel(this.clock.samples);
      return;
    }
    if (after.kind === 'handoff') {
      await this.handOff(after.reason);
      return;
    }
    const { target, destination } = after.order;
    this.components.speechInput.turns.suspend();
    this.components.measures.transferAsked();
    const outcome = await this.components.transfer.start(after.order);
    this.components.measures.transferSettled();
    if (outcome.kind === 'sent') {
      this.end({ kind: 'transferred', target, destination });
    } else if (outcome.kind === 'failed' && !this.isDeaf) {
      this.components.speechInput.turns.restore();
      this.components.answering.afterTransfer(outcome);
    }
  }

  /** From here on nobody of ours hears the caller; only where it cannot be done does the bot go on. */
  private async handOff(reason: string): Promise<void> {
    const { speechInput, handoff, fillers, answering, measures, pad } = this.components;
    speechInput.turns.suspend();
    fillers.stop();
    pad.cancel();
    answering.dropPreemptive('the caller is handed over');
    measures.transferAsked();
    const failure = await handoff.begin(reason);
    if (this.verdict) return;
    if (failure === null) {
      this.deafened = speechInput.close();
      return;
    }
    measures.transferSettled();
    speechInput.turns.restore();
    answering.afterTransfer({ kind: 'failed', reason: failure, sipCode: null, sipStatus: null });
  }

  private onReplyFailure(reply: Reply, failure: ReplyFailure): void {
    const error = describeError(failure.error);
    this.log.event('provider_failed', { error, reply: reply.id, stage: failure.stage });
    this.parts.logger.warn({ err: error }, 'a reply failed');
    // A mailbox wants no excuses; what became of the message is the voicemail policy's to judge.
    if (!this.verdict && !this.components.voicemailPolicy.isLeaving && !this.components.handoff.isOn)
      this.components.failureHandler.replyFailed(
        reply,
        failure,
        this.components.answering.mendingOf(reply, failure),
      );
  }

  private noteFailure(error: Error, note: string): void {
    this.log.event('provider_failed', { error: describeError(error) });
    this.parts.logger.warn({ err: describeError(error) }, note);
  }

  /** Speech to text is gone for good. */
  private onDeaf(error: Error): void {
    if (this.verdict || this.components.handoff.isOn) return;
    this.log.event('provider_failed', { error: describeError(error) });
    if (!this.components.voicemailPolicy.isLeaving) this.components.failureHandler.deaf(error);
  }

  /** A provider's failure is never the caller's: neither a silence that nobody heard nor leaving during a farewell. */
  private judge(signal: EndSignal): EndVerdict {
    const { givingUp } = this;
    const { turnActions } = this.components;
    const callerSpoke = turnActions.userTurns + turnActions.overlaps > 0;
    if (givingUp !== null && ['stop', 'line_gone', 'ordered'].includes(signal.kind)) {
      const lineStands = signal.kind === 'ordered';
      return { ...judgeEnd({ kind: 'pipeline_error', error: givingUp }, callerSpoke), lineStands };
    }
    const spokeUnheard =
      !callerSpoke && this.components.speechInput.listener.speechSamples >= UNHEARD_SPEECH_SAMPLES;
    const hearsPoorly = this.parts.providers.hearingTroubles() + turnActions.lostTurns > 0;
    if (signal.kind === 'caller_silent' && spokeUnheard && hearsPoorly) {
      const error = 'the caller spoke and no speech to text understood it';
      return judgeEnd({ kind: 'pipeline_error', error }, callerSpoke);
    }
    return judgeEnd(signal, callerSpoke);
  }

  /** Hangs up where the line still stands, and stops everything. A goodbye was heard before the call was ended. */
  private async windDown(verdict: EndVerdict): Promise<void> {
    const { transport } = this.parts;
    const { llm, tts } = this.parts.providers;
    // Asked before the transfer is stopped, which forgets it.
    const closeCode = this.components.transfer.isMoved ? CLOSE.transferred : CLOSE.normal;
    this.components.measures.callEnded();
    this.components.transfer.stop();
    this.components.fillers.stop();
    const byCaller = verdict.disconnectedBy === 'customer';
    this.components.agent.callEnded(byCaller);
    this.components.pad.cancel(byCaller ? 'hang_up' : 'cancel');
    this.components.voice.stop();
    this.components.answering.stop();
    this.components.reporter.disconnected(verdict);
    // Whoever is handed over goes on without us: their line is not touched.
    const isHandedOn = await this.components.handoff.finish(verdict);
    if (isHandedOn) this.parts.logger.info('the caller stays in the room with the agent');
    else if (verdict.lineStands) await transport.hangUp(verdict.reason);
    else await transport.close(closeCode, verdict.reason);
    await this.components.agent.settle(TOOLS_SETTLE_MS);
    this.log.event('line_quality', {
      ...this.components.measures.results(this.components.speechInput.listener.line).line,
    });
    const noise = transport.noise();
    if (Object.keys(noise).length > 0) this.log.event('protocol_noise', { counts: noise });
    await (this.deafened ?? this.components.speechInput.close());
    await Promise.all([llm.close(), tts.close()]);
  }
}
