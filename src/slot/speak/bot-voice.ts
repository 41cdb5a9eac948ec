import { FRAME_MS, FRAME_SAMPLES } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { TextToSpeech } from '../../providers/contract/text-to-speech.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import type { LineClock } from '../audio/line-clock.ts';
import type { Recorder } from '../record/recorder.ts';
import type { CallTransport } from '../transport/call-transport.ts';
import { samplesOf } from '../turn/turn-rules.ts';
import type { TurnEvent, TurnState } from '../turn/turn-types.ts';
import { Background, backgroundSettings } from './background/background.ts';
import { backgroundLoop } from './background/background-loop.ts';
import type { LineCache } from './line-cache.ts';
import { Pacer } from './pacer.ts';
import { type Clause, type Reply, Speaker, type SpeakerHooks } from './speaker.ts';
import { type HeardSoFar, SpeechLedger } from './speech-ledger.ts';
import type { SpeakableOptions } from './text/to-speakable.ts';

/** No unit of the ledger: sound that is nobody's words. */
const NO_UNIT = 0;
/** How far frames run ahead of the caller's ear (RT-43: 200 ms on a telephone socket). */
const PACER_LEAD_MS = 200;
/** On a line whose frames are long, the place of a pause is known only roughly. */
const REWIND_MS = 400;

export interface VoiceHooks extends Omit<SpeakerHooks, 'sendMark' | 'sendClear'> {
  /** A frame leaves, `lateMs` after it should have, and is heard from this sample of the line clock on. */
  onFrame(frame: Int16Array, playAtSample: number, unitId: number, playAtMs: number, lateMs: number): void;
  /** A reply is begun, of whatever kind; and what became of it. */
  onBegun(reply: Reply): void;
  onEnded(reply: Reply): void;
  /** The bot is heard with words of its own, after it owed some. */
  onOwnWords(): void;
  onTick(): void;
}

/** What the voice must know of the conversation, and tell it. */
export interface Floor {
  readonly state: TurnState;
  send(event: TurnEvent): void;
}

/**
 * The bot's voice on the line: speaker, pacer and ledger put together, and the turn machine told of everything that
 * is said. A reply is begun nowhere else.
 */
export class BotVoice {
  readonly ledger = new SpeechLedger();
  private readonly clock: LineClock;
  private readonly pacer: Pacer;
  private readonly speaker: Speaker;
  private readonly floor: () => Floor | null;
  private readonly hooks: VoiceHooks;
  /** Has the far end drop what it holds, and the recording with it. */
  private readonly dropSent: () => void;

  constructor(options: {
    config: RuntimeConfig;
    tts: TextToSpeech;
    lines: LineCache;
    /** How texts are put into words for the voice. */
    speakable: SpeakableOptions;
    transport: CallTransport;
    recorder: Recorder | null;
    clock: LineClock;
    /** Null before anybody listens, and once nobody does any more. */
    floor: () => Floor | null;
    hooks: VoiceHooks;
  }) {
    const { transport, recorder, hooks } = options;
    const settings = backgroundSettings(options.config.ambient_sound);
    const background = settings ? new Background(settings, backgroundLoop(settings.sound)) : null;
    this.dropSent = () => {
      transport.sendClear();
      recorder?.cutBot();
    };
    this.clock = options.clock;
    this.floor = options.floor;
    this.hooks = hooks;
    this.pacer = new Pacer({
      leadMs: transport.leadMs ?? PACER_LEAD_MS,
      // Little, since the bot's next word waits for it; one frame of the line, so that it never runs dry.
      idleLeadMs: background ? (transport.chunkMs ?? FRAME_MS) + FRAME_MS : null,
      rewindMs: transport.chunkMs === undefined ? 0 : REWIND_MS,
      now: monotonicMs,
      lineSamples: () => this.clock.samples,
      sink: {
        onFrame: (frame, playAtSample, unitId, playAtMs, lateMs) => {
          // The recording, the echo gate and the measures know the voice alone (RT-44).
          transport.sendAudio(background ? background.under(frame) : frame);
          recorder?.bot(frame, playAtSample);
          hooks.onFrame(frame, playAtSample, unitId, playAtMs, lateMs);
          this.speaker.onFrame(unitId, playAtMs, FRAME_SAMPLES);
          this.tellAudible(unitId);
        },
        onUnitSent: (unitId, playEndMs) => this.speaker.onUnitSent(unitId, playEndMs),
        onUnsent: (unitId, samples) => this.speaker.onUnsent(unitId, samples),
        onIdleFrame: () => {
          if (background) transport.sendAudio(background.alone());
        },
        onTick: () => hooks.onTick(),
      },
    });
    this.speaker = new Speaker({
      tts: options.tts,
      pacer: this.pacer,
      ledger: this.ledger,
      hooks: {
        ...hooks,
        sendMark: (name) => transport.sendMark(name),
        sendClear: this.dropSent,
      },
      lines: options.lines,
      language: spokenLanguage(options.config),
      speakable: options.speakable,
      unplayedMs: () => transport.unplayedMs,
    });
  }

