import { LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../contracts/limits.ts';
import type { VadConfig } from '../../contracts/runtime-config.ts';
import { SpeechSegmenter } from '../../slot/listen/speech-segmenter.ts';
import type { TurnJudge, TurnVerdict } from '../../slot/listen/turn-model.ts';
import { TURN_MIN_SPEECH_SAMPLES, TURN_PRE_ROLL_SAMPLES } from '../../slot/listen/turn-window.ts';
import { createTurnMachine, step } from '../../slot/turn/turn-machine.ts';
import { msOf, samplesOf, turnRules } from '../../slot/turn/turn-rules.ts';
import { dueTimer } from '../../slot/turn/turn-timers.ts';
import type { DecidedBy, TurnAction, TurnEvent, TurnState } from '../../slot/turn/turn-types.ts';
import { TurnWaits } from '../../slot/turn/turn-waits.ts';
import type { HeardRecording, Span } from './hear-recording.ts';

/** What is tried out. */
export interface ReplaySettings {
  vad: VadConfig;
  /** What the caller says, where it is known; else every turn has a text that promises nothing. */
  words?: KnownWords;
  /** In place of the turn model. */
  judge?: TurnJudge;
}

interface KnownWords {
  /** BCP 47. */
  language: string;
  spoken: readonly { word: string; endSample: number }[];
  /** How long a text takes that was asked for. */
  textSamples: number;
  /** What the bot had said before. */
  botSaid?: string;
}

/** What the turn machine made of a recording; positions are samples of its clock. */
export interface Replay {
  turns: ReplayedTurn[];
  overlaps: ReplayedInterruption[];
  /** The caller's speech as the segmenter cut it. */
  speech: Span[];
  botSpans: Span[];
  samples: number;
}

export interface ReplayedTurn extends Span {
  decidedAt: number;
  decidedBy: DecidedBy;
  probability: number | null;
}

/** Speech over the bot. */
export interface ReplayedInterruption {
  from: number;
  heldAt: number | null;
  /** The caller took the floor; null where the bot went on. */
  cutAt: number | null;
}

/** What a verdict of the turn model takes in a slot (D-3: 30 to 50 ms). */
const VERDICT_MS = 50;
/** The model is never late here: time stands still while it computes. */
const VERDICT_DEADLINE_MS = 60_000;
/** Longer than any recording: silence, debts and the duration end nothing here. */
const NEVER_SAMPLES = 48 * 3_600 * LINE_RATE_HZ;
const NEVER_ENGAGED = { lines: [], silenceMs: msOf(NEVER_SAMPLES) };

/**
 * Replays the caller's side through segmenter, turn model and turn machine as a slot does. The bot is heard when the
 * recording has it, whatever the machine decides: what changes is only when turns end and who is interrupted. Words are
 * not known unless they are given: a text comes at once for every turn, and speech over the bot takes the floor by its
 * length alone.
 */
export async function replayTurns(
  heard: HeardRecording,
  settings: ReplaySettings,
  turnModel: TurnJudge,
): Promise<Replay> {
  const replayer = new Replayer(heard, settings, turnModel);
  for (let index = 0; index < heard.probabilities.length; index++) await replayer.window(index);
  await replayer.silenceAfter();
  return replayer.replay;
}

class Replayer {
  readonly replay: Replay;
  private readonly heard: HeardRecording;
  private readonly turnModel: TurnJudge;
  private readonly segmenter: SpeechSegmenter;
  private readonly state: TurnState;
  private readonly usesModel: boolean;
  private readonly threshold: number;
  private readonly words: KnownWords | undefined;
  private readonly ownJudge: TurnJudge | undefined;
  private readonly queue: { at: number; event: TurnEvent }[] = [];
  private speechSamples = 0;
  private toldWords = 0;
  private speechFrom = 0;
  private botSpan = -1;

  constructor(heard: HeardRecording, settings: ReplaySettings, turnModel: TurnJudge) {
    this.heard = heard;
    this.turnModel = turnModel;
    this.ownJudge = settings.judge;
    this.words = settings.words;
    this.segmenter = new SpeechSegmenter(settings.vad);
    this.usesModel = settings.vad.turn_model !== 'off';
    this.threshold = settings.vad.turn_threshold ?? 0.5;
    const config = {
      vad: settings.vad,
      min_words_interruption: 0,
      max_call_duration_seconds: NEVER_SAMPLES / LINE_RATE_HZ,
    };
    const strategy = this.usesModel ? 'model' : 'silence';
    const waits = new TurnWaits(settings.vad, this.words?.language, () => undefined);
    waits.botSaid(this.words?.botSaid ?? '');
    const wordWaitSamples = (text: string, probability: number | null) =>
      this.words ? waits.wordSamples(text, probability) : 0;
    this.state = createTurnMachine({
      ...turnRules(
        config,
        { strategy, givesInterims: false, flushAtStop: false, wordWaitSamples },
        NEVER_ENGAGED,
      ),
      fillerSamples: NEVER_SAMPLES,
      rescueSamples: NEVER_SAMPLES,
      responseTimeoutSamples: NEVER_SAMPLES,
      playoutStuckSamples: NEVER_SAMPLES,
      maxDurationSamples: NEVER_SAMPLES,
      warningSamples: NEVER_SAMPLES,
    });
    this.replay = {
      turns: [],
      overlaps: [],
      speech: [],
      botSpans: heard.botSpans,
      samples: heard.caller.length,
    };
  }

  /** Takes one window, as far as the clock then stands. */
  async window(index: number): Promise<void> {
    const from = index * VAD_WINDOW_SAMPLES;
    const now = from + VAD_WINDOW_SAMPLES;
    const event = this.segmenter.push(this.heard.probabilities[index] ?? 0, from);
    if (event?.type === 'speech_start') {
      this.speechFrom = event.atSample;
      this.queue.push({ at: now, event: { type: 'speech_start', fromSample: event.atSample } });
    } else if (event) {
      this.replay.speech.push({ from: this.speechFrom, to: event.atSample });
      this.speechSamples += event.atSample - this.speechFrom;
      this.queue.push({ at: now, event: { type: 'speech_stop', lastSample: event.atSample } });
    }
    await this.runUntil(now);
  }

  /** The line stays open and silent until everything that was said is decided. */
  async silenceAfter(): Promise<void> {
    const windows = this.heard.probabilities.length;
    for (let index = windows; index < windows + 10 * (LINE_RATE_HZ / VAD_WINDOW_SAMPLES); index++) {
      await this.window(index);
    }
  }

  private async runUntil(now: number): Promise<void> {
    this.queueBot(now);
    for (;;) {
      const timer = dueTimer(this.state, now);
      this.queue.sort((one, other) => one.at - other.at);
      const next = this.queue[0];
      if (next && next.at <= now && next.at <= (timer?.dueSample ?? next.at)) {
        this.queue.shift();
        await this.tell(next.event, next.at);
      } else if (timer) {
        await this.tell({ type: 'timer', name: timer.name }, timer.dueSample);
      } else {
        return;
      }
    }
  }

  /** The bot begins and ends when the recording says so. */
  private queueBot(now: number): void {
    for (let next = this.heard.botSpans[this.botSpan + 1]; next && next.from < now; ) {
      const reply = ++this.botSpan + 1;
      this.queue.push(
        { at: next.from, event: { type: 'reply_begun', reply, isProtected: false } },
        { at: next.from, event: { type: 'audio_started', reply } },
        { at: next.to, event: { type: 'reply_ended', reply, how: 'played' } },
      );
      next = this.heard.botSpans[this.botSpan + 1];
    }
  }

  private async tell(event: TurnEvent, at: number): Promise<void> {
    const wasInterruptionCandidate = this.state.turn?.isInterruptionCandidate ?? false;
    const actions = step(this.state, event, at);
    if (!wasInterruptionCandidate && this.state.turn?.isInterruptionCandidate) {
      this.replay.overlaps.push({ from: this.state.turn.fromSample, heldAt: null, cutAt: null });
    }
    for (const action of actions) await this.obey(action, at);
  }

  private async obey(action: TurnAction, at: number): Promise<void> {
    const overlap = this.replay.overlaps.at(-1);
    switch (action.type) {
      case 'judge':
        await this.judge(action, at);
        return;
      case 'flush': {
        const { turn } = action;
        // Without words, only how long the caller speaks can tell that they mean it.
        const meaning = this.state.turn?.isInterruptionCandidate ? 'backchannel' : 'interruption';
        const text = this.words ? this.wordsUntil(at) : 'speech';
        const textAt = at + (this.words?.textSamples ?? 0);
        this.queue.push({ at: textAt, event: { type: 'final', turn, text, meaning } });
        return;
      }
      case 'take_turn':
        this.replay.turns.push({
          from: action.fromSample,
          to: action.toSample,
          decidedAt: at,
          decidedBy: action.decidedBy,
          probability: action.probability,
        });
        this.speechSamples = 0;
        return;
      case 'pause_bot':
        if (overlap) overlap.heldAt ??= at;
        return;
      case 'cut_bot':
      case 'withdraw':
        if (overlap) overlap.cutAt ??= at;
        return;
      default:
        return;
    }
  }

  /** What was said since the last text. */
  private wordsUntil(at: number): string {
    const spoken = this.words?.spoken ?? [];
    const from = this.toldWords;
    while ((spoken[this.toldWords]?.endSample ?? Number.POSITIVE_INFINITY) <= at) this.toldWords++;
    return spoken
      .slice(from, this.toldWords)
      .map(({ word }) => word)
      .join(' ');
  }

  private async judge(action: Extract<TurnAction, { type: 'judge' }>, at: number): Promise<void> {
    const { turn, epoch } = action;
    let probability: number | null = null;
    if (this.usesModel && this.speechSamples >= TURN_MIN_SPEECH_SAMPLES) {
      const from = Math.max(0, (this.state.turn?.fromSample ?? 0) - TURN_PRE_ROLL_SAMPLES);
      const verdict = await this.verdictOn(from, action.toSample);
      if (verdict.decidedBy === 'model') probability = verdict.probability;
    }
    const complete = probability === null ? null : probability > this.threshold;
    this.queue.push({
      at: at + samplesOf(VERDICT_MS),
      event: { type: 'verdict', turn, epoch, complete, probability },
    });
  }

  private async verdictOn(from: number, to: number): Promise<TurnVerdict> {
    const segment = () => this.heard.caller.slice(from, to);
    if (this.ownJudge) return this.ownJudge.judge(segment());
    const key = `${from}-${to}`;
    const known = this.heard.verdicts.get(key);
    if (known) return known;
    const verdict = await this.turnModel.judge(segment(), VERDICT_DEADLINE_MS);
    this.heard.verdicts.set(key, verdict);
    return verdict;
  }
}
