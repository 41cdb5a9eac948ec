import { LINE_RATE_HZ, WIDE_RATE_HZ } from '../../contracts/limits.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';

/** Hz. */
export type HearingHz = typeof LINE_RATE_HZ | typeof WIDE_RATE_HZ;

/**
 * The rate that a bot hears a line at. One ring of audio serves the bot's engine and all of its fallbacks, so where
 * one of them insists on the rate of the telephone, all hear at that.
 */
export function hearingRate(stt: ProviderConfig, lineHz: number): HearingHz {
  const engines = [stt, ...(stt.fallbacks ?? [])];
  const isNarrow = engines.some((engine) => engine.sample_rate === LINE_RATE_HZ);
  return lineHz === WIDE_RATE_HZ && !isNarrow ? WIDE_RATE_HZ : LINE_RATE_HZ;
}
