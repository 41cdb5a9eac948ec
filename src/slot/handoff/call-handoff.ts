import type { CallEventName } from '../../contracts/call-events.ts';
import type { TranscriptEntry } from '../../contracts/call-results.ts';
import type { DeskAnswer } from '../../contracts/handoff.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import type { LineClock } from '../audio/line-clock.ts';
import { onMain } from '../main-link/slot-channel.ts';
import type { Recorder } from '../record/recorder.ts';
import type { BotVoice } from '../speak/bot-voice.ts';
import { callerLine } from '../speak/caller-lines.ts';
import type { Reply } from '../speak/speaker.ts';
import type { EndSignal, EndVerdict } from '../wrap-up/end-arbiter.ts';
import { AgentVoices } from './agent-voices.ts';
import { enqueueBody } from './enqueue-body.ts';
import {
  type HandoffAction,
  type HandoffEnd,
  type HandoffInput,
  type HandoffState,
  handoffStep,
  startHandoff,
} from './handoff-machine.ts';
import { isAgent } from './handoff-room.ts';
import type { HandoffSetup } from './handoff-setup.ts';
import { holdMusic } from './hold-music.ts';

/** Music lies so far ahead on the line that a busy host is not heard, and a line that follows is not late. */
const MUSIC_AHEAD_MS = 120;

export interface CallHandoffParts {
  setup: HandoffSetup | null;
  config: RuntimeConfig;
  voice: Pick<BotVoice, 'stream' | 'silence' | 'aheadMs' | 'isBusy'>;
  /** Says a line of the bot's own. */
  say: (text: string) => Reply;
  recorder: Recorder | null;
  clock: LineClock;
  transcript: () => TranscriptEntry[];
  report: (event: CallEventName, detail: Record<string, unknown>) => void;
  end: (signal: EndSignal) => void;
  logger: Logger;
}

/**
 * One call's way to a person (RT-37, D-44 and D-45): the note for the desk, the wait with music and lines, the
 * agent's coming, and what the slot does from then on: it leaves, records, or is the bridge.
 */
export class CallHandoff {
  private readonly parts: CallHandoffParts;
  /** Those of the room who are heard by the slot; null where it has no use for them. */
  private voices: AgentVoices | null = null;
  private state: HandoffState | null = null;
  private isBegun = false;
  private isQueued = false;
  private isOver = false;
  private beginning: Promise<unknown> | null = null;
  private isHolding = false;
  private music: Int16Array | null = null;
  private musicAt = 0;
  private beganAtMs = 0;
  private waitedMs: number | null = null;
  private agent: string | null = null;
  private leavesLine = false;
  /** What the line itself said of the caller who left. */
  private lineSignal: EndSignal | null = null;
  private stopListening: () => void = () => undefined;

  constructor(parts: CallHandoffParts) {
    this.parts = parts;
  }

  /** The bot takes no part in the call any more. */
  get isOn(): boolean {
    return this.isBegun;
  }

  /** A person has, or has had, the call. */
  get hasAgent(): boolean {
    return this.state?.hadAgent ?? false;
  }

  /** Facts for `end_detail`; none where nobody asked for a person. */
  get facts(): Record<string, unknown> {
    if (!this.isQueued) return {};
    return {
      handoff: {
        room: this.parts.setup?.place.room ?? '',
        waited_seconds: Math.round((this.waitedMs ?? monotonicMs() - this.beganAtMs) / 100) / 10,
        had_agent: this.hasAgent,
      },
    };
  }

  /**
   * The caller has been told: they go into the queue, and the bot falls out. Resolves to why that cannot be, or null;
   * never rejects.
   */
  async begin(reason: string): Promise<string | null> {
    const { setup } = this.parts;
    if (!setup || this.isBegun) return setup ? null : 'no media server is set up';
    this.isBegun = true;
    const beginning = this.enqueue(setup, reason);
    this.beginning = beginning;
    const failure = await beginning;
    if (failure !== null) this.isBegun = false;
    else if (!this.isOver) this.wait();
    return failure;
  }

