import { createTurnMachine, step } from '../../../src/slot/turn/turn-machine.ts';
import { dueTimer } from '../../../src/slot/turn/turn-timers.ts';
import type {
  InterruptionMeaning,
  TimerName,
  TurnAction,
  TurnEvent,
  TurnRules,
  TurnState,
} from '../../../src/slot/turn/turn-types.ts';

/**
 * A small model of everything around the turn machine: a caller with numbered words, engines that answer late, twice
 * or never, a bot whose audio can be heard. It obeys the machine's actions and checks them as it does.
 */
const MS = 8;
const TRACE_LINES = 16;

export const WALK_RULES: TurnRules = {
  strategy: 'model',
  silenceSamples: 700 * MS,
  forcedEndSamples: 1_600 * MS,
  verdictWaitSamples: 250 * MS,
  sttStuckSamples: 5_000 * MS,
  sttSilentSamples: 1_800 * MS,
  sttDoubtSamples: 2_500 * MS,
  finalWaitSamples: 1_000 * MS,
  finalBoundSamples: 6_000 * MS,
  flushAtStop: false,
  speechStuckSamples: 60_000 * MS,
  interruptionPauseSamples: 250 * MS,
  interruptionConfirmSamples: 600 * MS,
  interruptionDecideSamples: 1_200 * MS,
  minWords: 0,
  givesInterims: true,
  reEngageSamples: 8_000 * MS,
  reEngageLines: 2,
  fillerSamples: 4_000 * MS,
  rescueSamples: 10_000 * MS,
  responseTimeoutSamples: 20_000 * MS,
  playoutStuckSamples: 120_000 * MS,
  goodbyeCapSamples: 8_000 * MS,
  closingListenSamples: 600 * MS,
  hangupPauseSamples: 300 * MS,
  // The random walk looks for states without a way out; the longest way out of all must not hide them.
  maxDurationSamples: Number.MAX_SAFE_INTEGER,
  warningSamples: Number.MAX_SAFE_INTEGER,
  // Every fifth word promises more.
  wordWaitSamples: (text) => (/w\d*[05]$/.test(text) ? 1_600 * MS : 0),
};

/** A named damage to the machine, so that a test can show that the walk would find it. */
export interface Fault {
  name: string;
  /** Changes an event on its way in. */
  event?: (event: TurnEvent, state: TurnState) => TurnEvent | null;
  /** Changes the state after a step. */
  state?: ((state: TurnState, event: TurnEvent) => void) | undefined;
  actions?: (actions: TurnAction[], state: TurnState) => TurnAction[];
}

export class TurnWorld {
  readonly state: TurnState;
  now = 0;
  /** Timers that guarded something and fired. */
  readonly expired = new Map<TimerName, number>();
  readonly taken: string[] = [];
  askedVerdicts: { turn: number; epoch: number }[] = [];
  askedTexts: number[] = [];
  replies = 0;
  /** The last events and what came of them, for the report of a failure. */
  readonly trace: string[] = [];
  /** The reply whose audio the speaker would play; null when none. */
  live: { id: number; audible: boolean; isProtected: boolean } | null = null;
  isPaused = false;
  words = 0;
  private speaking = false;
  private readonly lastAsked = new Map<number, number>();
  private readonly complete = new Set<string>();
  /** Words said since the engine was last asked. */
  private unflushed: string[] = [];
  private readonly fate = new Map<string, 'lost' | 'taken' | 'overlap' | 'withdrawn' | 'pending'>();
  private readonly takenTexts = new Map<number, string>();
  private readonly fault: Fault | undefined;

  constructor(rules: TurnRules, fault?: Fault) {
    this.state = createTurnMachine(rules);
    this.fault = fault;
  }

  get isSpeaking(): boolean {
    return this.speaking;
  }

  get isOver(): boolean {
    return this.state.phase === 'over';
  }

