import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { ProviderSettings } from '../provider-settings.ts';

/** What the layer above must know of an engine to replay to it and to tell when it went deaf. */
export interface SttTraits {
  /** How fast it takes audio that is not live, in times of real time. */
  replayRate: number;
  /** Whether it tells words while they are spoken: then its silence during speech is a sign. */
  tellsWordsAtOnce: boolean;
  /** The text of a turn is there by then, or the session is half dead; null for engines that take their time. */
  flushMs: number | null;
}

/** At no more than 1.5 times real time, unless the entry of the provider says more (D-31). */
const REPLAY_RATE = 1.5;
const FASTEST_REPLAY = 4;
/** Above the second or so that the slowest streaming vendor takes for a final. */
const STREAMING_FLUSH_MS = 2_200;

const STREAMING: ReadonlySet<string> = new Set(['deepgram', 'deepgram_flux', 'sarvam', 'soniox']);
/** They collect a turn and look at it as a whole, so the pace at which it comes is nothing to them. */
const BY_TURN: ReadonlySet<string> = new Set(['openai', 'pocketsphinx', 'scripted']);

export function sttTraits(config: ProviderConfig): SttTraits {
  const settings = new ProviderSettings('stt', config);
  const isStreaming = STREAMING.has(config.provider);
  const withoutPartials =
    config.interim === false || config.endpoint === 'legacy' || config.stream_type === 'simulated';
  return {
    replayRate: settings.number('replay_rate', {
      fallback: BY_TURN.has(config.provider) ? FASTEST_REPLAY : REPLAY_RATE,
      minimum: 1,
      maximum: FASTEST_REPLAY,
    }),
    tellsWordsAtOnce: isStreaming && !withoutPartials,
    flushMs: isStreaming ? STREAMING_FLUSH_MS : null,
  };
}
