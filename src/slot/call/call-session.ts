import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LanguageModel } from '../../providers/language-model.ts';
import type { SpeechToText, SttSession } from '../../providers/speech-to-text.ts';
import type { TextToSpeech } from '../../providers/text-to-speech.ts';
import { LineClock } from '../audio/line-clock.ts';
import { CallerListener, type UserTurn } from '../listen/caller-listener.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import type { Recorder } from '../record/recorder.ts';
import { Pacer } from '../speak/pacer.ts';
import { type Reply, Speaker } from '../speak/speaker.ts';
import { SpeechLedger } from '../speak/speech-ledger.ts';
import { Conversation } from '../think/conversation.ts';
import { type AnswerRecord, newAnswerRecord, thinkAloud } from '../think/think-aloud.ts';
import type { CallTransport, TransportHandlers } from '../transport/call-transport.ts';
import type { CallLog } from '../wrap-up/call-log.ts';
import { CallReporter } from './call-reporter.ts';
import { type EndSignal, type EndVerdict, judgeEnd } from './end-arbiter.ts';
import { SilenceWatch } from './silence-watch.ts';

/** How far frames run ahead of the caller's ear (RT-43: 200 ms on a telephone socket). */
const PACER_LEAD_MS = 200;
/** Between the last heard sample of a goodbye and the hang-up (RT-23). */
const HANGUP_PAUSE_MS = 300;
/** A bot that owes speech for so long is broken, and the caller is not to blame for the silence (RT-21). */
const BOT_DEBT_MS = 20_000;
/** So many replies in a row without any sound: the voice is gone and the call with it. */
const MAX_SILENT_REPLIES = 3;
/** So many turns in a row that could not be transcribed: the ears are gone and the call with them. */
const MAX_DEAF_TURNS = 3;
const FAILURE_LINE = 'Sorry, something went wrong on my side. Could you say that again?';
const GAP_BLOCK = new Int16Array(LINE_RATE_HZ);

