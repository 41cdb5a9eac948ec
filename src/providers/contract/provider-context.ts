import type { LlmUsage } from './language-model.ts';
import { type ProviderClock, realClock } from './provider-clock.ts';

/** What a call lends to each of its provider clients. */
export interface ProviderContext {
  /** Rate of the audio that speech to text is fed and that a voice should deliver where it can: 8000 or 16000. */
  sampleRate: number;
  clock: ProviderClock;
  /** Something happened inside a client that the call's record should tell. Never throws. */
  report(trouble: ProviderTrouble): void;
  /** A vendor took a request (RT-67). Never throws. */
  accepted?(request: AcceptedRequest): void;
  /** A model was asked in vain: another one answered, or nobody heard the answer. Never throws. */
  wasted?(spent: WastedTokens): void;
  /** Entries of the vendor's prompt cache that all slots share; absent where the bot caches nothing. */
  promptCache?: PromptCachePort;
}

/** A connection that stands, or the head of an answer: how long it took, and the vendor's own id for it. */
export interface AcceptedRequest {
  provider: string;
  family: 'stt' | 'llm' | 'tts';
  waitMs: number;
  requestId: string | null;
}

/** What a vendor had counted of a request whose answer reached nobody. */
export interface WastedTokens {
  provider: string;
  model: string | null;
  usage: LlmUsage;
}

/** The id by which a vendor finds a request in its own logs; null where none of the usual headers has it. */
export function requestIdOf(header: (name: string) => string | null | undefined): string | null {
  for (const name of REQUEST_ID_HEADERS) {
    const id = header(name);
    if (id) return id.slice(0, MAX_REQUEST_ID_CHARS);
  }
  return null;
}

/** Deepgram; OpenAI, ElevenLabs and most others; Anthropic. */
const REQUEST_ID_HEADERS = ['dg-request-id', 'x-request-id', 'request-id'] as const;
const MAX_REQUEST_ID_CHARS = 100;

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
    | 'provider_request'
    | 'history_repaired';
  provider: string;
  family: 'stt' | 'llm' | 'tts';
  [key: string]: unknown;
}

/**
 * The vendor's explicit cache entry for the static prompt of one bot, as the slots of a host share it: main knows the
 * newest entry and lets one slot at a time create one.
 */
export interface PromptCacheEntry {
  /** The vendor's name, such as `cachedContents/abc`. */
  name: string;
  expiresAtMs: number;
  /** Version of the static prompt, the tools and the model together: an entry of another version is not used. */
  version: string;
}

export interface PromptCachePort {
  /** Version that this call needs. */
  readonly version: string;
  readonly ttlSeconds: number;
  /** The entry that is in use on this host, from the config or from another slot; null without one. Synchronous. */
  current(): PromptCacheEntry | null;
  /**
   * Asks to create an entry. `create`: nobody else does, go ahead and report. An entry: another slot was first.
   * `skip`: creation failed recently or main does not answer; go on without the cache.
   */
  claim(signal: AbortSignal): Promise<'create' | 'skip' | PromptCacheEntry>;
  created(entry: PromptCacheEntry): void;
  extended(entry: PromptCacheEntry): void;
  /** The vendor no longer knows the entry. */
  lost(name: string): void;
  /** A creation that was claimed did not come about. */
  failed(reason: string): void;
}

/** For tools that use a provider outside a call. */
export const plainContext: ProviderContext = { sampleRate: 8_000, clock: realClock, report: () => undefined };