  /** The caller's audio, for the room where it does not have it by itself. */
  caller(samples: Int16Array): void {
    const { place } = this.parts.setup ?? {};
    if (!this.state || !place?.isBridge) return;
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      place.send(samples.subarray(at, at + FRAME_SAMPLES));
    }
  }

  /** Several times a second. */
  tick(): void {
    this.take({ type: 'tick' });
    if (this.isHolding && !this.parts.voice.isBusy) this.playOn();
  }

  /** The line says that the caller is gone. True where that is the handoff's to judge. */
  callerLeft(signal: EndSignal): boolean {
    if (!this.state) return false;
    this.lineSignal = signal;
    const reason = signal.kind === 'stop' ? signal.reason : 'the line is gone';
    this.take({ type: 'customer_left', reason });
    return true;
  }

  /**
   * The call is over: the desk learns what became of the caller, and the place is left. True where the line is not ours
   * to end any more. Never rejects.
   */
  async finish(verdict: EndVerdict): Promise<boolean> {
    const { setup, logger } = this.parts;
    if (!setup) return false;
    const { place, notes } = setup;
    this.isOver = true;
    // A caller who leaves while the desk is being told must not stand in its queue for ever.
    await this.beginning;
    this.stopListening();
    this.isHolding = false;
    this.voices?.close();
    const isHandedOn = this.leavesLine && verdict.cause === 'handed_over';
    if (this.isQueued) {
      const isLeft = isHandedOn && verdict.by !== 'customer';
      const note = isLeft ? notes.event('bot_left') : notes.customerDisconnected(verdict.reason);
      await note.catch((error: unknown) => {
        logger.error({ err: describeError(error) }, 'the agent desk cannot be told of the end of a call');
      });
    }
    // A room call that was never handed over is its line's to close.
    if (place.isBridge || isHandedOn) await place.leave();
    await notes.close();
    return isHandedOn && !place.isBridge;
  }

  private async enqueue(setup: HandoffSetup, reason: string): Promise<string | null> {
    const { config, report } = this.parts;
    const { place, notes } = setup;
    this.beganAtMs = monotonicMs();
    report('handoff_requested', { reason, room: place.room });
    void holdMusic().then((music) => {
      this.music = music;
    });
    try {
      await place.open();
      await notes.enqueue(
        enqueueBody(config, {
          callId: setup.callId,
          room: place.room,
          identity: place.caller,
          number: setup.callerNumber,
          reason,
          transcript: this.parts.transcript(),
        }),
      );
    } catch (error) {
      report('handoff_failed', { error: describeError(error) });
      return describeError(error);
    }
    this.isQueued = true;
    return null;
  }

  private wait(): void {
    const { setup, config } = this.parts;
    if (!setup) return;
    const { place } = setup;
    place.watch({
      onPeople: () => this.lookAround(),
      onEnded: (reason) => this.take({ type: 'room_ended', reason }),
      onLost: () => this.take({ type: 'room_lost', reason: 'the media server is gone' }),
    });
    this.stopListening = onMain('desk_answer', ({ callId, answer }) => {
      if (callId === setup.callId) this.deskSaid(answer);
    });
    const { state, actions } = startHandoff(monotonicMs(), {
      isBridge: place.isBridge,
      isRecorder: config.record_agent_leg === true,
      ...(setup.times ? { times: setup.times } : {}),
    });
    this.state = state;
    if (state.stays) {
      const { voice, recorder, clock } = this.parts;
      this.voices = new AgentVoices({ place, line: voice, recorder, clock });
    }
    void setup.notes.event('hold_started').catch(() => undefined);
    for (const action of actions) this.obey(action);
    // Somebody may have come while the room was still being made ready.
    this.lookAround();
  }

  private deskSaid(answer: DeskAnswer): void {
    this.parts.report('handoff_queued', {
      position: answer.position,
      agents_available: answer.agentsAvailable,
      timeout_seconds: answer.timeoutSeconds,
    });
    this.take({ type: 'desk', answer });
  }

  private take(input: HandoffInput): void {
    if (!this.state) return;
    for (const action of handoffStep(this.state, input, monotonicMs())) this.obey(action);
  }

  private obey(action: HandoffAction): void {
    const { setup, voice, report, logger } = this.parts;
    switch (action.type) {
      case 'hold':
        this.isHolding = true;
        if (this.voices) this.voices.isOpen = false;
        return;
      case 'say':
        this.sayLine(action);
        return;
      case 'silence':
        this.isHolding = false;
        this.voices?.drop();
        voice.silence();
        if (this.voices) this.voices.isOpen = true;
        return;
      case 'agent_joined': {
        const durationMs = Math.round(monotonicMs() - this.beganAtMs);
        this.waitedMs ??= durationMs;
        report('agent_joined', { identity: this.agent ?? '', duration_ms: durationMs });
        this.note('participant_joined', { identity: this.agent ?? '' });
        return;
      }
      case 'agent_left':
        report('agent_left', { identity: this.agent ?? '' });
        this.note('participant_left', { identity: this.agent ?? '' });
        return;
      case 'mark':
        void setup?.place.mark(action.handedOver);
        return;
      case 'end':
        logger.info({ how: action.how.kind, had_agent: this.hasAgent }, 'the handoff is over');
        this.endCall(action.how);
        return;
    }
  }

  private endCall(how: HandoffEnd): void {
    const { end } = this.parts;
    if (how.kind === 'handed_over') {
      this.leavesLine = how.leavesLine;
      end({ kind: 'handed_over', by: how.by, reason: how.reason, lineStands: !how.leavesLine });
    } else if (how.kind === 'no_agent') {
      end({ kind: 'no_agent', reason: how.reason });
    } else if (how.kind === 'customer') {
      end(this.lineSignal ?? { kind: 'stop', reason: how.reason });
    } else {
      end({ kind: 'pipeline_error', error: how.reason });
    }
  }

  private note(event: string, data: Record<string, unknown>): void {
    this.parts.setup?.notes.event(event, data).catch((error: unknown) => {
      this.parts.logger.warn({ err: describeError(error) }, 'a note for the agent desk could not be written');
    });
  }

  private sayLine(action: Extract<HandoffAction, { type: 'say' }>): void {
    const language = spokenLanguage(this.parts.config);
    const position = action.line === 'position' ? action.position : undefined;
    this.parts.report('hold_line', { line: action.line });
    const line = callerLine(language, `handoff_${action.line}`).replace('{n}', String(position ?? ''));
    const reply = this.parts.say(line);
    if (action.line !== 'nobody') return;
    this.isHolding = false;
    void reply.ended.then((how) => {
      // An agent who comes after all cuts it, and that is no goodbye.
      if (how !== 'cut') this.take({ type: 'goodbye_said' });
    });
  }

  /** Everybody who is there is heard, where the slot has a use for it; agents count. */
  private lookAround(): void {
    const { setup } = this.parts;
    if (!setup || !this.state) return;
    const talkers = setup.place.talkers();
    const agents = talkers.filter(isAgent);
    this.voices?.update(talkers);
    this.agent = agents[0] ?? this.agent;
    this.take({ type: 'agents', count: agents.length });
  }

  private playOn(): void {
    const { voice } = this.parts;
    const { music } = this;
    if (!music) return;
    for (let ahead = voice.aheadMs; ahead < MUSIC_AHEAD_MS; ahead += FRAME_MS) {
      voice.stream(music.slice(this.musicAt, this.musicAt + FRAME_SAMPLES));
      this.musicAt = (this.musicAt + FRAME_SAMPLES) % music.length;
    }
  }
}