export interface SessionParts {
  config: RuntimeConfig;
  transport: CallTransport;
  stt: SpeechToText;
  llm: LanguageModel;
  tts: TextToSpeech;
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
  private listener: CallerListener | undefined;
  private sttSession: SttSession | undefined;
  private verdict: EndVerdict | undefined;
  private durationTimer: NodeJS.Timeout | undefined;
  private closing = false;
  private silentReplies = 0;
  private deafTurns = 0;
  /** What noise cut off, until somebody says something: the bot goes on with it. */
  private unheard = '';
  private userTurns = 0;
  private owesSinceMs: number | null = null;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.log = parts.log;
    this.reporter = new CallReporter({ log: parts.log, ledger: this.ledger, llm: parts.llm, tts: parts.tts });
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
        onTick: () => this.tick(),
      },
    });
    this.speaker = new Speaker({
      tts: parts.tts,
      pacer: this.pacer,
      ledger: this.ledger,
      hooks: {
        onFirstAudio: (reply) => this.onFirstAudio(reply),
        onHeard: (reply) => this.reporter.heard(reply),
        onSynthesized: (clause) => this.reporter.synthesized(clause),
        onFailure: (reply, error) => this.onReplyFailure(reply, error),
        sendMark: (name) => parts.transport.sendMark(name),
        sendClear: () => {
          parts.transport.sendClear();
          parts.recorder?.cutBot();
        },
      },
    });
    this.silence = new SilenceWatch(parts.config.re_engagement);
    this.conversation = new Conversation({
      llm: parts.llm,
      system: parts.config.system_prompt,
      tools: parts.config.tools,
      heardText: (replyId) => this.ledger.heardText(replyId),
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
      this.sttSession = await this.parts.stt.open({
        onInterim: () => undefined,
        onFailure: (error) => {
          this.log.event('provider_failed', { error: describeError(error) });
          this.onDeaf(error);
        },
      });
      this.listener = new CallerListener({
        vad: this.parts.vad,
        turnModel: this.parts.turnModel,
        stt: this.sttSession,
        wantsSilence: this.parts.stt.wantsSilence,
        config: config.vad,
        hooks: {
          botHasTheFloor: () => this.speaker.isBusy && !this.closing,
          onInterruption: () => this.onInterruption(),
          onTurn: (turn) => this.onTurn(turn),
          onEmptyTurn: () => this.onEmptyTurn(),
          onTranscriptionFailure: (error) => this.onTranscriptionFailure(error),
        },
      });
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
    const verdict = judgeEnd(signal, this.userTurns > 0);
    this.verdict = verdict;
    this.closing = true;
    clearTimeout(this.durationTimer);
    this.parts.onVerdict(verdict);
    this.settleEnd(verdict);
  }

  /** Facts for `end_detail`. */
  get facts(): Record<string, unknown> {
    return {
      user_turns: this.userTurns,
      speech_seconds: (this.listener?.speechSamples ?? 0) / LINE_RATE_HZ,
      received_seconds: (this.clock.samples - this.clock.filledSamples) / LINE_RATE_HZ,
      filled_seconds: this.clock.filledSamples / LINE_RATE_HZ,
    };
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
    this.watchDebt();
    const isQuiet = !this.speaker.isBusy && !this.pacer.isSpeaking && !this.listener?.turnIsOpen;
    const step = this.silence.tick(isQuiet, monotonicMs());
    if (step?.kind === 'give_up') this.end({ kind: 'caller_silent' });
    if (step?.kind === 'prompt') {
      this.log.event('re_engagement');
      this.sayText('prompt', step.text);
    }
  }

  private watchDebt(): void {
    const owes = this.speaker.isBusy && !this.pacer.isSpeaking;
    this.owesSinceMs = owes ? (this.owesSinceMs ?? monotonicMs()) : null;
    if (this.owesSinceMs !== null && monotonicMs() - this.owesSinceMs > BOT_DEBT_MS) {
      this.end({ kind: 'pipeline_error', error: `the bot owed an answer for ${BOT_DEBT_MS / 1000} s` });
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
    this.deafTurns = 0;
    this.silence.callerSpoke();
    this.reporter.turn(turn, this.clock.samples);
    this.conversation.userSaid(turn.text);
    const record = newAnswerRecord();
    const reply = this.speaker.say('answer', (signal) =>
      thinkAloud(this.conversation.answer(signal), record, () => {
        this.reporter.turnTaken(turn, record.note);
        this.parts.onTurnLogged();
      }),
    );
    this.conversation.botReplies(reply.id);
    void reply.ended.then((how) => {
      this.reporter.answered(record);
      // A reply that was cut did not reach its end, and so neither does what was to follow it.
      if (how !== 'cut') this.callTools(record);
    });
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
  }

  private onFirstAudio(reply: Reply): void {
    this.silentReplies = 0;
    this.reporter.replyStarted(reply);
  }

  private onReplyFailure(reply: Reply, error: Error): void {
    this.log.event('provider_failed', { error: describeError(error), reply: reply.id });
    this.parts.logger.warn({ err: describeError(error) }, 'a reply failed');
    if (this.closing) return;
    this.silentReplies++;
    if (this.silentReplies >= MAX_SILENT_REPLIES) {
      this.end({ kind: 'pipeline_error', error: `the bot cannot speak: ${describeError(error)}` });
      return;
    }
    void reply.ended.then((how) => {
      if (how === 'failed' && !this.closing && !this.speaker.isBusy) this.sayText('prompt', FAILURE_LINE);
    });
  }

  /** One turn could not be transcribed. The caller is asked again; a bot that stays deaf ends the call. */
  private onTranscriptionFailure(error: Error): void {
    this.log.event('provider_failed', { error: describeError(error) });
    this.parts.logger.warn({ err: describeError(error) }, 'a turn could not be transcribed');
    if (this.closing) return;
    this.deafTurns++;
    if (this.deafTurns >= MAX_DEAF_TURNS) this.onDeaf(error);
    else this.sayText('prompt', FAILURE_LINE);
  }

  /** Speech to text is gone for good. */
  private onDeaf(error: Error): void {
    this.end({ kind: 'pipeline_error', error: `the bot cannot hear: ${describeError(error)}` });
  }

  /** Hangs up where the line still stands, and stops everything. A goodbye has been heard before its `end_call` counts. */
  private async windDown(verdict: EndVerdict): Promise<void> {
    const { transport } = this.parts;
    if (verdict.trigger === 'end_call_tool') await sleepMs(HANGUP_PAUSE_MS);
    this.speaker.cut();
    this.pacer.stop();
    this.reporter.disconnected(verdict);
    if (verdict.lineStands) await transport.hangUp(verdict.reason);
    else await transport.close(CLOSE.normal, verdict.reason);
    const noise = transport.noise();
    if (Object.keys(noise).length > 0) this.log.event('protocol_noise', { counts: noise });
    await this.listener?.close();
    await Promise.all([this.sttSession?.close(), this.parts.llm.close(), this.parts.tts.close()]);
  }
}
