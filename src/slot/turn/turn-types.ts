/**
 * The vocabulary of the turn machine: what it is told, what it remembers and what it asks for. All times are samples
 * of the line clock, counted from the call's first one (RT-10); no clock is read here.
 */

/** Who has the floor. Each phase but `over` has at least one armed timer, so that none can last for ever (RT-09). */
export type Phase =
  | 'caller_silent'
  | 'caller_speaking'
  | 'deciding'
  | 'bot_thinking'
  | 'bot_speaking'
  | 'interruption_candidate'
  | 'closing'
  | 'over';

export type TimerName =
  /** The caller says nothing: the next re-engagement line, or the end (RT-20). */
  | 're_engage'
  /** Speech that never stops: a tone, a television, a stuck detector. */
  | 'speech_stuck'
  /** The turn model has not answered. */
  | 'verdict_wait'
  /** Silence after which the turn is over. */
  | 'turn_end'
  /** The engine that detects turns waits long: the turn model is asked as well. */
  | 'stt_doubt'
  /** The engine that detects turns has not ended one, or does not show that it heard it. */
  | 'stt_turn_stuck'
  /** The final transcript has not come (RT-06). */
  | 'final_wait'
  /** Speech over the bot has lasted long enough to pause it (RT-11, stage one). */
  | 'interruption_pause'
  /** Speech over the bot has lasted long enough to take the floor (RT-11, the time rule). */
  | 'interruption_confirm'
  /** It is still open whether speech over the bot was meant (RT-14). */
  | 'interruption_decide'
  /** The bot owes an answer: a filler, the rescue line, the end (RT-21). */
  | 'debt_filler'
  | 'debt_rescue'
  | 'debt_end'
  /** The bot speaks, and its end is not in sight. */
  | 'playout_stuck'
  /** The goodbye has not been heard to its end (RT-23). */
  | 'goodbye_cap'
  /** After the goodbye the caller may still say something (RT-22). */
  | 'closing_listen'
  | 'duration_warning'
  | 'max_duration';

/** What ends a turn: the turn model with silence behind it, silence alone, or the engine's own events (RT-05). */
export type TurnStrategy = 'model' | 'silence' | 'stt';

export interface TurnRules {
  strategy: TurnStrategy;
  silenceSamples: number;
  forcedEndSamples: number;
  verdictWaitSamples: number;
  /** An engine that holds a turn open is believed for so long after the caller's last word. */
  sttStuckSamples: number;
  /** An engine that says nothing at all of what was spoken is believed for less. */
  sttSilentSamples: number;
  sttDoubtSamples: number;
  /** How long a decided turn waits for its text; grows and shrinks with what is measured (RT-06). */
  finalWaitSamples: number;
  /** While nothing was understood on the way either, there is nothing to go on with: the wait is this long then. */
  finalBoundSamples: number;
  /** Ask for the text whenever the caller stops, and not only at the end of a turn: right for engines that stream. */
  flushAtStop: boolean;
  speechStuckSamples: number;
  interruptionPauseSamples: number;
  interruptionConfirmSamples: number;
  interruptionDecideSamples: number;
  /** Words that take the floor; the time rule applies only where this is at most 1 or the engine gives no interims. */
  minWords: number;
  givesInterims: boolean;
  reEngageSamples: number;
  reEngageLines: number;
  fillerSamples: number;
  rescueSamples: number;
  responseTimeoutSamples: number;
  playoutStuckSamples: number;
  goodbyeCapSamples: number;
  closingListenSamples: number;
  /** Between the last heard sample of a goodbye that was ordered and the hang-up (RT-23). */
  hangupPauseSamples: number;
  maxDurationSamples: number;
  warningSamples: number;
  /**
   * How long after the last word a turn with these words, which the turn model judged so, is not over whatever has
   * called it over: its words promise more. 0 where they do not.
   */
  wordWaitSamples: (text: string, probability: number | null) => number;
}

