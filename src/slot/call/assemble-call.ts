import { monotonicMs } from '../../platform/clock.ts';
import { fillerLines } from '../../providers/spoken-lines/filler-lines.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import { VoicemailPolicy } from '../amd/voicemail-policy.ts';
import type { LineClock } from '../audio/line-clock.ts';
import { digitTools } from '../dtmf/digit-tools.ts';
import { KeyPad } from '../dtmf/key-pad.ts';
import { agentTool } from '../handoff/agent-tool.ts';
import { CallHandoff } from '../handoff/call-handoff.ts';
import { liveSystemParts } from '../main-link/prompt-cache-client.ts';
import { CallMeter } from '../measure/call-measures.ts';
import { BotVoice, justThis } from '../speak/bot-voice.ts';
import { Fillers } from '../speak/fillers.ts';
import type { Reply, ReplyFailure } from '../speak/speaker.ts';
import { SpeakableReply } from '../speak/text/to-speakable.ts';
import { Agent } from '../think/agent.ts';
import type { AfterSpeech } from '../tools/call-tool.ts';
import { callVariables } from '../tools/call-variables.ts';
import { createToolBox } from '../tools/tool-box.ts';
import { CallTransfer } from '../transfer/call-transfer.ts';
import type { EndSignal } from '../wrap-up/end-arbiter.ts';
import { Answering } from './answering.ts';
import { CallReporter } from './call-reporter.ts';
import { FailureHandler } from './failure-handler.ts';
import { PreemptiveGeneration } from './preemptive-generation.ts';
import type { SessionParts } from './session-parts.ts';
import { SpeechInput } from './speech-input.ts';
import { TurnActions } from './turn-actions.ts';

/** What a call is made of. Each part knows the others only by what is handed to it here. */
export interface CallComponents {
  speechInput: SpeechInput;
  /** Keys, pressed or heard. */
  pad: KeyPad;
  /** Judges who has answered. */
  voicemailPolicy: VoicemailPolicy;
  voice: BotVoice;
  agent: Agent;
  answering: Answering;
  turnActions: TurnActions;
  failureHandler: FailureHandler;
  fillers: Fillers;
  transfer: CallTransfer;
  /** The way to a person at the agent desk. */
  handoff: CallHandoff;
  reporter: CallReporter;
  measures: CallMeter;
}

/** What the parts tell the session, which owns the call's life. */
export interface SessionSide {
  /** Nothing the caller says changes anything any more. */
  isDeaf(): boolean;
  tick(): void;
  end(signal: EndSignal): void;
  onGivingUp(error: string): void;
  onReplyFailure(reply: Reply, failure: ReplyFailure): void;
  onAfterSpeech(after: Exclude<AfterSpeech, { kind: 'end_call' }>): void;
  onTranscriptionFailure(error: Error): void;
  onDeaf(error: Error): void;
}

/**
 * Puts the parts of a call together; who tells whom stands here. Ears hear and ask the turn machine, the floor keeper
 * obeys the machine, answering has the agent think and the voice speak, and everything is told to reporter and measures.
 */