  send(event: TurnEvent): void {
    const { fault } = this;
    const sent = fault?.event ? fault.event(event, this.state) : event;
    if (!sent) return;
    const queue = [sent];
    for (let next = queue.shift(); next; next = queue.shift()) {
      let actions = step(this.state, next, this.now);
      fault?.state?.(this.state, next);
      if (fault?.actions) actions = fault.actions(actions, this.state);
      this.trace.push(
        `${Math.round(this.now / MS)} ms ${JSON.stringify(next)} -> ${this.state.phase} ${JSON.stringify(actions)}`,
      );
      if (this.trace.length > TRACE_LINES) this.trace.shift();
      for (const action of actions) queue.push(...this.apply(action));
    }
    this.check();
  }

  /** Lets time pass; timers fire on the way. */
  pass(samples: number): void {
    const end = this.now + samples;
    for (let due = dueTimer(this.state, end); due && !this.isOver; due = dueTimer(this.state, end)) {
      this.now = Math.max(this.now, due.dueSample);
      this.send({ type: 'timer', name: due.name });
    }
    this.now = end;
  }

  startSpeech(): void {
    this.speaking = true;
    this.send({ type: 'speech_start', fromSample: this.now - 160 * MS });
  }

  stopSpeech(): void {
    this.speaking = false;
    this.send({ type: 'speech_stop', lastSample: this.now - 224 * MS });
  }

  /** The caller says a word; the engine has it from now on. */
  sayWord(): void {
    const word = `w${++this.words}`;
    this.unflushed.push(word);
    this.fate.set(word, 'pending');
  }

  interim(meaning: InterruptionMeaning): void {
    this.send({ type: 'interim', text: this.unflushed.join(' '), meaning });
  }

  answerText(index: number, meaning: InterruptionMeaning, fails: boolean): void {
    const [turn] = this.askedTexts.splice(index, 1);
    if (turn === undefined) return;
    const text = this.unflushed.join(' ');
    this.unflushed = [];
    if (fails) this.send({ type: 'final_failed', turn });
    // Half of what has no words was speech all the same.
    else this.send({ type: 'final', turn, text, meaning, isUnheard: text === '' && turn % 2 === 0 });
  }

  engineEnds(meaning: InterruptionMeaning): void {
    const text = this.unflushed.join(' ');
    this.unflushed = [];
    this.send({ type: 'engine_turn', what: 'end', text, meaning });
  }

  answerVerdict(index: number, complete: boolean | null): void {
    const [asked] = this.askedVerdicts.splice(index, 1);
    if (asked && complete) this.complete.add(`${asked.turn}:${asked.epoch}`);
    if (asked) this.send({ type: 'verdict', ...asked, complete, probability: complete ? 0.9 : 0.1 });
  }

  beginReply(isProtected: boolean): void {
    this.live = { id: ++this.replies, audible: false, isProtected };
    this.send({ type: 'reply_begun', reply: this.live.id, isProtected });
  }

  startAudio(): void {
    if (!this.live || this.live.audible || this.isPaused) return;
    this.live.audible = true;
    this.send({ type: 'audio_started', reply: this.live.id });
  }

  endReply(how: 'played' | 'failed'): void {
    const { live } = this;
    if (!live || this.isPaused) return;
    this.live = null;
    this.send({ type: 'reply_ended', reply: live.id, how });
  }

  /** A transfer failed: what was being said before is nobody's any more. */
  returnLine(): void {
    for (const [word, fate] of this.fate) if (fate === 'withdrawn') this.fate.delete(word);
    this.send({ type: 'line_returned' });
  }