  start(): void {
    this.pacer.start();
  }

  stop(): void {
    this.speaker.cut();
    this.pacer.stop();
  }

  /** Begins a reply; one that still runs is cut, unless it is a rescue line, behind which the new one waits. */
  say(
    kind: Reply['kind'],
    clauses: (signal: AbortSignal, reply: Reply) => AsyncIterable<Clause>,
    options: { isProtected?: boolean; withoutVoice?: boolean } = {},
  ): Reply {
    const { isProtected = false, withoutVoice = false } = options;
    const reply = this.speaker.say(kind, clauses, { withoutVoice });
    this.hooks.onBegun(reply);
    this.floor()?.send({ type: 'reply_begun', reply: reply.id, isProtected });
    void reply.ended.then((how) => {
      this.hooks.onEnded(reply);
      this.floor()?.send({ type: 'reply_ended', reply: reply.id, how });
    });
    return reply;
  }

  /** A line that only bridges a wait: it takes nobody's turn, and an answer that comes waits for its end. */
  sayAside(text: string): Reply {
    return this.speaker.say('rescue', () => justThis(text));
  }

  /** A line before what the reply at work still has to say; false where it cannot be heard. */
  interject(text: string): Promise<boolean> {
    return this.speaker.interject(text);
  }

  /** A line that bridges a wait: before what the reply at work has to say, else by itself; false where it cannot be. */
  async bridge(text: string): Promise<boolean> {
    if (this.replyAtWork) return this.speaker.interject(text, { inOwnVoice: true });
    if (this.isBusy) return false;
    this.sayAside(text);
    return true;
  }

  cut(): Reply | null {
    return this.speaker.cut();
  }

  /** The caller needs no more of what is being said, and the reply goes on with what comes next. */
  hush(): void {
    this.speaker.hush();
  }

  /** Sound that is no words of the bot, behind what is being said: music, a person of a room. Keeps the samples. */
  stream(samples: Int16Array): void {
    this.pacer.push(this.pacer.epoch, NO_UNIT, samples);
  }

  /** Nothing more is heard of what was said or streamed. */
  silence(): void {
    this.speaker.cut();
    this.pacer.clear();
    this.dropSent();
  }

  pause(): void {
    this.speaker.pause();
  }

  resume(): void {
    this.speaker.resume();
  }

  onMark(name: string): void {
    this.speaker.onMark(name);
  }

  get isBusy(): boolean {
    return this.speaker.isBusy;
  }

  get replyAtWork(): Reply | null {
    return this.speaker.replyAtWork;
  }

  /** How far the replies have come that are being heard. */
  heardSoFar(): { reply: Reply; heard: HeardSoFar }[] {
    return this.speaker.heardSoFar();
  }

  /** What is still to be heard of the reply, where it has all its words and ends with a question; else null. */
  get questionLeftMs(): number | null {
    return this.speaker.questionLeftMs;
  }

  /** How far the line is ahead of the caller's ear, with what waits; 0 where nothing is being heard. */
  get aheadMs(): number {
    return Math.max(0, this.pacer.playEndMs - monotonicMs()) + this.pacer.queuedMs;
  }

  /** Audio that has not left yet. */
  get queuedMs(): number {
    return this.pacer.queuedMs;
  }

  /** Several times a second: units without a mark, and what the machine cannot hear by itself. */
  tick(): void {
    this.speaker.tick();
    const floor = this.floor();
    if (!floor || this.speaker.isPaused) return;
    const { reply, timers } = floor.state;
    if (this.pacer.isSpeaking) {
      if (!timers.has('debt_filler') && !timers.has('goodbye_cap')) return;
      const leftMs = Math.max(0, this.pacer.playEndMs - monotonicMs()) + this.pacer.queuedMs;
      floor.send({ type: 'line_busy', untilSample: this.clock.samples + samplesOf(leftMs) });
    } else if (reply?.isAudible && this.speaker.replyAtWork?.id === reply.id) {
      floor.send({ type: 'audio_dry', reply: reply.id });
    }
  }

  /** The first frame of a reply's own words, and the first after it ran dry. */
  private tellAudible(unitId: number): void {
    const floor = this.floor();
    const reply = floor?.state.reply;
    if (!reply || reply.isAudible) return;
    const unit = this.ledger.get(unitId);
    if (unit?.replyId !== reply.id || unit.isAside) return;
    floor.send({ type: 'audio_started', reply: reply.id });
    this.hooks.onOwnWords();
  }
}

/** A text as the clauses of a reply. */
export async function* justThis(text: string): AsyncGenerator<string> {
  yield text;
}