export function assembleCall(parts: SessionParts, clock: LineClock, session: SessionSide): CallComponents {
  const { config, log, providers, transport } = parts;
  const report = log.event.bind(log);
  const measures = new CallMeter({
    now: monotonicMs,
    onWaterfall: (waterfall) => log.event('waterfall', { ...waterfall }),
  });
  // The speech input is made last, since it begins to hear at once; the others ask for it when the call runs.
  const late: { speechInput?: SpeechInput } = {};
  const speechInput = () => late.speechInput as SpeechInput;
  const voice = assembleVoice(parts, clock, session, { measures, speechInput, later: () => components });
  const reporter = new CallReporter({
    log,
    ledger: voice.ledger,
    stt: providers.stt,
    llm: providers.llm,
    tts: providers.tts,
    cacheVersion: liveSystemParts(config)?.version ?? null,
  });
  const failureHandler = new FailureHandler({
    voice,
    log,
    lines: providers.rescueLines,
    hooks: {
      onGivingUp: (error) => session.onGivingUp(error),
      onGivenUp: (error) => session.end({ kind: 'pipeline_error', error }),
    },
  });
  const fillers = new Fillers({
    lines: fillerLines(config),
    predictedWaitMs: providers.predictedWaitMs,
    interject: (line) => voice.bridge(line),
    isWaitedFor: () => {
      const { phase, isSpeech } = speechInput().turns.state;
      return !session.isDeaf() && !isSpeech && (phase === 'bot_thinking' || phase === 'deciding');
    },
    onSpoken: (line, reason) => log.event('filler', { line, reason }),
  });
  const pad = new KeyPad({
    report,
    onKey: () => undefined,
    onActivity(by) {
      speechInput().turns.send({ type: 'caller_activity' });
      // Who presses the first key knows what was asked.
      if (pad.isCollecting) voice.hush();
      // What is keyed in while keys are awaited is not spoken over the bot, however much a tone sounds like a voice.
      if (by === 'in_band' && pad.isCollecting) speechInput().keyHeard();
      voicemailPolicy.digit(clock.samples);
    },
  });
  const agent = new Agent({
    config,
    toolBox: createToolBox(config, {
      http: parts.http,
      reveal: (text) => pad.reveal(text),
      extra: [
        ...digitTools({ pad, report, sendKeys: transport.sendDtmf?.bind(transport) ?? null }),
        agentTool(config, {
          setup: parts.handoff ?? null,
          variables: callVariables(config),
          isTaken: () => components.handoff.isOn,
        }),
      ],
    }),
    llm: providers.llm,
    systemParts: liveSystemParts(config),
    heardText: (replyId) => voice.ledger.heardAnswer(replyId),
    language: spokenLanguage(config),
    speakableWords: () => new SpeakableReply(providers.speakable).words,
    report(event, detail) {
      report(event, detail);
      measureTool(measures, voice, event, detail);
    },
  });
  const shared = { config, log, voice, agent, reporter, failureHandler, fillers, measures };
  const preemptive = new PreemptiveGeneration({
    agent,
    isOn: config.llm.speculate === true,
    onUsed: () => reporter.speculated({ status: 'used' }),
    onWasted({ reason, completionTokens, record }) {
      reporter.speculated({ status: 'discarded', reason, completionTokens });
      if (record) reporter.answered(record, true);
    },
  });
  const answering = new Answering({
    ...shared,
    preemptive,
    floor: speechInput,
    onAfterSpeech: (after) => session.onAfterSpeech(after),
    onTurnLogged: () => parts.onTurnLogged(),
  });
  const voicemailPolicy = assembleVoicemailPolicy(parts, clock, session, {
    voice,
    agent,
    answering,
    fillers,
    speechInput,
  });
  const turnActions = new TurnActions({
    ...shared,
    answering,
    speechInput,
    end: (signal) => session.end(signal),
  });
  late.speechInput = new SpeechInput({
    config,
    stt: providers.stt,
    vad: parts.vad,
    turnModel: parts.turnModel,
    hearHz: providers.hearHz,
    finalWaitSamples: providers.finalWaitSamples,
    questionLeftMs: () => voice.questionLeftMs,
    hooks: {
      apply: (action) => turnActions.apply(action),
      onTranscriptionFailure: (error) => session.onTranscriptionFailure(error),
      onDeaf: (error) => session.onDeaf(error),
      onPauseLearned: (silenceMs) => log.event('pause_learned', { silence_ms: silenceMs }),
      onSpeechStart(fromSample) {
        // A line that only bridges a wait takes nobody's turn; it is not finished over a caller who speaks.
        if (voice.isBusy && !speechInput().turns.state.reply) voice.cut();
        measures.speechStarted(fromSample);
        voicemailPolicy.speechStart(fromSample);
      },
      onSpeechStop(lastSample) {
        measures.speechStopped(lastSample);
        voicemailPolicy.speechStop(lastSample);
      },
      onSpeechDenied: () => measures.speechDenied(),
      onWindow: (levelDbfs, isSpeech) => measures.window(levelDbfs, isSpeech),
      onText: (text) => voicemailPolicy.text(text, clock.samples),
      onProbableEnd: (turn, text) => preemptive.begin(turn, text),
      onContinued: () => preemptive.drop('the caller went on'),
    },
  });
  providers.onHearingTrouble(() => speechInput().turns.engineInTrouble());
  const transfer = new CallTransfer({ transport, report });
  const handoff = new CallHandoff({
    setup: parts.handoff ?? null,
    config,
    voice,
    say: (text) => voice.say('prompt', () => justThis(text)),
    recorder: parts.recorder,
    clock,
    transcript: () => log.transcriptEntries,
    report,
    end: (signal) => session.end(signal),
    logger: parts.logger,
  });
  const components: CallComponents = {
    speechInput: late.speechInput,
    pad,
    voicemailPolicy,
    voice,
    agent,
    answering,
    turnActions,
    failureHandler,
    fillers,
    transfer,
    handoff,
    reporter,
    measures,
  };
  return components;
}