  private apply(action: TurnAction): TurnEvent[] {
    switch (action.type) {
      case 'judge':
        this.askedVerdicts.push({ turn: action.turn, epoch: action.epoch });
        this.lastAsked.set(action.turn, action.epoch);
        return [];
      case 'flush':
        this.askedTexts.push(action.turn);
        return [];
      case 'discard':
        this.unflushed = [];
        return [];
      case 'pause_bot':
        must(!this.isPaused, 'a bot that is held is held again');
        this.isPaused = true;
        return [];
      case 'resume_bot':
        must(this.isPaused, 'a bot that is not held is told to go on');
        this.isPaused = false;
        return [];
      case 'cut_bot':
      case 'withdraw':
        must(this.live?.id === action.reply, 'a reply is cut that is not the one that speaks');
        this.live = null;
        this.isPaused = false;
        if (action.type === 'withdraw') this.withdrawn(action.turn);
        return [];
      case 'take_turn': {
        must(action.text !== '', 'a turn without words is taken');
        must(this.live === null, 'a turn is taken while a reply may still sound');
        if (action.decidedBy === 'model') {
          const asked = `${action.turn}:${this.lastAsked.get(action.turn)}`;
          must(this.complete.has(asked), 'a turn is ended by a verdict on an older state of it');
        }
        this.takenTexts.set(action.turn, action.text);
        this.taken.push(action.text);
        for (const word of wordsOf(action.text)) {
          must(/^w\d+$/.test(word), `the word ${word} was not said in this turn`);
          must(this.fate.get(word) !== 'taken', `the word ${word} is taken twice`);
          this.fate.set(word, 'taken');
        }
        this.live = { id: ++this.replies, audible: false, isProtected: false };
        return [{ type: 'reply_begun', reply: this.live.id, isProtected: false }];
      }
      case 'overlap':
        for (const word of wordsOf(action.text)) {
          must(this.fate.get(word) !== 'taken', `the word ${word} is a turn and an overlap`);
          this.fate.set(word, 'overlap');
        }
        return [];
      case 're_engage':
      case 'say_again':
        must(this.live === null, 'the bot is told to speak while it speaks');
        return [];
      case 'expired':
        this.expired.set(action.timer, (this.expired.get(action.timer) ?? 0) + 1);
        return [];
      case 'end':
        this.live = null;
        return [];
      default:
        return [];
    }
  }

  private withdrawn(turn: number): void {
    const text = this.takenTexts.get(turn);
    must(text !== undefined, 'a turn is withdrawn that was never taken');
    for (const word of wordsOf(text ?? '')) this.fate.set(word, 'withdrawn');
    this.taken.splice(this.taken.indexOf(text ?? ''), 1);
  }

  /** Withdrawn words must stand in the turn that goes on; otherwise the question would be forgotten. */
  private check(): void {
    const { state } = this;
    must(state.isPaused === this.isPaused, 'machine and speaker disagree on whether the bot is held');
    must((state.reply?.id ?? null) === (this.live?.id ?? null), 'machine and speaker know different replies');
    must(
      (state.reply?.isAudible ?? false) === (this.live?.audible ?? false),
      'machine and speaker disagree on whether the bot is heard',
    );
    if (state.phase === 'over') return;
    must(
      GUARDS[state.phase].some((name) => state.timers.has(name)),
      `no timer guards ${state.phase}`,
    );
    if (state.closing === 'end_call') {
      // The bot hangs up: what was still being asked is not answered any more.
      for (const [word, fate] of this.fate) if (fate === 'withdrawn') this.fate.delete(word);
    } else if (!state.turn) {
      for (const [word, fate] of this.fate) must(fate !== 'withdrawn', `the word ${word} is forgotten`);
    } else {
      for (const [word, fate] of this.fate) {
        if (fate === 'withdrawn') {
          must(wordsOf(state.turn.settledText).includes(word), `the word ${word} has left its turn`);
        }
      }
    }
    for (const [word, fate] of this.fate) if (fate === 'taken' || fate === 'overlap') this.fate.delete(word);
    if (state.answered) {
      for (const word of wordsOf(state.answered.text)) this.fate.set(word, 'taken');
    }
  }
}

/** One of these is armed in each phase (RT-09). */
const GUARDS: Record<Exclude<TurnState['phase'], 'over'>, readonly TimerName[]> = {
  caller_silent: ['re_engage'],
  caller_speaking: ['speech_stuck'],
  deciding: ['verdict_wait', 'turn_end', 'stt_turn_stuck', 'final_wait'],
  bot_thinking: ['debt_end'],
  bot_speaking: ['playout_stuck'],
  interruption_candidate: ['interruption_decide'],
  closing: ['goodbye_cap', 'closing_listen'],
};

export function must(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(sentence);
}

function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}