/**
 * What words said over the bot mean; the lists behind it depend on the language (RT-12, RT-13). `answer`: few words, at
 * the end of a question that they can answer. `echo`: the bot's own, of something that sounds like it (RT-18).
 */
export type InterruptionMeaning =
  | 'nothing'
  | 'backchannel'
  | 'too_few_words'
  | 'answer'
  | 'interruption'
  | 'echo';

export type TurnEvent =
  | { type: 'speech_start'; fromSample: number }
  | { type: 'speech_stop'; lastSample: number }
  | { type: 'verdict'; turn: number; epoch: number; complete: boolean | null; probability: number | null }
  /** Text so far of the open turn, and what it means while the bot has the floor. */
  | { type: 'interim'; text: string; meaning: InterruptionMeaning }
  /** `isUnheard`: somebody spoke, and speech to text has no word of it. */
  | { type: 'final'; turn: number; text: string; meaning: InterruptionMeaning; isUnheard?: boolean }
  | { type: 'final_failed'; turn: number }
  /** The engine is being replaced, or still tells words: the text of a turn may take until then. */
  | { type: 'final_delayed'; untilSample: number }
  /** Another engine listens from here on. */
  | { type: 'strategy'; strategy: TurnStrategy }
  /** What began as speech is none: keys. */
  | { type: 'not_speech' }
  /** What is heard sounds like the bot, or goes on to: its words are waited for (RT-18). */
  | { type: 'doubted' }
  /** It does no longer, from then on. */
  | { type: 'undoubted'; fromSample: number }
  /** Of engines that detect turns. */
  | {
      type: 'engine_turn';
      what: 'start' | 'eager_end' | 'resumed' | 'end';
      text: string;
      meaning: InterruptionMeaning;
      isUnheard?: boolean;
    }
  /** The bot begins to make a reply; its audio follows. */
  | { type: 'reply_begun'; reply: number; isProtected: boolean }
  /** It has done something that cannot be taken back, or will hang up: from here on it is not withdrawn. */
  | { type: 'reply_bound'; reply: number; isProtected: boolean }
  | { type: 'audio_started'; reply: number }
  /** Everything that was made of a reply has been played, and more is to come. */
  | { type: 'audio_dry'; reply: number }
  | { type: 'reply_ended'; reply: number; how: 'played' | 'cut' | 'failed' }
  /** Something that settles no debt is being heard until then: a line that bridges the wait. */
  | { type: 'line_busy'; untilSample: number }
  /** The bot waits for something that the caller does without a word, such as pressing keys: it owes nothing. */
  | { type: 'awaits_caller' }
  /** Somebody else had the line for a while: whatever was going on then is over. */
  | { type: 'line_returned' }
  /** The call is to end once the reply has been heard. */
  | { type: 'close'; cause: 'end_call' | 'closure_phrase' }
  /** A digit, a transfer result: the caller is there. */
  | { type: 'caller_activity' }
  | { type: 'timer'; name: TimerName };

export type DecidedBy =
  | 'model'
  | 'forced_end'
  | 'silence_rule'
  | 'stt'
  | 'interruption'
  | 'stt_stuck'
  /** Its words promised more, and nothing came. */
  | 'words';

export interface TakenTurn {
  turn: number;
  text: string;
  fromSample: number;
  toSample: number;
  decidedBy: DecidedBy;
  probability: number | null;
  decidedAtSample: number;
}