function assembleVoice(
  parts: SessionParts,
  clock: LineClock,
  session: SessionSide,
  others: { measures: CallMeter; speechInput: () => SpeechInput; later: () => CallComponents },
): BotVoice {
  const { config, log, providers, transport, recorder } = parts;
  const { measures, speechInput, later } = others;
  return new BotVoice({
    config,
    transport,
    recorder,
    clock,
    tts: providers.tts,
    lines: providers.lines,
    speakable: providers.speakable,
    floor: () => (session.isDeaf() ? null : speechInput().turns),
    hooks: {
      onTick: () => session.tick(),
      onFrame(frame, playAtSample, unitId, playAtMs, lateMs) {
        speechInput().botSent(frame, playAtSample, later().voice.ledger.get(unitId));
        measures.frameSent(unitId, playAtMs, playAtSample, lateMs);
      },
      onBegun: (reply) => {
        if (reply.kind !== 'answer') measures.replyBegun(reply.id);
      },
      onEnded: (reply) => measures.replyEnded(reply.id),
      onOwnWords: () => later().fillers.botSpoke(),
      onFirstAudio: (reply) => later().reporter.replyStarted(reply),
      onHeard: (reply) => later().reporter.heard(reply),
      onSynthesized: (clause) =>
        later().reporter.synthesized({ ...clause, servedBy: clause.servedBy?.provider ?? null }),
      onFailure: (reply, failure) => session.onReplyFailure(reply, failure),
      onClauseGiven: (reply, unitId) => measures.clauseGiven(reply.id, unitId),
      onFirstByte: (unitId) => measures.firstByte(unitId),
      onClauseDone: (unitId) => measures.clauseDone(unitId),
      onMarkEchoed: (delayMs) => {
        if (!transport.echoesItself) measures.markEchoed(delayMs);
      },
      onFiltered: (reply, counts) => log.event('text_filtered', { reply: reply.id, counts }),
      wantsAside: () => later().fillers.mayBridge,
      onAside: (_reply, text) => later().fillers.toolSpoke(text),
    },
  });
}

/** What the call does when a machine has answered (RT-27, RT-28): it is silent but for the message, and hangs up. */
function assembleVoicemailPolicy(
  { config, log }: SessionParts,
  clock: LineClock,
  session: SessionSide,
  others: {
    voice: BotVoice;
    agent: Agent;
    answering: Answering;
    fillers: Fillers;
    speechInput: () => SpeechInput;
  },
): VoicemailPolicy {
  const { voice, agent, answering, fillers, speechInput } = others;
  const voicemailPolicy: VoicemailPolicy = new VoicemailPolicy({
    language: spokenLanguage(config),
    settings: config.voicemail_detection ?? null,
    message: config.voicemail_message,
    hooks: {
      report: log.event.bind(log),
      stopBot() {
        speechInput().turns.suspend();
        fillers.stop();
        answering.dropPreemptive('a machine has answered');
        voice.cut();
      },
      sayMessage(text) {
        voice.cut();
        const reply = voice.say('prompt', () => justThis(text), { isProtected: true });
        agent.botSays(reply.id);
        void reply.ended.then((how) => {
          if (how !== 'cut') voicemailPolicy.messageEnded(how, clock.samples);
        });
      },
      answerScreening: (text) => answering.answerNextWith(text ?? config.opening_message),
      hangUp: (by, reason) => session.end({ kind: by === 'customer' ? 'line_dead' : 'voicemail', reason }),
    },
  });
  return voicemailPolicy;
}

/** A tool is measured as part of the reply that is being made; the model is asked again once it has its result. */
function measureTool(
  measures: CallMeter,
  voice: BotVoice,
  event: string,
  detail: Record<string, unknown>,
): void {
  const reply = voice.replyAtWork?.id;
  if (reply === undefined) return;
  const name = String(detail.tool ?? detail.function ?? '');
  if (event === 'tool_call' && detail.status === 'started') {
    measures.toolStarted(reply, name);
    return;
  }
  if (event !== 'tool_call' && event !== 'tool_result') return;
  measures.toolEnded(reply, name);
  measures.modelAsked(reply);
}
