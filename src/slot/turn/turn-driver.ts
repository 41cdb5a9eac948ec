import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import type { SttSession, SttTurnEvent } from '../../providers/contract/speech-to-text.ts';
import type { CallerListener } from '../listen/caller-listener.ts';
import type { TurnJudge } from '../listen/turn-model.ts';
import { TURN_MIN_SPEECH_SAMPLES } from '../listen/turn-window.ts';
import { joined } from './caller-turn.ts';
import type { HeardWords } from './heard-words.ts';
import { createTurnMachine, step } from './turn-machine.ts';
import { msOf } from './turn-rules.ts';
import { dueTimer } from './turn-timers.ts';
import type {
  TurnAction,
  TurnEvent,
  TurnRules,
  TurnState,
  TurnStrategy,
  UnheardWords,
} from './turn-types.ts';
import type { TurnWaits } from './turn-waits.ts';

/** Actions that are left to the call; the driver itself asks for verdicts and texts. */
export type CallAction = Exclude<TurnAction, { type: 'judge' | 'flush' | 'discard' }>;

/** What was found out about a turn beside what the machine needs. */
export interface TurnEvidence {
  /** Mean over the pieces of its text; null where the engine gives none. */
  confidence: number | null;
  /** Why the turn model did not decide; null where it did. */
  ruleReason: string | null;
  /** When it was called over, in monotonic milliseconds. */
  decidedAtMs: number;
}

export interface TurnDriverOptions {
  rules: TurnRules;
  waits: TurnWaits;
  turnModel: TurnJudge | null;
  turnThreshold: number;
  words: Pick<HeardWords, 'speechStarted' | 'soFar' | 'final' | 'ofEngine'>;
  stt: Pick<SttSession, 'flush' | 'discard'>;
  /** Which engine listens may change in the middle of a call. */
  strategy: () => TurnStrategy;
  /** Whether the engine tells words on the way, as far as is known before it has. */
  givesInterims: () => boolean;
  /** How long the text of a finished turn takes this engine, in samples. */
  finalWaitSamples: () => number;
  speechInput: Pick<
    CallerListener,
    'heardUptoSample' | 'turnIsOpen' | 'hearHz' | 'turnAudio' | 'learnEcho' | 'line'
  >;
  hooks: {
    apply(action: CallAction): void;
    /** A turn could not be transcribed; what follows comes as an action. */
    onTranscriptionFailure(error: Error): void;
    /** What the caller says, so far or in the end. */
    onText(text: string): void;
    /** A turn is probably over, and these are probably its words: an answer may be prepared (RT-51). */
    onProbableEnd(turn: number, text: string): void;
    /** It is not: the caller goes on. */
    onContinued(): void;
  };
}

const VERDICT_DEADLINE_MS = 250;
/** Above every wait of the machine: who gives up first is the machine. */
const FLUSH_ABORT_MS = 8_000;
/** After the end of a call its last words are waited for so long. */
const LAST_WORDS_MS = 1_500;
/** An engine that has just told another word is still at it. */
const FRESH_INTERIM_SAMPLES = 0.7 * LINE_RATE_HZ;
/** Turns whose evidence is kept. */
const MAX_EVIDENCE = 8;

/**
 * Keeps the turn machine of a call running: brings it what happens, in order and one thing after the other; fires its
 * timers by the line clock; asks the turn model and the speech-to-text engine for it. What it wants of the bot goes to
 * the call.
 */
export class TurnDriver {
  readonly state: TurnState;
  private readonly options: TurnDriverOptions;
  private readonly queue: TurnEvent[] = [];
  private readonly evidence = new Map<number, TurnEvidence & { pieces: number }>();
  /** The text that was asked for last. */
  private asked: { turn: number; heard: ReturnType<SttSession['flush']> } | null = null;
  private isDraining = false;
  private isStopped = false;
  private isSuspended = false;
  private speechFromSample = 0;
  private speechSamples = 0;
  private interimAtSample = Number.NEGATIVE_INFINITY;
  private troubleAtSample = Number.NEGATIVE_INFINITY;
  /** What the last flush failed with, or had nothing to say of. */
  lastFailure: Error = new AppError('provider_timeout', 'speech to text gave no text for a turn');

  constructor(options: TurnDriverOptions) {
    this.options = options;
    this.state = createTurnMachine(options.rules);
  }

  /** Brings an event; events that its actions cause follow behind it. */
  send(event: TurnEvent): void {
    this.queue.push(event);
    if (this.isDraining) return;
    this.isDraining = true;
    try {
      for (let next = this.queue.shift(); next; next = this.queue.shift()) this.take(next);
    } finally {
      this.isDraining = false;
    }
  }

  /** Somebody else has the line for a while: nothing that is said counts, and only the call's length goes on. */
  suspend(): void {
    this.isSuspended = true;
  }

  /** The bot has the line again; a silence of the caller is counted from here. */
  restore(): void {
    this.isSuspended = false;
    this.send({ type: 'line_returned' });
  }