export type TurnAction =
  | { type: 'judge'; turn: number; epoch: number; toSample: number }
  | { type: 'flush'; turn: number }
  /** Whatever the engine has heard since the last text belongs to nobody. */
  | { type: 'discard' }
  | { type: 'pause_bot' }
  | { type: 'resume_bot' }
  /** Silence the bot for good; what was heard counts. */
  | { type: 'cut_bot'; reply: number }
  /** The bot had not been heard yet, and the caller goes on: the turn that it answers is taken back. */
  | { type: 'withdraw'; reply: number; turn: number }
  | ({ type: 'take_turn' } & TakenTurn)
  /** Said over the bot, and no turn: kept in the transcript as overlap (RT-13). */
  | { type: 'overlap'; text: string; fromSample: number }
  /** The bot's own words came back; '' where the engine made none of what sounded like it. */
  | { type: 'echo'; text: string }
  /** Speech without words; `mayContinue` where it had silenced the bot. */
  | { type: 'empty_turn'; mayContinue: boolean }
  /** A turn whose text never came, or in which speech to text heard nothing although somebody spoke. */
  | ({ type: 'say_again'; isUnheard: boolean } & Pick<TakenTurn, 'turn' | 'toSample' | 'decidedAtSample'>)
  | { type: 're_engage'; line: number }
  | { type: 'say_filler' }
  | { type: 'say_rescue' }
  | { type: 'warn_duration' }
  | { type: 'closing_cancelled' }
  | {
      type: 'end';
      cause: 'end_call' | 'closure_phrase' | 'caller_silent' | 'max_duration' | 'response_timeout';
    }
  /** A timer that guards against something being stuck has fired: counted in the results (RT-09). */
  | { type: 'expired'; timer: TimerName };

/** What the caller is saying. */
export interface CallerTurn {
  id: number;
  fromSample: number;
  lastSpeechSample: number;
  /** Grows whenever speech begins or stops: answers to an older question are dropped. */
  epoch: number;
  /** Text that an earlier transcript of this turn has settled. */
  settledText: string;
  interim: string;
  interimMeaning: InterruptionMeaning;
  decidedBy: DecidedBy;
  probability: number | null;
  decidedAtSample: number;
  /** A transcript has been asked for and has not come. */
  awaitsFinal: boolean;
  askedAtSample: number;
  /** What it was asked for; of an older epoch there is more to ask for. */
  askedEpoch: number;
  /** `settledText` holds everything that was said so far. */
  isTextCurrent: boolean;
  /** It is over, whatever its text. */
  isDecided: boolean;
  /** The text did not come in time, and what was heard on the way stands for it. */
  usedInterim: boolean;
  /** Only words told of it, and no voice activity yet. */
  isByText: boolean;
  /** It began while the bot had the floor and has not taken it. */
  isInterruptionCandidate: boolean;
  /** It cut a bot that was being heard. */
  cutReply: boolean;
  /** Somebody spoke in it, and speech to text has no word of that. */
  isUnheard: boolean;
  /** It answers the question that the bot is ending: it is taken when the bot has ended. */
  isAnswer: boolean;
  /** Since its text was asked for last it sounds like the bot; and what it was asked for did. */
  isDoubted: boolean;
  wasAskedInDoubt: boolean;
}

/** Words that change nothing any more and still belong into the transcript (RT-13). */
export interface UnheardWords {
  turn: number;
  fromSample: number;
  /** What an earlier transcript has settled of them, and what was understood on the way since then. */
  text: string;
  interim: string;
  /** They sounded like the bot when their text was asked for. */
  wasDoubted: boolean;
}

export interface BotReply {
  id: number;
  isProtected: boolean;
  isBound: boolean;
  isAudible: boolean;
  /** Some of it has been heard. */
  wasAudible: boolean;
}

export interface TurnState {
  readonly rules: TurnRules;
  phase: Phase;
  nowSample: number;
  timers: Map<TimerName, number>;
  turnCount: number;
  turn: CallerTurn | null;
  /** Voice activity, whatever it means. */
  isSpeech: boolean;
  /** What the engine that detects turns has said last. */
  engine: { isOpen: boolean; signSample: number };
  /** The bot was heard until then, or will be. */
  audibleUntilSample: number;
  reply: BotReply | null;
  isPaused: boolean;
  /** Said over the bot and given up before its text came, or over a goodbye that stands. */
  unheard: UnheardWords | null;
  /** The turn that the bot answers, until its reply is heard. */
  answered: TakenTurn | null;
  linesUsed: number;
  closing: 'end_call' | 'closure_phrase' | null;
}
