import type { PromptCachePort } from './llm/prompt-cache.ts';
import { type ProviderClock, realClock } from './provider-clock.ts';

/** What a call lends to each of its provider clients. */
export interface ProviderContext {
  /** Rate of the audio that speech to text is fed and that a voice should deliver where it can: 8000 or 16000. */
  sampleRate: number;
  clock: ProviderClock;
  /** Something happened inside a client that the call's record should tell. Never throws. */
  report(trouble: ProviderTrouble): void;
  /** Entries of the vendor's prompt cache that all slots share; absent where the bot caches nothing. */
  promptCache?: PromptCachePort;
}

/** Becomes an event of the results payload under the same name; holds no secret and no text of the caller. */
export interface ProviderTrouble {
  event:
    | 'provider_reconnected'
    | 'provider_retried'
    | 'provider_failed'
    | 'provider_switched'
    | 'provider_hedged'
    | 'provider_audio_dropped'
    | 'provider_cache'
    | 'history_repaired';
  provider: string;
  family: 'stt' | 'llm' | 'tts';
  [key: string]: unknown;
}

/** For tools that use a provider outside a call. */
export const plainContext: ProviderContext = { sampleRate: 8_000, clock: realClock, report: () => undefined };