  /** Nothing is taken and no timer fires from here on; words that were said over the goodbye are still written down. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    const { unheard } = this.state;
    if (unheard) this.lastWords = this.keepLastWords(unheard);
  }

  /** Settles once the words are written that were being said when it stopped; never rejects. */
  lastWords: Promise<void> = Promise.resolve();

  speechStarted(fromSample: number): void {
    const { turn, phase } = this.state;
    if (turn && !turn.isDecided && phase === 'deciding') {
      this.options.waits.paused(fromSample - turn.lastSpeechSample);
    }
    if (!turn) this.speechSamples = 0;
    this.speechFromSample = fromSample;
    this.options.words.speechStarted(msOf(this.now - fromSample));
    this.options.hooks.onContinued();
    this.send({ type: 'speech_start', fromSample });
  }

  /** What is heard sounds like the bot, or goes on to; or it does no longer, from a sample on. */
  speechDoubted(isDoubted: boolean, fromSample: number): void {
    if (isDoubted) this.send({ type: 'doubted' });
    else if (this.state.isSpeech) this.send({ type: 'undoubted', fromSample });
    else this.speechStarted(fromSample);
  }

  speechStopped(lastSample: number): void {
    this.speechSamples += Math.max(0, lastSample - this.speechFromSample);
    this.send({ type: 'speech_stop', lastSample });
  }

  interim(text: string): void {
    if (text.trim() === '') return;
    this.interimAtSample = this.now;
    const meaning = this.options.words.soFar(text, this.state, this.now);
    if (meaning !== 'echo') this.options.hooks.onText(text);
    this.send({ type: 'interim', text, meaning });
  }

  engineTurn(event: SttTurnEvent): void {
    const text = 'text' in event ? event.text : '';
    const lineEchoes = this.options.speechInput.line.echoes > 0;
    const meaning = this.options.words.ofEngine(text, this.state, this.now, lineEchoes);
    if (text.trim() !== '' && meaning !== 'echo') this.options.hooks.onText(text);
    // The machine gives an id to a turn that opens with this, so its evidence is noted first.
    if (event.type === 'end')
      this.noteConfidence(this.state.turn?.id ?? this.state.turnCount + 1, event.confidence);
    if (meaning === 'echo' && event.type === 'end') this.options.speechInput.learnEcho();
    const isUnheard = event.type === 'end' && (event.isUnheard ?? false);
    if (isUnheard) this.lastFailure = unheardError();
    this.send({ type: 'engine_turn', what: event.type, text, meaning, isUnheard });
    if (meaning === 'echo') return;
    if (event.type === 'resumed') this.options.hooks.onContinued();
    if (event.type === 'eager_end' && this.state.turn && !this.state.turn.isInterruptionCandidate) {
      this.options.hooks.onProbableEnd(this.state.turn.id, joined(this.state.turn.settledText, text.trim()));
    }
  }

  /** The engine broke: the text of the open turn comes from its successor, and later. */
  engineInTrouble(): void {
    this.troubleAtSample = this.now;
    this.send({ type: 'final_delayed', untilSample: this.now + this.options.rules.finalBoundSamples });
  }

  /** Whatever is due on the line clock is done; called for each window of audio and by the call's tick. */
  advance(): void {
    const strategy = this.options.strategy();
    if (strategy !== this.state.rules.strategy) this.send({ type: 'strategy', strategy });
    for (let due = this.due(); due; due = this.due()) {
      if (due.name === 'final_wait' && this.isStillComing()) continue;
      this.send({ type: 'timer', name: due.name });
    }
  }

  /** The length of a call is not measured on a line that may stand still: `elapsedSamples` is wall time. */
  advanceDuration(elapsedSamples: number): void {
    for (const name of ['duration_warning', 'max_duration'] as const) {
      if ((this.state.timers.get(name) ?? Number.POSITIVE_INFINITY) <= elapsedSamples) {
        this.send({ type: 'timer', name });
      }
    }
  }

  evidenceOf(turn: number): TurnEvidence {
    return this.evidenceFor(turn);
  }

  private get now(): number {
    return this.options.speechInput.heardUptoSample;
  }

  private due() {
    return this.isStopped || this.isSuspended ? null : dueTimer(this.state, this.now);
  }

  private take(event: TurnEvent): void {
    if (this.isStopped || (this.isSuspended && event.type !== 'timer')) return;
    const { rules } = this.state;
    const { speechInput, waits } = this.options;
    rules.finalWaitSamples = this.options.finalWaitSamples();
    rules.givesInterims = this.interimAtSample >= 0 || this.options.givesInterims();
    rules.silenceSamples = waits.silenceSamples;
    rules.forcedEndSamples = waits.forcedEndSamples;
    const before = this.state.turn;
    const wasDecided = before?.isDecided ?? false;
    const actions = step(this.state, event, this.now);
    const decided = this.state.turn ?? before;
    if (decided?.isDecided && !wasDecided) this.evidenceFor(decided.id).decidedAtMs = monotonicMs();
    for (const action of actions) this.apply(action);
    speechInput.turnIsOpen = this.state.turn !== null;
  }

