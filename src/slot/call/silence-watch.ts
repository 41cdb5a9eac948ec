import type { RuntimeConfig } from '../../contracts/runtime-config.ts';

/**
 * The caller's silence (RT-20): counted from the moment the bot has been heard to its end and nobody speaks or
 * thinks. Each time it is over, the next prompt is due; after the last one the call is.
 */
const DEFAULT_AFTER_SECONDS = 8;
const DEFAULT_PROMPTS = ['Are you still there?', 'I cannot hear you. Please say something.'];

export type SilenceStep = { kind: 'prompt'; text: string } | { kind: 'give_up' } | null;

export class SilenceWatch {
  private readonly afterMs: number;
  private readonly prompts: readonly string[];
  private quietSinceMs: number | null = null;
  private used = 0;

  constructor(config: RuntimeConfig['re_engagement']) {
    this.afterMs = (config.after_seconds ?? DEFAULT_AFTER_SECONDS) * 1000;
    this.prompts = config.enabled === false ? [] : (config.prompts ?? DEFAULT_PROMPTS);
  }

  /** The caller said something: the prompts begin anew. */
  callerSpoke(): void {
    this.used = 0;
    this.quietSinceMs = null;
  }

  /** Called several times a second; `isQuiet` where neither side speaks, listens to an open turn or thinks. */
  tick(isQuiet: boolean, nowMs: number): SilenceStep {
    if (!isQuiet) {
      this.quietSinceMs = null;
      return null;
    }
    this.quietSinceMs ??= nowMs;
    if (nowMs - this.quietSinceMs < this.afterMs) return null;
    this.quietSinceMs = null;
    const text = this.prompts[this.used++];
    return text === undefined ? { kind: 'give_up' } : { kind: 'prompt', text };
  }
}
