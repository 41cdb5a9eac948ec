import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig, VadConfig } from '../../contracts/runtime-config.ts';
import type { ReEngagementPlan } from './re-engagement.ts';
import type { TurnRules } from './turn-types.ts';

/** The part of a call's config that turn-taking depends on. */
export type TurnConfig = Pick<RuntimeConfig, 'min_words_interruption' | 'max_call_duration_seconds'> & {
  vad: VadConfig;
};

/** Shorter calls end without a warning. */
const WARNED_CALL_SECONDS = 60;
export const WARNING_SECONDS = 20;
/** As in speech-segmenter.ts. */
const DEFAULT_START_MS = 160;
/** Until something was measured. */
const FINAL_WAIT_MS = 1_500;

/** What the machine must know of the engine that listens, and of the words that it tells. */
export type HearingFacts = Pick<TurnRules, 'strategy' | 'givesInterims' | 'flushAtStop' | 'wordWaitSamples'>;

/** Turn rules of a call in samples; the defaults are those of D-36. `plan` is for a caller who is silent. */
export function turnRules(config: TurnConfig, hearing: HearingFacts, plan: ReEngagementPlan): TurnRules {
  const { vad } = config;
  const maxMs = config.max_call_duration_seconds * 1_000;
  const isWarned = config.max_call_duration_seconds >= WARNED_CALL_SECONDS;
  return {
    ...hearing,
    silenceSamples: samplesOf(vad.turn_silence_ms ?? 700),
    forcedEndSamples: samplesOf(vad.turn_forced_end_ms ?? 1_600),
    verdictWaitSamples: samplesOf(250),
    sttStuckSamples: samplesOf(5_000),
    sttSilentSamples: samplesOf(1_800),
    sttDoubtSamples: samplesOf(2_500),
    finalWaitSamples: samplesOf(FINAL_WAIT_MS),
    // Leaves an engine the time to be reconnected and to hear the turn again (D-34: 5 s in all).
    finalBoundSamples: samplesOf(6_000),
    speechStuckSamples: samplesOf(60_000),
    interruptionPauseSamples: samplesOf(vad.interruption_ms ?? 250),
    interruptionConfirmSamples: samplesOf(vad.commit_ms ?? 600),
    interruptionDecideSamples: samplesOf(vad.resume_ms ?? 1_200),
    minWords: config.min_words_interruption,
    reEngageSamples: samplesOf(plan.silenceMs),
    reEngageLines: plan.lines.length,
    // With the pauses of a telephone line this keeps every silence below 4 s (RT-21, RT-59).
    fillerSamples: samplesOf(3_000),
    rescueSamples: samplesOf(10_000),
    responseTimeoutSamples: samplesOf(20_000),
    playoutStuckSamples: samplesOf(300_000),
    goodbyeCapSamples: samplesOf(8_000),
    // RT-22: 0.6 s; who begins within it is noticed when their speech has become certain.
    closingListenSamples: samplesOf(600 + (vad.start_ms ?? DEFAULT_START_MS)),
    hangupPauseSamples: samplesOf(300),
    maxDurationSamples: samplesOf(maxMs),
    warningSamples: isWarned ? samplesOf(WARNING_SECONDS * 1_000) : samplesOf(maxMs),
  };
}

export function samplesOf(ms: number): number {
  return Math.round((ms * LINE_RATE_HZ) / 1_000);
}

export function msOf(samples: number): number {
  return Math.round((samples * 1_000) / LINE_RATE_HZ);
}
