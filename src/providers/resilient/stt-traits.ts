import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { ProviderSettings } from '../contract/provider-settings.ts';
import { findProvider } from '../vendors/all-vendors.ts';

/** What the layer above must know of an engine to replay to it and to tell when it went deaf. */
export interface SttTraits {
  /** How fast it takes audio that is not live, in times of real time. */
  replayRate: number;
  /** Whether it tells words while they are spoken: then its silence during speech is a sign. */
  tellsWordsAtOnce: boolean;
  /** The text of a turn is there by then, or the session is half dead; null for engines that take their time. */
  flushMs: number | null;
}

/** At no more than 1.5 times real time, unless the bot says more (D-31). */
const REPLAY_RATE = 1.5;
const FASTEST_REPLAY = 4;
/** Above the second or so that the slowest streaming vendor takes for a final. */
const STREAMING_FLUSH_MS = 2_200;

export function sttTraits(config: ProviderConfig): SttTraits {
  const settings = new ProviderSettings('stt', config);
  const models = findProvider('stt', config.provider)?.models;
  const isStreaming = models?.isStreaming ?? false;
  const isSilent = config.interim === false || models?.isSilentUntilEnd?.(config) === true;
  return {
    replayRate: settings.number('replay_rate', {
      fallback: isStreaming ? REPLAY_RATE : FASTEST_REPLAY,
      minimum: 1,
      maximum: FASTEST_REPLAY,
    }),
    tellsWordsAtOnce: isStreaming && !isSilent,
    flushMs: isStreaming ? STREAMING_FLUSH_MS : null,
  };
}
