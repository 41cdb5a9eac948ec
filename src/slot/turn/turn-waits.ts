import type { VadConfig } from '../../contracts/runtime-config.ts';
import { compileRulePattern } from '../../providers/llm/rule-pattern.ts';
import { type AnswerRule, type AnswerWaits, waitsAfter } from './answer-waits.ts';
import { PauseStatistics } from './pause-statistics.ts';
import { msOf, samplesOf } from './turn-rules.ts';

/** Changes of the learned wait below this are not worth a line in the record. */
const TOLD_CHANGE_MS = 30;

/**
 * How long a pause may be before the turn counts as over, at this moment of this call: the bot's setting, what was
 * learned of this caller (RT-07), and, before both, what the bot has just asked (RT-82).
 */
export class TurnWaits {
  private readonly base: AnswerWaits;
  private readonly learns: boolean;
  private readonly asks: boolean;
  private readonly own: readonly AnswerRule[];
  private readonly pauses = new PauseStatistics();
  private readonly onLearned: (silenceMs: number) => void;
  private asked: AnswerWaits | null = null;
  private toldMs: number;

  /** `onLearned` hears every change of the learned wait. */
  constructor(config: VadConfig, onLearned: (silenceMs: number) => void) {
    this.base = { silenceMs: config.turn_silence_ms ?? 700, forcedEndMs: config.turn_forced_end_ms ?? 1_600 };
    this.learns = config.learned_pauses ?? true;
    this.asks = config.question_aware ?? true;
    this.own = ownRules(config);
    this.onLearned = onLearned;
    this.toldMs = this.base.silenceMs;
  }

  get silenceSamples(): number {
    return samplesOf(this.asked?.silenceMs ?? this.learnedMs);
  }

  get forcedEndSamples(): number {
    return samplesOf(this.asked?.forcedEndMs ?? this.base.forcedEndMs);
  }

  /** The caller went on after a pause within their turn. */
  paused(samples: number): void {
    this.pauses.paused(msOf(samples));
    const learnedMs = this.learnedMs;
    if (Math.abs(learnedMs - this.toldMs) < TOLD_CHANGE_MS) return;
    this.toldMs = learnedMs;
    this.onLearned(learnedMs);
  }

  /** What the bot was last heard to say: the caller answers that. */
  botSaid(line: string): void {
    this.asked = this.asks ? waitsAfter(line, this.own) : null;
  }

  private get learnedMs(): number {
    return this.learns ? this.pauses.silenceMs(this.base.silenceMs) : this.base.silenceMs;
  }
}

/** Rules of the bot; a pattern that could take long, or is none, fits nothing (refused when the bot is published). */
function ownRules(config: VadConfig): AnswerRule[] {
  return (config.answer_rules ?? []).flatMap((rule) => {
    const pattern = compileRulePattern(rule.pattern);
    if (typeof pattern === 'string') return [];
    const forcedEndMs = rule.forced_end_ms ?? Math.max(rule.silence_ms, config.turn_forced_end_ms ?? 1_600);
    return [{ name: 'own', pattern, waits: { silenceMs: rule.silence_ms, forcedEndMs } }];
  });
}
