import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { ofLanguage, readLists } from '../../platform/text-table.ts';

type ReEngagement = RuntimeConfig['re_engagement'];

/** How a bot deals with a caller who is silent (RT-20). */
export interface ReEngagementPlan {
  /** Said one after another; then the call ends. */
  lines: readonly string[];
  /** Silence before each line, and before the end. */
  silenceMs: number;
}

/** Of a bot that has no lines of its own. */
const LINES = readLists(import.meta.url, 're-engagement.txt');
const DEFAULT_AFTER_SECONDS = 8;
/** As fast as most voices speak; a line that is not spoken takes no longer than one that is. */
const SPOKEN_CHARACTERS_PER_SECOND = 14;

/**
 * The plan of a bot that speaks `language` (BCP 47). One that is told to say nothing waits as long as its lines and the
 * pauses between them would have taken, or for as long as it is told: silence alone is no reason to hang up early.
 */
export function reEngagementPlan(config: ReEngagement, language: string | undefined): ReEngagementPlan {
  const defaults = ofLanguage(LINES, language) ?? LINES.get('en') ?? [];
  const silenceMs = (config.after_seconds ?? DEFAULT_AFTER_SECONDS) * 1_000;
  if (config.enabled !== false) return { lines: config.prompts ?? defaults, silenceMs };
  const unsaid = config.prompts?.length ? config.prompts : defaults;
  const speechMs = (unsaid.join('').length * 1_000) / SPOKEN_CHARACTERS_PER_SECOND;
  const planMs = silenceMs * (unsaid.length + 1) + speechMs;
  return { lines: [], silenceMs: config.end_after_seconds ? config.end_after_seconds * 1_000 : planMs };
}
