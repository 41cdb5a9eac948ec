import type { PromptCachePort } from './llm/prompt-cache.ts';
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

/** For tools that use a provider outside a call. */
export const plainContext: ProviderContext = { sampleRate: 8_000, clock: realClock, report: () => undefined };