  private apply(action: TurnAction): void {
    if (action.type === 'judge') void this.judge(action);
    else if (action.type === 'flush') this.askForText(action.turn);
    else if (action.type === 'discard') this.options.stt.discard();
    else this.options.hooks.apply(action);
  }

  /** Whether the text that is due is on its way: then the wait grows instead of ending (RT-06). */
  private isStillComing(): boolean {
    const { turn, rules } = this.state;
    if (!turn?.awaitsFinal || this.now >= turn.askedAtSample + rules.finalBoundSamples) return false;
    const isBroken = this.troubleAtSample >= turn.fromSample;
    const freshUntil = this.interimAtSample + FRESH_INTERIM_SAMPLES;
    if (!isBroken && freshUntil <= this.now) return false;
    this.send({
      type: 'final_delayed',
      untilSample: isBroken ? turn.askedAtSample + rules.finalBoundSamples : freshUntil,
    });
    return true;
  }

  private async judge(asked: Extract<TurnAction, { type: 'judge' }>): Promise<void> {
    const { turn, epoch, toSample } = asked;
    const { turnModel, speechInput, turnThreshold } = this.options;
    const fromSample = this.state.turn?.fromSample ?? toSample;
    const reason = this.speechSamples < TURN_MIN_SPEECH_SAMPLES ? 'short' : turnModel ? null : 'off';
    const verdict =
      turnModel && reason === null
        ? await turnModel.judge(
            speechInput.turnAudio(fromSample, toSample),
            VERDICT_DEADLINE_MS,
            speechInput.hearHz,
          )
        : { decidedBy: 'silence_rule' as const, reason };
    const isModel = verdict.decidedBy === 'model';
    this.evidenceFor(turn).ruleReason = isModel ? null : verdict.reason;
    const probability = isModel ? verdict.probability : null;
    const complete = probability === null ? null : probability > turnThreshold;
    this.send({ type: 'verdict', turn, epoch, complete, probability });
  }

  /** While the text is on its way, what was heard of it so far is good enough to begin to think. */
  private askForText(turnId: number): void {
    const { turn } = this.state;
    const isTheirs = turn?.interim !== '' && turn?.interimMeaning !== 'echo';
    if (turn?.id === turnId && turn.isDecided && isTheirs) {
      const text = joined(turn.settledText, turn.interim);
      // Words that promise more are not the last ones, or the turn is not over.
      const wait = this.state.rules.wordWaitSamples(text, turn.probability);
      if (turn.lastSpeechSample + wait <= this.now) this.options.hooks.onProbableEnd(turnId, text);
    }
    void this.flush(turnId);
  }

  private async keepLastWords({ turn, text, interim, fromSample }: UnheardWords): Promise<void> {
    const asked = this.asked?.turn === turn ? this.asked.heard : this.ask(turn);
    const heard = await within(
      asked.catch(() => null),
      LAST_WORDS_MS,
      null,
    );
    const told = heard?.text.trim() || interim.trim();
    const isEcho = this.options.words.final(told, turn, this.state, this.now) === 'echo';
    const said = joined(text, isEcho ? '' : told);
    if (said !== '') this.options.hooks.apply({ type: 'overlap', text: said, fromSample });
  }

  private ask(turn: number): ReturnType<SttSession['flush']> {
    const heard = this.options.stt.flush(AbortSignal.timeout(FLUSH_ABORT_MS));
    this.asked = { turn, heard };
    return heard;
  }

  private async flush(turn: number): Promise<void> {
    try {
      const heard = await this.ask(turn);
      const text = heard.text.trim();
      const meaning = this.options.words.final(text, turn, this.state, this.now);
      if (meaning === 'echo') {
        this.options.speechInput.learnEcho();
      } else if (text !== '') {
        this.noteConfidence(turn, heard.confidence);
        this.options.hooks.onText(text);
      }
      const isUnheard = heard.isUnheard ?? false;
      if (isUnheard) this.lastFailure = unheardError();
      this.send({ type: 'final', turn, text, meaning, isUnheard });
    } catch (error) {
      if (this.isStopped) return;
      this.lastFailure = error as Error;
      this.options.hooks.onTranscriptionFailure(this.lastFailure);
      this.send({ type: 'final_failed', turn });
    }
  }

  private noteConfidence(turn: number, confidence: number | null): void {
    if (confidence === null) return;
    const evidence = this.evidenceFor(turn);
    const sum = (evidence.confidence ?? 0) * evidence.pieces + confidence;
    evidence.confidence = sum / ++evidence.pieces;
  }

  private evidenceFor(turn: number): TurnEvidence & { pieces: number } {
    const known = this.evidence.get(turn);
    if (known) return known;
    const fresh = { confidence: null, ruleReason: null, decidedAtMs: monotonicMs(), pieces: 0 };
    this.evidence.set(turn, fresh);
    const [oldest] = this.evidence.keys();
    if (this.evidence.size > MAX_EVIDENCE && oldest !== undefined) this.evidence.delete(oldest);
    return fresh;
  }
}

function unheardError(): AppError {
  return new AppError('provider_timeout', 'speech to text had no word for what the caller said');
}
